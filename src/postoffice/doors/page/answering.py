"""A link from a notification: it opens one question. No login is needed if the notify address is trusted."""

from starlette.responses import Response

from postoffice.core.question import QuestionState
from postoffice.doors.page.look import Look


async def opened(look: Look) -> Response:
    """The question, to be answered here or, after a login, on the page. Looking uses nothing up."""
    links, token = look.office.answer_links, look.part("token")
    link = await links.opened(token)
    if look.known is not None:
        return look.to(f"/page/question/{link.question}")
    question = await links.question(link)
    answerable = question.state is QuestionState.OPEN
    action = f"/page/answer/{token}"
    return await look.show("answer_link.html", question=question, answerable=answerable, link=link, once=look.once(), action=action)


async def answered(look: Look) -> Response:
    """Answer it."""
    form, token = await look.form(), look.part("token")
    words = form.get("content", "").strip() or None
    await look.office.answer_links.answer(token, choice=form.get("choice") or None, text=words, once=form.get("once") or None)
    return look.to(f"/page/answer/{token}", {"said": "answered"})

"""One question to a person: what was asked, and the answer; the first one counts."""

from starlette.responses import Response

from postoffice.core.names import folded
from postoffice.core.question import QuestionState
from postoffice.doors.page.look import Look


async def question(look: Look) -> Response:
    """The question as it stands. To look at it consumes nothing."""
    found = await look.office.question(look.caller, look.part("id"))
    mine = look.caller.owner or folded(found.person) == folded(look.caller.name)
    return await look.show("question.html", question=found, answerable=mine and found.state is QuestionState.OPEN, once=look.once())


async def answer(look: Look) -> Response:
    """Answer it. Whoever comes second is told who was first, and what they said."""
    form = await look.form()
    id, once = look.part("id"), form.get("once")
    words = form.get("content", "").strip() or None
    choice = form.get("choice") or None
    await look.office.answer(look.caller, id, choice=choice, text=words, client_id=f"{once}-{id}" if once else None, via="page")
    return look.back(f"/page/question/{id}", {"said": "answered"})

"""One question to a person, and its answer. The first answer counts."""

from starlette.responses import Response

from postoffice.core.agent import Caller
from postoffice.core.names import SYSTEM, folded
from postoffice.core.question import Question, QuestionState
from postoffice.doors.page.look import Look
from postoffice.office import PostOffice


async def question(look: Look) -> Response:
    """Show the question. Looking uses nothing up."""
    question = await look.office.question(look.caller, look.part("id"))
    mine = look.caller.owner or folded(question.person) == folded(look.caller.name)
    return await look.show(
        "question.html",
        question=question,
        answerable=mine and question.state is QuestionState.OPEN,
        talk=await talk_of(look.office, look.caller, question),
        once=look.once(),
    )


async def answer(look: Look) -> Response:
    """Answer the question. A second person is told who answered first, and what."""
    form = await look.form()
    id, once = look.part("id"), form.get("once")
    words = form.get("content", "").strip() or None
    choice = form.get("choice") or None
    await look.office.answer(look.caller, id, choice=choice, text=words, client_id=f"{once}-{id}" if once else None, via="page")
    return look.back(f"/page/question/{id}", {"said": "answered"})


async def talk_of(office: PostOffice, caller: Caller, asked: Question) -> str | None:
    """The session that the office's own question is about."""
    if asked.asker != SYSTEM:
        return None
    message = (await office.status(caller, asked.id)).message
    payload = None if message is None else message.payload
    return str(payload["session_id"]) if isinstance(payload, dict) and "session_id" in payload else None


async def go_on(look: Look) -> Response:
    """Let two held agents go on."""
    await look.office.go_on(look.caller, look.part("session"))
    return look.to("/", {"said": "freed"})

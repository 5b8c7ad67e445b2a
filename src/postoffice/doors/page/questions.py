"""One question to a person: what was asked, and the answer; the first one counts."""

from starlette.responses import Response

from postoffice.core.agent import Caller
from postoffice.core.names import SYSTEM, folded
from postoffice.core.question import Question, QuestionState
from postoffice.doors.page.look import Look
from postoffice.office import PostOffice


async def question(look: Look) -> Response:
    """The question as it stands. To look at it consumes nothing."""
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
    """Answer it. Whoever comes second is told who was first, and what they said."""
    form = await look.form()
    id, once = look.part("id"), form.get("once")
    words = form.get("content", "").strip() or None
    choice = form.get("choice") or None
    await look.office.answer(look.caller, id, choice=choice, text=words, client_id=f"{once}-{id}" if once else None, via="page")
    return look.back(f"/page/question/{id}", {"said": "answered"})


async def talk_of(office: PostOffice, caller: Caller, asked: Question) -> str | None:
    """The session that a question of the office's own is about."""
    if asked.asker != SYSTEM:
        return None
    message = (await office.status(caller, asked.id)).message
    payload = None if message is None else message.payload
    return str(payload["session_id"]) if isinstance(payload, dict) and "session_id" in payload else None


async def go_on(look: Look) -> Response:
    """Let two who are held go on."""
    await look.office.go_on(look.caller, look.part("session"))
    return look.to("/", {"said": "freed"})

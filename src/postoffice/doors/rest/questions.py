"""What waits for people: all of it, or questions, their answers, and that one is taken back."""

from typing import Annotated

import msgspec
from fastapi import Path, Query, Response
from pydantic import Field

from postoffice.core.for_you import ForYou
from postoffice.core.question import TEXT_CHARACTERS, Question, QuestionState
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import Body, Uuid, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.connections import Everyone
from postoffice.doors.rest.examples import MESSAGE_ID, SESSION_ID, WHEN
from postoffice.doors.rest.inbox import SessionId
from postoffice.doors.rest.paging import Cursor, Limit

routes = router("people")

QuestionId = Annotated[Uuid, Path(examples=[MESSAGE_ID])]
_VIA = "rest"


class AnswerBody(Body):
    """A choice as it was offered, words, or both."""

    choice: str | None = Field(None, max_length=200, examples=["ship it"])
    text: str | None = Field(None, max_length=TEXT_CHARACTERS)
    id: str | None = Field(
        None, max_length=255, description="Your own id: the same answer is given once, and a retry gets the first reply."
    )


class Questions(msgspec.Struct, frozen=True):
    """Questions, newest first."""

    questions: tuple[Question, ...]
    cursor: str | None


class Freed(msgspec.Struct, frozen=True):
    """A session, and whether it was held or the owner was asked about it."""

    session_id: str
    freed: bool


_QUESTION = {
    "id": MESSAGE_ID,
    "asker": "coder",
    "person": "owner",
    "subject": "Release",
    "content": "Ship 1.4 today?",
    "choices": ["ship it", "wait"],
    "text": True,
    "default": None,
    "deadline": None,
    "priority": 3,
    "state": "open",
    "created_at": WHEN,
    "session_id": SESSION_ID,
    "correlation_id": None,
    "by": None,
    "choice": None,
    "answer": None,
    "answer_id": None,
    "via": None,
    "closed_at": None,
}
_ANSWERED = _QUESTION | {"state": "answered", "by": "owner", "choice": "ship it", "answer_id": MESSAGE_ID, "via": _VIA, "closed_at": WHEN}


_MATTER = {
    "kind": "question",
    "id": MESSAGE_ID,
    "who": "coder",
    "what": "Release",
    "text": "Ship 1.4 today?",
    "since": WHEN,
    "rank": 1,
    "can": ["answer", "snooze"],
    "due": None,
    "whom": None,
    "session_id": SESSION_ID,
    "seen_at": None,
}


@routes.get("/for-you", **gives(ForYou, {"matters": [_MATTER], "count": 1}))
async def for_you(call: Identified, limit: Limit = None) -> Response:
    """All that waits for the caller, the most pressing first, each with what can be done about it; `count` is of all of it."""
    return answer(await call.office.for_you(call.caller, limit))


@routes.get("/questions", **gives(Questions, {"questions": [_QUESTION], "cursor": None}))
async def questions(
    call: Identified,
    asked_by_me: Annotated[bool, Query(description="Those the caller asked, not those put to it.")] = False,
    everyone: Everyone = False,
    state: Annotated[QuestionState | None, Query(description="In this state; open ones unless `any_state`.")] = None,
    any_state: bool = False,
    cursor: Cursor = None,
    limit: Limit = None,
) -> Response:
    """Questions to the caller, or by it: those that are open unless told otherwise."""
    wanted = None if any_state else state or QuestionState.OPEN
    page = await call.office.questions(call.caller, asked_by_me=asked_by_me, everyone=everyone, state=wanted, cursor=cursor, limit=limit)
    return answer(Questions(page.items, page.cursor))


@routes.get("/questions/{question_id}", **gives(Question, _QUESTION))
async def question(question_id: QuestionId, call: Identified) -> Response:
    """One question, for whoever asked or was asked."""
    return answer(await call.office.question(call.caller, question_id))


@routes.post("/questions/{question_id}/answer", **gives(Question, _ANSWERED))
async def give(question_id: QuestionId, body: AnswerBody, call: Identified) -> Response:
    """Answer as the person who was asked, or as the owner. The first answer counts; a later one is 409 and told who was first."""
    reply = await call.office.answer(call.caller, question_id, choice=body.choice, text=body.text, client_id=body.id, via=_VIA)
    return answer(reply)


@routes.post("/questions/{question_id}/withdraw", **gives(Question, _QUESTION | {"state": "withdrawn", "closed_at": WHEN}))
async def withdraw(question_id: QuestionId, call: Identified) -> Response:
    """Take a question back, as whoever asked it."""
    return answer(await call.office.withdraw_question(call.caller, question_id))


@routes.post("/sessions/{session_id}/go-on", **gives(Freed, {"session_id": SESSION_ID, "freed": True}))
async def go_on(session_id: SessionId, call: Identified) -> Response:
    """Let two models that write to each other without end go on, as the owner; an open question about them is answered so."""
    return answer(Freed(session_id, await call.office.go_on(call.caller, session_id)))

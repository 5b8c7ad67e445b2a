"""Dead letters: what could not be delivered, and what to do with it."""

import msgspec
from fastapi import Response

from postoffice.core.delivery import Settled, Standing
from postoffice.core.letter import Letter, letter
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.connections import Everyone
from postoffice.doors.rest.examples import LETTER, MESSAGE_ID, STANDING
from postoffice.doors.rest.messages import MessageId
from postoffice.doors.rest.paging import Cursor, Limit, Of

routes = router("dead letters")


class DeadLetterView(msgspec.Struct, frozen=True):
    """A message that could not be delivered, and why."""

    message: Letter
    standing: Standing


class DeadLetters(msgspec.Struct, frozen=True):
    """What could not be delivered, newest first."""

    dead_letters: tuple[DeadLetterView, ...]
    cursor: str | None


_DEAD = {
    "message": LETTER,
    "standing": STANDING | {"state": "dead", "attempts": 10, "reason": "given back too often"},
}


@routes.get("/dead-letters", **gives(DeadLetters, {"dead_letters": [_DEAD], "cursor": None}))
async def dead_letters(call: Identified, cursor: Cursor = None, limit: Limit = None, of: Of = None, everyone: Everyone = False) -> Response:
    """What could not be delivered to the caller, and why."""
    page = await call.office.dead_letters(call.caller, cursor, limit, of=of, everyone=everyone)
    return answer(DeadLetters(tuple(DeadLetterView(letter(item.message), item.standing) for item in page.items), page.cursor))


@routes.post("/dead-letters/{message_id:path}/requeue", **gives(Settled, {"message_id": MESSAGE_ID, "state": "pending"}))
async def requeue(message_id: MessageId, call: Identified, of: Of = None) -> Response:
    """Give a dead letter another life, with all its tries."""
    return answer(await call.office.requeue(call.caller, message_id, of=of))


@routes.post("/dead-letters/{message_id:path}/discard", **gives(Settled, {"message_id": MESSAGE_ID, "state": "acked"}))
async def discard(message_id: MessageId, call: Identified, of: Of = None) -> Response:
    """Be done with a dead letter."""
    return answer(await call.office.discard(call.caller, message_id, of=of))

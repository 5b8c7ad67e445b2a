"""Many letters at once: counted, then done a group at a time."""

from datetime import datetime, timedelta

import msgspec
from fastapi import Response
from msgspec import UNSET, UnsetType
from pydantic import Field

from postoffice.core.bulk import BulkAct, Which
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import Body, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.examples import WHEN
from postoffice.doors.rest.send_body import Seconds

routes = router("dead letters")


class BulkBody(Body):
    """Which are meant, all of them without any of this; and whether they are only counted."""

    agent: str | None = Field(None, max_length=255, description="Whose mailbox they are in.")
    sender: str | None = Field(None, max_length=255)
    type: str | None = Field(None, max_length=255)
    reason: str | None = Field(None, max_length=255, description="Words that stand in the reason.")
    older_than: Seconds | None = Field(None, description="Seconds since they died, or since they came to wait.")
    dry_run: bool = Field(False, description="Count them, and do nothing.")
    before: datetime | None = Field(None, description="Only those that were there then, as the count says it.")
    cursor: str | None = Field(None, description="Where the group before ended.")
    limit: int | None = Field(None, ge=1, le=1000, description="How many a group has; 200 if it is not said.")


class BulkAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """How many it was done to, and how many are left."""

    done: int
    refused: int
    left: int
    cursor: str | None
    before: datetime | UnsetType = UNSET


_EXAMPLE = {"done": 200, "refused": 0, "left": 212, "cursor": "0199d2a0-0000-7000-8000-000000000004.bob-agent", "before": WHEN}


@routes.post("/bulk/{act}", **gives(BulkAnswer, _EXAMPLE))
async def bulk(act: BulkAct, body: BulkBody, call: Identified) -> Response:
    """As the owner: requeue or discard dead letters, or expire mail that waits. Call it with the cursor it gives until that is null.

    What was done fits no longer: whoever stopped half-way begins again without a cursor.
    """
    span = None if body.older_than is None else timedelta(seconds=body.older_than)
    which = Which(agent=body.agent, sender=body.sender, type=body.type, reason=body.reason, older_than=span)
    if body.dry_run:
        counted = await call.office.bulk.count(call.caller, act, which)
        return answer(BulkAnswer(done=0, refused=0, left=counted.count, cursor=None, before=counted.before))
    made = await call.office.bulk.do(call.caller, act, which, body.before, body.cursor, body.limit)
    return answer(BulkAnswer(done=made.done, refused=made.refused, left=made.left, cursor=made.cursor))

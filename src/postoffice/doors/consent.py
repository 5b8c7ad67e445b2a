"""A waiting request for a connection, as either side sees it."""

from datetime import datetime

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.connection import Connection
from postoffice.core.names import folded


class Pending(msgspec.Struct, frozen=True, kw_only=True):
    """A request that waits for an answer. Its code is masked for a target that has to get it from a person."""

    connection_id: str
    from_agent_name: str
    to_agent_name: str
    direction: str
    message: str | None
    verification_code: str
    created_at: datetime
    expires_at: datetime


def pending_view(made: Connection, caller: Caller) -> Pending:
    """A waiting request as one of its sides sees it."""
    return Pending(
        connection_id=made.id,
        from_agent_name=made.requester,
        to_agent_name=made.target,
        direction="outgoing" if folded(made.requester) == folded(caller.name) else "incoming",
        message=made.note,
        verification_code=made.code,
        created_at=made.created_at,
        expires_at=made.expires_at,
    )

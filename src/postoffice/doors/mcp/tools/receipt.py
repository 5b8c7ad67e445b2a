"""The receipt for a message accepted: stored for good, and how it goes to each recipient."""

from datetime import datetime
from typing import Any, ClassVar

import msgspec
from msgspec import UNSET, UnsetType

from postoffice.core.agent import Caller
from postoffice.core.fence import one_line
from postoffice.core.mailing_list import ToMembers
from postoffice.core.message import Accepted
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.reading import Readable, shorten

_WAYS_TO_REACH = 5
_RECIPIENTS_WITH_REACH = 20
"""The most ways, and the most recipients, for which the receipt says how they can be reached."""


class Receipt(msgspec.Struct, frozen=True, kw_only=True):
    """An accepted message, which is stored for good."""

    id: str
    message_id: str
    session_id: str | None
    status: str
    created_at: datetime
    recipients: tuple[dict[str, Any], ...]
    duplicate: bool
    deliver_at: datetime | UnsetType = UNSET
    to_list: ToMembers | UnsetType = UNSET
    """Of a letter to a list: to how many of its members it went. `recipients` has those who did not get it, and some of the others."""
    ledger: str | UnsetType = UNSET
    """For a note: `awaiting` if it comes back over its entity's topic, else `direct`."""

    def told(self) -> list[str]:
        """What else its sender has to know."""
        lines, alike = [], dict[str, list[str]]()
        for to in self.recipients:
            if to.get("unseen"):
                lines.append(unseen(to["recipient"], to.get("near")))
            elif to.get("reach") and self.deliver_at is UNSET:
                alike.setdefault(to["reach"]["text"], []).append(to["recipient"])
            if to.get("refusal"):
                lines.append(f"Not to {to['recipient']}: {to['detail']}")
        if len(alike) <= _WAYS_TO_REACH and len(self.recipients) <= _RECIPIENTS_WITH_REACH:
            lines += [f"{', '.join(names)}: {text}." for text, names in alike.items()]
        lines += self._ways()
        if isinstance(self.deliver_at, datetime):
            lines.append(f"It is delivered at {self.deliver_at:%Y-%m-%d %H:%M} UTC.")
        if self.duplicate:
            lines.append("It was sent before under this id, and not sent again.")
        return lines

    def _ways(self) -> list[str]:
        """The way to each recipient, if the ledger was asked for."""
        by = {way: [to["recipient"] for to in self.recipients if to.get("ledger") == way] for way in ("awaiting", "direct")}
        lines = [f"To {', '.join(by['awaiting'])} by the ledger; mailbox_status shows when it is there."] if by["awaiting"] else []
        lines += [f"To {', '.join(by['direct'])} directly, not over the ledger."] if by["direct"] else []
        if self.ledger == "awaiting":
            lines.append("The note is on its way to its entity's topic on the ledger.")
        return lines


class Confirmed(Readable, frozen=True, kw_only=True):
    """The same to be read."""

    shape: ClassVar = Receipt
    receipt: Receipt

    def bare(self) -> Receipt:
        return self.receipt

    def text(self) -> str:
        sent = self.receipt
        session = f", session {sent.session_id}" if sent.session_id else ""
        return "\n".join([f"Sent: id {one_line(self.id(sent.id))}{session}.", *sent.told()])


async def confirmed(request: McpRequest, me: Caller, accepted: Accepted) -> Confirmed:
    """What a tool answers to a send."""
    sent = receipt(accepted)
    short = await shorten(request, me, [sent.message_id]) if request.in_text else {}
    return Confirmed(receipt=sent, short=short, in_text=request.in_text)


def receipt(accepted: Accepted) -> Receipt:
    """The receipt for what the office accepted."""
    return Receipt(
        id=accepted.client_id or accepted.message_id,
        message_id=accepted.message_id,
        session_id=accepted.session_id,
        status="pending",
        created_at=accepted.created_at,
        recipients=tuple(msgspec.to_builtins(posted) for posted in accepted.posted),
        duplicate=accepted.duplicate,
        deliver_at=accepted.deliver_at or UNSET,
        to_list=accepted.to_list or UNSET,
        ledger=accepted.ledger or UNSET,
    )


def unseen(name: str, near: str | None) -> str:
    """The warning about a recipient whose name may be mistyped."""
    meant = f" Did you mean {near}?" if near else ""
    return f"Nobody called {name} has been here yet; the message waits for its first call.{meant}"

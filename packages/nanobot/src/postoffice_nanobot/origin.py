"""The conversation in which the model decided to send something.

Nanobot's own `message` tool does not pass this to the channel. But it puts messages into the bus's queue during the turn, and
then nanobot knows the conversation, so we note it there. If nanobot changes this one day, mail still goes out, and its
answers come into the conversation with the agent that answers.
"""

import asyncio
from dataclasses import dataclass
from typing import Any

from nanobot.agent.tools.context import current_request_context

from postoffice_nanobot.marks import CAUSE
from postoffice_nanobot.meeting import meeting
from postoffice_nanobot.outbox import Origin
from postoffice_nanobot.place import CHANNEL, Place

_NOTED = "mailbox_noted"


@dataclass(frozen=True, slots=True)
class Noted:
    """The conversation from which a tool sent something, and whether the channel has taken it."""

    origin: Origin
    taken: asyncio.Future[None]

    def take(self) -> None:
        """Note that the channel has taken it."""
        if not self.taken.done():
            self.taken.set_result(None)


def current_origin() -> Origin | None:
    """The conversation of the present turn; None outside a turn."""
    context = current_request_context()
    if context is None:
        return None
    session = context.session_key or f"{context.channel}:{context.chat_id}"
    return Origin(Place(session, context.channel, context.chat_id), (context.metadata or {}).get(CAUSE))


def is_speech(message: Any) -> bool:
    """Whether a message is speech, and not just progress of a turn: 0.3 shows that by an event, 0.2 by metadata."""
    return getattr(message, "event", None) is None and not any(mark.startswith("_") for mark in message.metadata or ())


def noted_on(message: Any) -> Noted | None:
    """The note on a message; None if no tool sent it."""
    note: Noted | None = (message.metadata or {}).get(_NOTED)
    return note


def note_origins(bus: Any) -> None:
    """From now on, note the conversation on everything that is sent to the mailbox."""
    queue = bus.outbound
    put = queue.put
    if hasattr(put, "notes_origins"):
        return

    async def noting(message: Any) -> None:
        if message.channel == CHANNEL and is_speech(message) and (origin := current_origin()) is not None:
            noted = Noted(origin, asyncio.get_running_loop().create_future())
            message.metadata = {**(message.metadata or {}), _NOTED: noted}
            meeting(bus).channel.expect(noted)
        await put(message)

    noting.notes_origins = True  # type: ignore[attr-defined]
    queue.put = noting

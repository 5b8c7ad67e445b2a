"""In which conversation the model said that something should be sent.

Nanobot's own `message` tool does not tell the channel it sends to. But it puts what it sends into the bus's queue from within the turn, and
there nanobot knows the conversation: so that is where we note it. Should a nanobot do this differently one day, mail still goes out, and its
answers come into the agent's conversation with the one who answers.
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
    """The conversation a tool sent something from, and whether the channel has had it."""

    origin: Origin
    taken: asyncio.Future[None]

    def take(self) -> None:
        """The channel has had it."""
        if not self.taken.done():
            self.taken.set_result(None)


def current_origin() -> Origin | None:
    """The conversation whose turn this is; None outside a turn."""
    context = current_request_context()
    if context is None:
        return None
    session = context.session_key or f"{context.channel}:{context.chat_id}"
    return Origin(Place(session, context.channel, context.chat_id), (context.metadata or {}).get(CAUSE))


def is_speech(message: Any) -> bool:
    """Whether it is meant to be read, and does not only tell how a turn goes: 0.3 says so by an event, 0.2 by marks of its own."""
    return getattr(message, "event", None) is None and not any(mark.startswith("_") for mark in message.metadata or ())


def noted_on(message: Any) -> Noted | None:
    """What was noted on a message; None if it was not sent by a tool."""
    note: Noted | None = (message.metadata or {}).get(_NOTED)
    return note


def note_origins(bus: Any) -> None:
    """Have the conversation noted on everything that is sent to the mailbox from now on."""
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

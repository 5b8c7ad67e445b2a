"""A conversation of nanobot: where something was asked, and where its answer belongs."""

from dataclasses import dataclass

CHANNEL = "mailbox"


@dataclass(frozen=True, slots=True)
class Place:
    """A chat of a channel, and the session in which nanobot remembers what was said there."""

    session_id: str
    channel: str
    chat_id: str

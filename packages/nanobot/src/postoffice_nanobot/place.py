"""A conversation of nanobot, in which something was asked and to which the answer belongs."""

from dataclasses import dataclass

CHANNEL = "mailbox"


@dataclass(frozen=True, slots=True)
class Place:
    """A chat of a channel, and the session in which nanobot remembers it."""

    session_id: str
    channel: str
    chat_id: str

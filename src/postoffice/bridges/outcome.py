"""How handing a message to an agent ended."""

import msgspec

_SILENT = {"", "NO_REPLY", "REPLY_SKIP", "No response from OpenClaw."}


class Replied(msgspec.Struct, frozen=True):
    """The agent answered."""

    text: str


class Silent(msgspec.Struct, frozen=True):
    """The agent has it and chose to say nothing."""


class Later(msgspec.Struct, frozen=True):
    """The gateway has the message; the answer is not there yet."""

    run_id: str | None = None


class Failed(msgspec.Struct, frozen=True):
    """The message could not be handled; others may be."""

    why: str


class Away(msgspec.Struct, frozen=True):
    """No message can be handed over now, and this one was not. `why` says what to change."""

    why: str


class Unknown(msgspec.Struct, frozen=True):
    """The message was handed over, and no answer came."""

    why: str


Outcome = Replied | Silent | Later | Failed | Away | Unknown


def reply_or_silence(reply: object) -> Replied | Silent:
    """A reply, or silence if the agent said nothing in one of the usual ways."""
    text = reply.strip() if isinstance(reply, str) else ""
    return Silent() if text in _SILENT else Replied(text)

"""How handing a message to an agent ended."""

import msgspec

_SILENT = {"", "NO_REPLY", "REPLY_SKIP", "No response from OpenClaw."}


class Replied(msgspec.Struct, frozen=True):
    """The agent answered."""

    text: str


class Silent(msgspec.Struct, frozen=True):
    """The agent has it and chose to say nothing."""


class Later(msgspec.Struct, frozen=True):
    """The gateway has it; the answer is not there yet."""

    run_id: str | None = None


class Failed(msgspec.Struct, frozen=True):
    """The message could not be handled; another may be."""

    why: str


class Away(msgspec.Struct, frozen=True):
    """No message can be handed over now, and none was; `why` says what to change."""

    why: str


class Unknown(msgspec.Struct, frozen=True):
    """It was handed over, and then nobody answered."""

    why: str


Outcome = Replied | Silent | Later | Failed | Away | Unknown


def reply_or_silence(reply: object) -> Replied | Silent:
    """What an agent said, unless it is one of the ways to say nothing."""
    text = reply.strip() if isinstance(reply, str) else ""
    return Silent() if text in _SILENT else Replied(text)

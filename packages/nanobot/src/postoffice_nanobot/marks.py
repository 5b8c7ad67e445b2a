"""What nanobot keeps with a turn that mail has caused: seed 002's keys, and one of ours."""

from typing import Any

CAUSE = "mailbox_cause"
"""The file of the mail because of which a turn was begun."""


def marks(cause: str, mail: dict[str, Any] | None) -> dict[str, Any]:
    """The metadata of a turn. Other agents wrote these values: they are for programs, and nobody fences them."""
    if mail is None:
        return {CAUSE: cause}
    return {
        CAUSE: cause,
        "mailbox_type": mail["type"],
        "mailbox_task": mail.get("task"),
        "mailbox_parts": mail["content"].get("parts"),
        "mailbox_ttl": mail.get("ttl"),
        "mailbox_trace": mail.get("trace"),
        "reply_to": mail.get("reply_to"),
    }

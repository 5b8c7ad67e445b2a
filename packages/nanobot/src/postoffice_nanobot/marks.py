"""The metadata of a turn caused by mail: seed 002's keys, and one of ours."""

from typing import Any

CAUSE = "mailbox_cause"
"""The file of the mail that caused a turn."""


def marks(cause: str, mail: dict[str, Any] | None) -> dict[str, Any]:
    """A turn's metadata. Other agents wrote these values, and they are not fenced: they are only for programs."""
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

"""What an agent said, as the body of a message: text that a mailbox can keep, and no more of it than one message holds."""

from typing import Any

import msgspec

from postoffice.client.said import said

_LONGEST = 900_000  # bytes as JSON, by which the office measures; a message may have a mebibyte in all


def body_of(text: str) -> dict[str, Any]:
    """Half an emoji becomes a question mark, and what is too long is cut: refused, it would be said never."""
    text = text.encode(errors="replace").decode()
    while (size := len(msgspec.json.encode(text))) > _LONGEST:
        text = text[: len(text) * _LONGEST // size]
    return said(text)

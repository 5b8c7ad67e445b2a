"""Text as the body of a message."""

from typing import Any

_CONTENT = 10_000  # characters


def said(text: str) -> dict[str, Any]:
    """The body for REST: what is longer than a letter's content may be goes as a part."""
    return {"content": text} if len(text) <= _CONTENT else {"parts": [{"type": "text", "text": text}]}

"""Text as a message's body."""

from typing import Any

_CONTENT_CHARACTERS = 10_000


def text_body(text: str) -> dict[str, Any]:
    """The body for REST. Text too long for `content` goes as a part."""
    return {"content": text} if len(text) <= _CONTENT_CHARACTERS else {"parts": [{"type": "text", "text": text}]}

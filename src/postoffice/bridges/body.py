"""What an agent said, made into the body of a message: text that a mailbox accepts, cut to the size of one message."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from postoffice.client.text_body import text_body
from postoffice.core.errors import TooLarge

T = TypeVar("T")
_LONGEST_BYTES = 900_000
"""Measured as JSON, as the office does. By default a whole message may have one mebibyte."""
_SHORTEST_BYTES = 64


def body_of(text: str, longest: int = _LONGEST_BYTES) -> dict[str, Any]:
    """Replace half an emoji by a question mark, spell out U+0000, and cut what is too long: if the office refused it, the answer would be lost."""
    text = text.encode(errors="replace").decode().replace("\x00", "\\u0000")
    while (size := len(msgspec.json.encode(text))) > longest:
        text = text[: len(text) * longest // size]
    return text_body(text)


async def say(text: str, send: Callable[[dict[str, Any]], Awaitable[T]]) -> T:
    """Send what was said, and shorten it for as long as the office finds it too long: its limit may be lower than ours."""
    longest = min(_LONGEST_BYTES, len(msgspec.json.encode(body_of(text))))
    while True:
        try:
            return await send(body_of(text, longest))
        except TooLarge:
            if longest < _SHORTEST_BYTES:
                raise
            longest //= 2

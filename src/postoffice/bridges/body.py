"""What an agent said, as the body of a message: text that a mailbox can keep, and no more of it than one message holds."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from postoffice.client.text_body import text_body
from postoffice.core.errors import TooLarge

T = TypeVar("T")
_LONGEST_BYTES = 900_000
"""As JSON, by which the office measures; by default a message may have a mebibyte in all."""
_SHORTEST_BYTES = 64


def body_of(text: str, longest: int = _LONGEST_BYTES) -> dict[str, Any]:
    """Half an emoji becomes a question mark, U+0000 is spelt out, and what is too long is cut: refused, it would be said never."""
    text = text.encode(errors="replace").decode().replace("\x00", "\\u0000")
    while (size := len(msgspec.json.encode(text))) > longest:
        text = text[: len(text) * longest // size]
    return text_body(text)


async def say(text: str, send: Callable[[dict[str, Any]], Awaitable[T]]) -> T:
    """Send what was said, and less of it for as long as the office finds it too long: its own limit may be lower than ours."""
    longest = min(_LONGEST_BYTES, len(msgspec.json.encode(body_of(text))))
    while True:
        try:
            return await send(body_of(text, longest))
        except TooLarge:
            if longest < _SHORTEST_BYTES:
                raise
            longest //= 2

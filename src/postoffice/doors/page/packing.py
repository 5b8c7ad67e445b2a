"""Compresses pages and files for browsers that can unpack them."""

import gzip

from starlette.requests import Request

_WORTH_BYTES = 1_000
_USUAL_LEVEL = 5


def pack(body: bytes, *, level: int = _USUAL_LEVEL) -> bytes | None:
    """The compressed body; None if that is not worth it."""
    return gzip.compress(body, level, mtime=0) if len(body) >= _WORTH_BYTES else None


def unpacks(request: Request) -> bool:
    """Whether the browser can unpack it."""
    words = (word.partition(";") for word in request.headers.get("accept-encoding", "").lower().split(","))
    return any(name.strip() == "gzip" and rest.replace(" ", "") not in ("q=0", "q=0.0") for name, _, rest in words)

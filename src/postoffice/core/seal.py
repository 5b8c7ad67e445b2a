"""A code as it is kept: whoever reads the database cannot read it, and whoever has the key beside the data can."""

import hmac

from postoffice.core.connection import read_code

_SEALED = "sealed:"
_TAG_BYTES = 16


class Seal:
    """Turns codes into text and back. The same code always gives the same text, so that it can be looked up.

    Without a key codes stay as they are.
    """

    def __init__(self, key: bytes | None = None) -> None:
        self._key = key

    def close(self, code: str) -> str:
        """A keyed hash of the code, and the code hidden by what only the key and that hash give."""
        if self._key is None or is_closed(code):
            return code
        tag = self._hash(b"code", code.encode())[:_TAG_BYTES]
        return _SEALED + (tag + self._hide(tag, code.encode())).hex()

    def open(self, kept: str) -> str:
        """The code; what another key closed stays closed, and what was never closed is its own text."""
        if self._key is None or not is_closed(kept):
            return kept
        raw = bytes.fromhex(kept.removeprefix(_SEALED))
        tag, hidden = raw[:_TAG_BYTES], raw[_TAG_BYTES:]
        code = read_code(self._hide(tag, hidden).decode("ascii", "replace"))
        return code if code is not None and hmac.compare_digest(self.close(code), kept) else kept

    def _hide(self, tag: bytes, text: bytes) -> bytes:
        """There and back are the same step."""
        return bytes(one ^ other for one, other in zip(text, self._hash(b"pad", tag), strict=False))

    def _hash(self, use: bytes, text: bytes) -> bytes:
        assert self._key is not None
        return hmac.digest(self._key, use + b":" + text, "sha256")


def is_closed(text: str) -> bool:
    """Whether a key is needed to read it."""
    return text.startswith(_SEALED)

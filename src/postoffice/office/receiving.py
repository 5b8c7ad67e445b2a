"""Bytes as they come in: gathered into parts, and never more than one part in memory."""

import hashlib
import secrets

from postoffice.acts.attachments.uploading import PART_BYTES, Part
from postoffice.core.attachment import PREFIX
from postoffice.store.depot.depot import Depot


class Receiver:
    """One stream of an upload's bytes, from where the upload stands."""

    def __init__(self, depot: Depot, upload: str, offset: int, digest: "hashlib._Hash") -> None:
        self._depot = depot
        self._upload = upload
        self._digest = digest
        self._kept = offset
        self._buffer = bytearray()
        self._parts: list[Part] = []

    @property
    def offset(self) -> int:
        """Where it stands now, with what is in memory."""
        return self._kept + len(self._buffer)

    @property
    def digest(self) -> str:
        """Of all that has come."""
        return PREFIX + self._digest.hexdigest()

    @property
    def hash(self) -> "hashlib._Hash":
        """The same, to go on with."""
        return self._digest

    @property
    def unsaid(self) -> int:
        """How many bytes are in parts of which the store does not know yet."""
        return sum(part.size for part in self._parts)

    async def take(self, chunk: bytes) -> None:
        """The next of it."""
        for begin in range(0, len(chunk), PART_BYTES):
            some = chunk[begin : begin + PART_BYTES]
            self._digest.update(some)
            self._buffer += some
            if len(self._buffer) >= PART_BYTES:
                await self._put(PART_BYTES)

    async def parts(self) -> tuple[Part, ...]:
        """What has come since this was asked last, all of it on disk."""
        if self._buffer:
            await self._put(len(self._buffer))
        return self.whole_parts()

    def whole_parts(self) -> tuple[Part, ...]:
        """The same without what is still in memory."""
        parts, self._parts = tuple(self._parts), []
        return parts

    async def _put(self, size: int) -> None:
        # No other part ever has this name: two that go on with one upload at once do not write over each other.
        part = Part(self._kept, size, secrets.token_hex(8))
        await self._depot.put(self._upload, part.name, bytes(self._buffer[:size]))
        del self._buffer[:size]
        self._kept += size
        self._parts.append(part)

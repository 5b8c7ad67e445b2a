"""Bytes as they come in: gathered into parts, one of which is written while the next comes, so that never more than two are in memory."""

import asyncio
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
        self._writing: asyncio.Task[None] | None = None
        self._broken = False
        """Whether a part could not be written: nothing may come after it."""

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
        await self.flush()
        return await self.whole_parts()

    async def flush(self) -> None:
        """Have all of it on disk, if that can be."""
        if self._buffer and not self._broken:
            await self._put(len(self._buffer))
        await self.written()

    async def whole_parts(self) -> tuple[Part, ...]:
        """The same without what is less than a part and still in memory."""
        await self.written()
        parts, self._parts = tuple(self._parts), []
        return parts

    async def written(self) -> None:
        """Wait until nothing is being written. What failed is told once, and is not among the parts."""
        writing, self._writing = self._writing, None
        if writing is not None:
            await writing

    async def _put(self, size: int) -> None:
        await self.written()
        # No other part ever has this name: two that go on with one upload at once do not write over each other.
        part = Part(self._kept, size, secrets.token_hex(8))
        data = bytes(self._buffer[:size])
        del self._buffer[:size]
        self._kept += size
        self._writing = asyncio.create_task(self._write(part, data))

    async def _write(self, part: Part, data: bytes) -> None:
        try:
            await self._depot.put(self._upload, part.name, data)
        except BaseException:
            self._broken = True
            raise
        self._parts.append(part)

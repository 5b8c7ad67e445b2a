"""The seam between attachments and where their bytes are kept: parts are put, read and, with all of their upload, deleted."""

from typing import Protocol


class Depot(Protocol):
    """Keeps parts of uploads. Which there are, and of which letter, the store knows; a part has a name that no other ever had."""

    async def put(self, upload: str, name: str, data: bytes) -> None:
        """Keep a part; on disk when this returns."""

    async def read(self, upload: str, name: str, begin: int, size: int) -> bytes:
        """Some of a part."""

    async def delete(self, upload: str) -> None:
        """Delete all parts of an upload, whoever put them there."""

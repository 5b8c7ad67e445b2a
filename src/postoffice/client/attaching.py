"""How a program uploads attachments, sends them and saves them."""

import os
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from postoffice.client import attachments
from postoffice.client.attachments import Source
from postoffice.client.wire import Wire
from postoffice.core.attachment import Attachment

Carried = Source | Attachment | dict[str, Any]
"""What a letter may be given to carry: a file by its path, bytes, a stream, or what is uploaded or was received already."""


class AttachingCalls:
    """Bytes beside the mail."""

    _wire: Wire

    async def upload(self, source: Source, name: str = "", type: str = "") -> Attachment:
        """Upload a file by its path, bytes, or what a stream gives; it waits a day for a letter that carries it."""
        return await attachments.upload(self._wire, source, name, type)

    def pieces(self, wanted: Attachment) -> AsyncIterator[bytes]:
        """The bytes of an attachment, piece by piece. That they are the right ones is certain at the end."""
        return attachments.pieces(self._wire, wanted)

    async def save(self, wanted: Attachment, folder: str | os.PathLike[str] = ".") -> Path:
        """Save an attachment in a folder, under its name or one like it; nothing that is there is written over."""
        return await attachments.save(self._wire, wanted, folder)

    async def with_uploads(self, fields: dict[str, Any]) -> dict[str, Any]:
        """The fields of a letter, with what it carries uploaded."""
        given: Sequence[Carried] | None = fields.get("attachments")
        if not given:
            return fields
        return fields | {"attachments": [await self._uploaded(one) for one in given]}

    async def _uploaded(self, one: Carried) -> dict[str, Any]:
        if isinstance(one, dict):
            return one
        found = one if isinstance(one, Attachment) else await self.upload(one)
        said: dict[str, Any] = msgspec.to_builtins(found)
        return said

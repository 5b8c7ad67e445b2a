"""Verbs about attachments: upload, in one go or with interruptions, and fetch."""

import hashlib
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import suppress

from postoffice.acts.attachments.uploading import PART_BYTES, BeginUpload, DropUpload, FinishUpload, KeepParts
from postoffice.core.agent import Caller
from postoffice.core.attachment import Attachment, Kept, Upload, check_filename, check_media_type, digest_of, fallback_name
from postoffice.core.clock import Clock, is_id
from postoffice.core.errors import (
    AttachmentGone,
    DigestMismatch,
    MailError,
    NoSuchAttachment,
    NoSuchUpload,
    TooLarge,
    WrongLength,
    WrongOffset,
)
from postoffice.core.limits import Limits
from postoffice.core.views import Page
from postoffice.office.checks import Checks
from postoffice.office.receiving import Receiver
from postoffice.store.store import Store

_SAID_AFTER = 16 * PART_BYTES
"""Bytes after which the store is told what has come, in the midst of a stream."""
_PIECE_BYTES = 512 << 10
"""What is read at once."""
_HASHES = 100
"""Of uploads that were interrupted, kept so that their bytes need not be read again."""


class Attachments:
    """Bytes beside the mail. Only who brought them, or is the sender or recipient of a letter that carries them, may have them."""

    def __init__(self, store: Store, checks: Checks, limits: Limits, clock: Clock) -> None:
        self._store = store
        self._checks = checks
        self._limits = limits
        self._clock = clock
        self._hashes: OrderedDict[str, tuple[int, hashlib._Hash]] = OrderedDict()
        """By upload: how far it was read, and what came of it."""

    # Bringing

    async def upload(self, caller: Caller, said: Attachment, size: int | None, chunks: AsyncIterator[bytes]) -> Attachment:
        """Bring bytes in one go. What breaks off is gone."""
        upload = await self.begin(caller, said, size)
        receiver = self._receiver(upload, hashlib.sha256())
        try:
            await self._receive(caller, upload, receiver, chunks)
            return await self._finish(caller, upload, receiver)
        except BaseException:
            with suppress(MailError):
                await receiver.written()
            with suppress(MailError):
                await self.drop(caller, upload.id)
            raise

    async def begin(self, caller: Caller, said: Attachment, size: int | None) -> Upload:
        """Begin to bring bytes, as many as said, which may come with interruptions."""
        if size is not None and size > self._limits.attachment_bytes:
            raise TooLarge(what="attachment", size=f"{size} bytes", limit=self._limits.attachment_bytes)
        checked = Attachment(
            digest_of(said.digest) if said.digest else "",
            check_filename(said.name) if said.name else "",
            check_media_type(said.type),
        )
        return await self._store.do(BeginUpload(caller.name, self._clock.new_id(), checked, size))

    async def under_way(self, caller: Caller, id: str) -> Upload:
        """How far an upload is."""
        upload = await self._store.attachments.upload(id, caller.name) if is_id(id) else None
        if upload is None:
            raise NoSuchUpload(name=caller.name, id=id)
        return upload

    async def go_on(self, caller: Caller, id: str, offset: int, chunks: AsyncIterator[bytes]) -> Upload | Attachment:
        """Bring more of it, from where it stands. With its last byte it is done; what breaks off is kept as far as it came."""
        upload = await self.under_way(caller, id)
        if offset != upload.offset:
            raise WrongOffset(id=id, offset=upload.offset, given=offset)
        receiver = self._receiver(upload, await self._hash(upload))
        try:
            await self._receive(caller, upload, receiver, chunks)
            await receiver.flush()
        except Exception:
            with suppress(MailError):
                await receiver.written()
            await self._keep(caller, upload, receiver)
            raise
        if receiver.offset != upload.size:
            return await self._keep(caller, upload, receiver)
        try:
            return await self._finish(caller, upload, receiver)
        except DigestMismatch:
            await self.drop(caller, id)  # what went wrong in it nobody knows
            raise

    async def drop(self, caller: Caller, id: str) -> None:
        """Give up an upload."""
        await self.under_way(caller, id)
        await self._store.do(DropUpload(caller.name, id))
        self._hashes.pop(id, None)

    # Fetching

    async def fetch(self, caller: Caller, digest: str) -> Kept:
        """What is kept under a digest, for one who may have it. To all others it is not there."""
        named = digest_of(digest)
        kept = await self._store.attachments.fetchable(named, caller.name, owner=caller.owner)
        if kept is None:
            raise NoSuchAttachment(name=caller.name, digest=named)
        return kept

    async def read(self, kept: Kept, begin: int = 0, end: int | None = None) -> AsyncIterator[bytes]:
        """The bytes, or some of them, piece by piece."""
        last = kept.size if end is None else end
        at = begin
        for part in await self._store.attachments.parts(kept.upload, begin, last):
            until = min(part.begin + part.size, last)
            while at < until:
                size = min(_PIECE_BYTES, until - at)
                yield await self._store.depot.read(kept.upload, part.name, at - part.begin, size)
                at += size
        if at < last:
            raise AttachmentGone(digest=kept.digest)

    async def mine(self, caller: Caller, cursor: str | None = None, limit: int | None = None) -> tuple[Page[Attachment], int]:
        """What the caller has brought or sent, and how many bytes that is with its uploads."""
        after = None if cursor is None else digest_of(cursor)
        page = await self._store.attachments.held_by(caller.name, after, self._checks.page(limit))
        return page, await self._store.attachments.kept_for(caller.name)

    # Receiving

    def _receiver(self, upload: Upload, hash: "hashlib._Hash") -> Receiver:
        return Receiver(self._store.depot, upload.id, upload.offset, hash)

    async def _receive(self, caller: Caller, upload: Upload, receiver: Receiver, chunks: AsyncIterator[bytes]) -> None:
        most = self._limits.attachment_bytes
        async for chunk in chunks:
            came = receiver.offset + len(chunk)
            if upload.size is not None and came > upload.size:
                raise WrongLength(size=upload.size, came=came)
            if came > most:
                raise TooLarge(what="attachment", size=f"more than {most} bytes", limit=most)
            await receiver.take(chunk)
            if receiver.unsaid >= _SAID_AFTER:
                await self._store.do(KeepParts(caller.name, upload.id, await receiver.whole_parts()))

    async def _keep(self, caller: Caller, upload: Upload, receiver: Receiver) -> Upload:
        kept = await self._store.do(KeepParts(caller.name, upload.id, await receiver.parts()))
        if kept.offset == receiver.offset:
            self._hashes[upload.id] = (kept.offset, receiver.hash)
        if len(self._hashes) > _HASHES:
            self._hashes.popitem(last=False)
        return kept

    async def _finish(self, caller: Caller, upload: Upload, receiver: Receiver) -> Attachment:
        kept = await self._store.do(FinishUpload(caller.name, upload.id, await receiver.parts(), receiver.digest))
        named = kept.attachment()
        return named if named.name else Attachment(named.digest, fallback_name(named.digest), named.type, named.size)

    async def _hash(self, upload: Upload) -> "hashlib._Hash":
        """Of what has come: remembered, or read again, as after a restart."""
        offset, hash = self._hashes.pop(upload.id, (0, hashlib.sha256()))
        if offset == upload.offset:
            return hash
        hash = hashlib.sha256()
        come = Kept(digest=f"upload {upload.id}", upload=upload.id, size=upload.offset, name="", type="")
        async for piece in self.read(come):
            hash.update(piece)
        return hash

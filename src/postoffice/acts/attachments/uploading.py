"""Bytes are brought here, part by part. What was answered is kept, whatever breaks off."""

from typing import NamedTuple

from postoffice.acts.act import Act
from postoffice.acts.attachments.rows import (
    BlobRow,
    UploadRow,
    ask_blob,
    ask_kept,
    ask_upload,
    blob_on,
    check_quota,
    count_kept,
    drop_upload,
    hold,
    put_blob,
    put_upload,
    upload_on,
    uploads_under_way,
)
from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.core.attachment import Attachment, Kept, Upload
from postoffice.core.clock import micros, moment
from postoffice.core.errors import DigestMismatch, NoSuchUpload, TooManyParts, TooManyUploads, WrongLength, WrongOffset
from postoffice.core.names import SYSTEM, folded

_UPLOADS = 20
"""That one agent has under way."""
_SPARE_PARTS = 1000
"""More than whole ones: each time a connection is cut, a smaller one is kept."""
PART_BYTES = 2 << 20
"""How large a part is that is whole."""


class Part(NamedTuple):
    """Some of an upload's bytes, as they are kept."""

    begin: int
    size: int
    name: str


class BeginUpload(Act[Upload]):
    """An upload begins. Its bytes are counted as the agent's from now on, as far as it says how many there will be."""

    def __init__(self, agent: str, id: str, said: Attachment, size: int | None) -> None:
        self.agent = folded(agent)
        self.id = id
        self.said = said
        """Its digest is empty where none was said."""
        self.size = size

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.agent)
        ask_upload(needs, self.id)
        ask_kept(needs, self.agent)

    def run(self, desk: Desk) -> Upload:
        if (count := uploads_under_way(desk, self.agent)) >= _UPLOADS:
            raise TooManyUploads(name=desk.boxes[self.agent].name, count=count)
        check_quota(desk, self.agent, self.size or 0)
        count_kept(desk, self.agent, self.size or 0, uploads=1)
        row = UploadRow(self.id, self.agent, self.size, self.said.digest or None, self.said.name, self.said.type, 0, desk.now)
        put_upload(desk, row)
        return _shown(desk, row)


class _OfUpload:
    """What acts on one upload share: whose it is, and what has come."""

    def __init__(self, agent: str, id: str, parts: tuple[Part, ...]) -> None:
        self.agent = folded(agent)
        self.id = id
        self.parts = parts

    def _ask(self, needs: Needs) -> None:
        needs.boxes.add(self.agent)
        ask_upload(needs, self.id)
        ask_kept(needs, self.agent)
        needs.extra[f"part_count:{self.id}"] = (self.id,)

    def _find(self, desk: Desk) -> UploadRow:
        row = upload_on(desk, self.id)
        if row is None or row.agent != self.agent:
            raise NoSuchUpload(name=desk.boxes[self.agent].name, id=self.id)
        return row

    def _grown(self, desk: Desk) -> UploadRow:
        """The upload with these parts, which begin where it stood."""
        row = self._find(desk)
        if self.parts and self.parts[0].begin != row.received:
            raise WrongOffset(id=row.id, offset=row.received, given=self.parts[0].begin)
        more = sum(part.size for part in self.parts)
        if row.size is not None and row.received + more > row.size:
            raise WrongLength(size=row.size, came=row.received + more)
        ((parts,),) = desk.extra[f"part_count:{self.id}"]
        limit = _SPARE_PARTS + row.received // PART_BYTES
        if parts >= limit:
            raise TooManyParts(limit=limit)
        if row.size is None:
            check_quota(desk, self.agent, more)
            count_kept(desk, self.agent, more)
        row.received += more
        return row

    def _keep_parts(self, desk: Desk) -> None:
        for part in self.parts:
            desk.write("add_part", (self.id, *part), (self.id, part.begin))


class KeepParts(_OfUpload, Act[Upload]):
    """These bytes have come."""

    def ask(self, needs: Needs) -> None:
        self._ask(needs)

    def run(self, desk: Desk) -> Upload:
        row = self._grown(desk)
        self._keep_parts(desk)
        put_upload(desk, row)
        return _shown(desk, row)


class FinishUpload(_OfUpload, Act[Kept]):
    """All has come. Bytes that are here already are kept once, and whoever brings them again does not notice."""

    def __init__(self, agent: str, id: str, parts: tuple[Part, ...], digest: str) -> None:
        super().__init__(agent, id, parts)
        self.digest = digest

    def ask(self, needs: Needs) -> None:
        self._ask(needs)
        needs.boxes.add(SYSTEM)
        ask_blob(needs, self.digest)

    def run(self, desk: Desk) -> Kept:
        row = self._grown(desk)
        if row.size is not None and row.received != row.size:
            raise WrongLength(size=row.size, came=row.received)
        if row.digest not in (None, self.digest):
            raise DigestMismatch(found=self.digest, digest=row.digest)
        blob = blob_on(desk, self.digest)
        if blob is None:
            self._keep_parts(desk)
            blob = BlobRow(self.digest, self.id, row.received)
            put_blob(desk, blob)
            drop_upload(desk, self.id, rubbish=False)
        else:
            drop_upload(desk, self.id, rubbish=True)
        hold(desk, self.agent, Attachment(self.digest, row.name, row.type), blob)
        return Kept(digest=self.digest, upload=blob.upload, size=blob.size, name=row.name, type=row.type)


class DropUpload(_OfUpload, Act[None]):
    """An upload is given up."""

    def __init__(self, agent: str, id: str) -> None:
        super().__init__(agent, id, ())

    def ask(self, needs: Needs) -> None:
        self._ask(needs)

    def run(self, desk: Desk) -> None:
        drop_upload(desk, self._find(desk).id, rubbish=True)


def _shown(desk: Desk, row: UploadRow) -> Upload:
    return as_upload(row, micros(desk.limits.upload_life))


def as_upload(row: UploadRow, life: int) -> Upload:
    """An upload as whoever began it sees it."""
    return Upload(
        id=row.id,
        size=row.size,
        offset=row.received,
        digest=row.digest,
        name=row.name,
        type=row.type,
        expires_at=moment(row.touched_at + life),
    )

"""Rows about attachments as the desk holds them, and how acts of one group see each other's changes to them."""

from msgspec import Struct
from msgspec.structs import astuple

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.core.attachment import Attachment
from postoffice.core.errors import QuotaSpent


class UploadRow(Struct):
    """An upload under way, as stored."""

    id: str
    agent: str
    size: int | None
    digest: str | None
    name: str
    type: str
    received: int
    touched_at: int


class BlobRow(Struct):
    """Bytes kept whole, as stored."""

    digest: str
    upload: str
    size: int
    needed: bool = True
    """Whether some agent holds them, or some letter carries them."""


def ask_upload(needs: Needs, id: str) -> None:
    """Have an upload."""
    needs.extra[f"upload:{id}"] = (id,)


def upload_on(desk: Desk, id: str) -> UploadRow | None:
    """The upload, if it is under way."""
    rows = desk.extra[f"upload:{id}"]
    return UploadRow(*rows[0]) if rows else None


def put_upload(desk: Desk, row: UploadRow) -> None:
    """Keep an upload as it is now."""
    row.touched_at = desk.now
    desk.extra[f"upload:{row.id}"] = [astuple(row)]
    desk.write("put_upload", astuple(row), row.id)


def drop_upload(desk: Desk, id: str, *, rubbish: bool) -> None:
    """It is over. What came of it is rubbish, unless it is what is kept from now on."""
    desk.extra[f"upload:{id}"] = []
    desk.writes.get("put_upload", {}).pop(id, None)
    desk.write("drop_upload", (id,), id)
    if rubbish:
        desk.write("add_rubbish", (id,), id)


def ask_blob(needs: Needs, digest: str) -> None:
    """Have bytes that may be kept."""
    needs.extra[f"blob_kept:{digest}"] = (digest,)


def blob_on(desk: Desk, digest: str) -> BlobRow | None:
    """The bytes of this digest, if they are kept."""
    rows = desk.extra[f"blob_kept:{digest}"]
    return BlobRow(*rows[0]) if rows else None


def put_blob(desk: Desk, row: BlobRow) -> None:
    """Keep bytes under their digest."""
    desk.extra[f"blob_kept:{row.digest}"] = [astuple(row)]
    desk.writes.get("drop_blob", {}).pop(row.digest, None)
    desk.write("put_blob", (row.digest, row.upload, row.size, desk.now), row.digest)


def drop_blob(desk: Desk, row: BlobRow) -> None:
    """Nobody needs them any more."""
    desk.extra[f"blob_kept:{row.digest}"] = []
    desk.write("drop_blob", (row.digest,), row.digest)
    desk.write("add_rubbish", (row.upload,), row.upload)


def hold(desk: Desk, agent: str, said: Attachment, blob: BlobRow) -> None:
    """These bytes are this agent's too from now on: it brought them, or sent them."""
    blob.needed = True
    desk.extra[f"blob_kept:{blob.digest}"] = [astuple(blob)]
    key = (said.digest, agent)
    desk.writes.get("drop_holding", {}).pop(key, None)
    desk.write("put_holding", (*key, said.name, said.type, desk.now), key)


def ask_kept(needs: Needs, agent: str) -> None:
    """Have how much an agent keeps here."""
    needs.extra[f"kept_bytes:{agent}"] = (agent,)


def uploads_under_way(desk: Desk, agent: str) -> int:
    """How many uploads an agent has begun and not finished."""
    ((_, uploads),) = desk.extra[f"kept_bytes:{agent}"]
    return int(uploads)


def check_quota(desk: Desk, agent: str, more: int) -> None:
    """Refuse what would be more than the agent may keep."""
    ((kept, _),) = desk.extra[f"kept_bytes:{agent}"]
    most = desk.limits.attachment_quota
    if most and more > 0 and kept + more > most:
        raise QuotaSpent(name=desk.boxes[agent].name, size=kept + more, limit=most)


def count_kept(desk: Desk, agent: str, more: int, uploads: int = 0) -> None:
    """The agent keeps more from now on, for the acts after this one too."""
    ((kept, under_way),) = desk.extra[f"kept_bytes:{agent}"]
    desk.extra[f"kept_bytes:{agent}"] = [(kept + more, under_way + uploads)]

"""What a store can be asked about attachments."""

from postoffice.acts.attachments.rows import UploadRow
from postoffice.acts.attachments.sweeping import Holding
from postoffice.acts.attachments.uploading import Part, as_upload
from postoffice.core.attachment import Attachment, Kept, Upload
from postoffice.core.clock import micros
from postoffice.core.names import folded
from postoffice.core.views import Page
from postoffice.store.engine import Engine


class AttachmentReads:
    """Whose bytes are here, and where."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def fetchable(self, digest: str, agent: str, *, owner: bool) -> Kept | None:
        """The bytes of a digest, for one who may fetch them."""
        rows = await self._engine.fetch("fetchable", digest=digest, agent=folded(agent), owner=int(owner))
        return Kept(**dict(zip(("digest", "upload", "size", "name", "type"), rows[0], strict=True))) if rows else None

    async def held_by(self, agent: str, after: str | None, limit: int) -> Page[Attachment]:
        """What an agent has brought here or sent, as long as it counts as its."""
        rows = await self._engine.fetch("held_by", agent=folded(agent), after=after, limit=limit + 1)
        items = tuple(Attachment(*row) for row in rows[:limit])
        return Page(items, items[-1].digest if len(rows) > limit else None)

    async def kept_for(self, agent: str) -> int:
        """How many bytes count as an agent's."""
        ((kept,),) = await self._engine.fetch("kept_for", agent=folded(agent))
        return int(kept)

    async def upload(self, id: str, agent: str) -> Upload | None:
        """An upload under way, for whoever began it."""
        rows = await self._engine.fetch("upload_by_id", id=id, agent=folded(agent))
        return as_upload(UploadRow(*rows[0]), micros(self._engine.limits.upload_life)) if rows else None

    async def parts(self, upload: str, begin: int, end: int) -> list[Part]:
        """The parts that hold these bytes, in their order."""
        return [Part(*row) for row in await self._engine.fetch("parts_within", upload=upload, begin=begin, end=end)]

    async def old_uploads(self, limit: int) -> list[tuple[str, str]]:
        """Uploads of which nothing has come for long, each with its agent."""
        rows = await self._engine.fetch("old_uploads", age=micros(self._engine.limits.upload_life), limit=limit)
        return [(id, agent) for id, agent in rows]

    async def unneeded_holdings(self, limit: int) -> list[Holding]:
        """What agents brought or sent long ago, and none of their letters carries."""
        rows = await self._engine.fetch("unneeded_holdings", age=micros(self._engine.limits.upload_life), limit=limit)
        return [(digest, agent, since) for digest, agent, since in rows]

    async def unneeded_blobs(self, limit: int) -> list[str]:
        """Bytes that nobody holds and no letter carries."""
        return [digest for (digest,) in await self._engine.fetch("unneeded_blobs", limit=limit)]

    async def rubbish(self, limit: int) -> list[str]:
        """Uploads whose bytes nobody needs any more."""
        return [upload for (upload,) in await self._engine.fetch("attachment_rubbish", limit=limit)]

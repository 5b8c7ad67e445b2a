"""Parts kept in the database itself, where every replica has them."""

from postoffice.core.errors import AttachmentGone
from postoffice.store.engine import Engine


class DatabaseDepot:
    """Rows of a table. They are written outside of the groups that commit mail, which large rows would hold up."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def put(self, upload: str, name: str, data: bytes) -> None:
        await self._engine.fetch("keep_bytes", upload=upload, part=name, bytes=data)

    async def read(self, upload: str, name: str, begin: int, size: int) -> bytes:
        rows = await self._engine.fetch("read_bytes", upload=upload, part=name, begin=begin, size=size)
        if not rows:
            raise AttachmentGone(digest=f"upload {upload}")
        return bytes(rows[0][0])

    async def delete(self, upload: str) -> None:
        await self._engine.fetch("drop_bytes", upload=upload)

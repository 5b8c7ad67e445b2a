"""What a store can be asked about notes and the entities they are about."""

from postoffice.core.clock import moment
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.core.views import Entity, Page
from postoffice.store.engine import Engine
from postoffice.store.reads.pages import id_cursor, letters_page, page_of


class NoteReads:
    """Notes and entities."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def page(self, entity: str, cursor: str | None, limit: int) -> Page[Message]:
        return letters_page(await self._engine.fetch("notes", entity=entity, before=id_cursor(cursor), limit=limit + 1), limit)

    async def about(self, entity: str, reader: str | None, cursor: str | None, limit: int) -> Page[Message]:
        """Notes on an entity and messages about it that the reader sent or got; without a reader, anybody's."""
        me = None if reader is None else folded(reader)
        return letters_page(
            await self._engine.fetch("about_entity", entity=entity, reader=me, before=id_cursor(cursor), limit=limit + 1), limit
        )

    async def entities(self, cursor: str | None, limit: int) -> Page[Entity]:
        rows = await self._engine.fetch("all_entities", after=cursor or "", limit=limit + 1)
        items = [Entity(id=r[0], type=r[1], notes=r[2], created_at=moment(r[3]), last_at=moment(r[4])) for r in rows[:limit]]
        return page_of(items, rows, limit, lambda row: row[0])

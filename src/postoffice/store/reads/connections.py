"""What a store can be asked about requests and connections."""

import msgspec

from postoffice.acts.people.connections import connection_of
from postoffice.acts.rows import ConnectionRow, Row
from postoffice.core.clock import is_id
from postoffice.core.connection import MASKED_CODE, Connection, Status
from postoffice.core.names import folded
from postoffice.core.seal import is_closed
from postoffice.core.views import Page
from postoffice.store.engine import Engine
from postoffice.store.reads.pages import id_cursor, page_of

_QUERIES = {
    (False, False): "connections",
    (False, True): "requests",
    (True, False): "connections_of",
    (True, True): "requests_with",
}
"""The query for one agent's connections or everyone's, and for all or only those that wait."""


class ConnectionReads:
    """Requests and connections."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def page(self, name: str | None, status: Status | None, before: str | None, limit: int) -> Page[Connection]:
        agent = None if name is None else folded(name)
        rows = await self._engine.fetch(
            _QUERIES[agent is not None, status is Status.PENDING], agent=agent, status=status, before=id_cursor(before), limit=limit + 1
        )
        items = [self._read(row) for row in rows[:limit]]
        return page_of(items, rows, limit, lambda row: row[0])

    async def named(self, id: str) -> Connection | None:
        rows = await self._engine.fetch("connection", id=id) if is_id(id) else ()
        return self._read(rows[0]) if rows else None

    def _read(self, row: Row) -> Connection:
        connection = connection_of(ConnectionRow(*row[:-2]), row[-2], row[-1])
        code = self._engine.seal.open(connection.code)
        return msgspec.structs.replace(connection, code=MASKED_CODE if is_closed(code) else code)

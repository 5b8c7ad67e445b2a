"""Search over what was said."""

from typing import Any

import msgspec

from postoffice.core.clock import is_id
from postoffice.core.errors import BadQuery, NoSuchSession
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.core.views import Found, Page
from postoffice.store.engine import Engine
from postoffice.store.reads.pages import id_cursor
from postoffice.store.sweeps import Sweeps

_message = msgspec.json.Decoder(Message).decode
FILTERS = ("sender", "recipient", "session", "type", "since", "until")


class SearchReads:
    """Messages by their words."""

    def __init__(self, engine: Engine, sweeps: Sweeps) -> None:
        self._engine = engine
        self._sweeps = sweeps

    async def page(self, reader: str | None, query: str, filters: dict[str, Any], cursor: str | None, limit: int) -> Page[Found]:
        words = self._engine.search_query(query)
        if words is None:
            raise BadQuery(query=query)
        # What was said a moment ago is found too: the index catches up before it is asked.
        await self._sweeps.index_all()
        parameters = {name: filters.get(name) for name in FILTERS}
        if parameters["session"] is not None and not is_id(parameters["session"]):
            raise NoSuchSession(session=parameters["session"])
        rows = await self._engine.fetch(
            "search",
            query=words,
            reader=None if reader is None else folded(reader),
            before=id_cursor(cursor),
            limit=limit + 1,
            **parameters,
        )
        found = [Found(_message(body), excerpt) for body, excerpt in rows]
        return Page(tuple(found[:limit]), found[limit - 1].message.id if len(found) > limit else None)

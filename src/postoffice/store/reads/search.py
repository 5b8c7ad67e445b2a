"""Search over what was said."""

import asyncio
from collections.abc import Sequence
from typing import Any

import msgspec

from postoffice.core.clock import is_id, micros
from postoffice.core.errors import BadCursor, BadQuery, NoSuchSession
from postoffice.core.excerpt import excerpt
from postoffice.core.message import Message, said
from postoffice.core.names import folded
from postoffice.core.query import Query, Rank, Term, ranked
from postoffice.core.views import Found, Page
from postoffice.store.engine import Engine
from postoffice.store.reads.pages import FIRST_ID, LAST_ID, SKEW, first_id, id_cursor, pair_cursor
from postoffice.store.sweeps import Sweeps

_message = msgspec.json.Decoder(Message).decode
_MESSAGES_RANKED = 100
"""For each term so many of the newest messages are ranked, so that a search costs the same however much mail there is."""
_MESSAGES_READ = 10_000
"""Messages that a page of a search without words goes through at most."""
FILTERS = ("sender", "recipient", "other", "session", "type", "since", "until")


class SearchReads:
    """Messages by their words."""

    def __init__(self, engine: Engine, sweeps: Sweeps) -> None:
        self._engine = engine
        self._sweeps = sweeps

    async def page(self, reader: str | None, query: Query, filters: dict[str, Any], cursor: str | None, limit: int) -> Page[Found]:
        """Messages with the most of the words first, and among equals the newest first. Without words, everything that passes the filters."""
        parameters = {name: filters.get(name) for name in FILTERS} | {"reader": None if reader is None else folded(reader)}
        if not query.terms and all(parameters[name] is None for name in FILTERS):
            raise BadQuery
        if parameters["session"] is not None and not is_id(parameters["session"]):
            raise NoSuchSession(session=parameters["session"])
        if not query.terms:
            ids, further = await self._filtered(parameters, cursor, limit)
        else:
            # What was said a moment ago is found too: the index catches up before it is asked.
            await self._sweeps.index_all()
            many = len(query.wanted) > 1
            ids, further = await (
                self._ranked(query, parameters, cursor, limit) if many else self._all(query.terms, parameters, cursor, limit)
            )
        messages = {message.id: message for message in map(_message, await self._bodies(ids))}
        return Page(tuple(Found(messages[id], excerpt(said(messages[id]), query.terms)) for id in ids if id in messages), further)

    async def _bodies(self, ids: Sequence[str]) -> list[str]:
        return [body for (body,) in await self._engine.fetch("bodies", ids=list(ids))] if ids else []

    async def _all(self, terms: Sequence[Term], asked: dict[str, Any], cursor: str | None, limit: int) -> tuple[list[str], str | None]:
        """Those that have all of it."""
        ids = await self._newest(terms, asked, id_cursor(cursor), limit + 1)
        return ids[:limit], ids[limit - 1] if len(ids) > limit else None

    async def _newest(self, terms: Sequence[Term], asked: dict[str, Any], before: str, limit: int) -> list[str]:
        words = self._engine.search_query(terms)
        return [id for (id,) in await self._engine.fetch("search", query=words, before=before, limit=limit, **asked)]

    async def _ranked(self, query: Query, asked: dict[str, Any], cursor: str | None, limit: int) -> tuple[list[str], str | None]:
        """Find the newest messages for each term, for all terms, and for all but one: the best are among those. Then see which terms each one has."""
        wanted = query.wanted
        alone = [(term,) for term in wanted]
        bundles = list(dict.fromkeys([*alone, wanted, *(wanted[:at] + wanted[at + 1 :] for at in range(len(wanted)))]))
        newest = await asyncio.gather(*(self._newest(query.required + bundle, asked, LAST_ID, _MESSAGES_RANKED) for bundle in bundles))
        ids = sorted({id for some in newest for id in some})
        held = await asyncio.gather(*(self._among(term, some, ids) for term, some in zip(wanted, newest, strict=False)))
        ranks = ranked(held)
        if cursor is not None:
            count, id = pair_cursor(cursor)
            if not is_id(id):
                raise BadCursor(cursor=cursor)
            ranks = [rank for rank in ranks if rank < Rank(count, id)]
        last = ranks[limit - 1] if len(ranks) > limit else None
        return [rank.id for rank in ranks[:limit]], None if last is None else f"{last.count}.{last.id}"

    async def _among(self, term: Term, newest: list[str], ids: list[str]) -> frozenset[str]:
        """Those of these messages that hold a term. Only those older than the newest hits have to be looked up again."""
        older = [] if len(newest) < _MESSAGES_RANKED else [id for id in ids if id < newest[-1]]
        if not older:
            return frozenset(newest)
        asking = "search_among_begun" if term.prefix else "search_among"
        rows = await self._engine.fetch(asking, query=self._engine.search_query((term,)), ids=older)
        return frozenset(newest).union(id for (id,) in rows)

    async def _filtered(self, asked: dict[str, Any], cursor: str | None, limit: int) -> tuple[list[str], str | None]:
        """Ids begin with their time, so what is too old or too new is not looked at."""
        before = id_cursor(cursor)
        if asked["until"] is not None:
            before = min(before, first_id(asked["until"] + micros(SKEW)))
        after = FIRST_ID if asked["since"] is None else first_id(asked["since"] - micros(SKEW))
        rows = await self._engine.fetch("search_filtered", before=before, after=after, most=_MESSAGES_READ, limit=limit + 1, **asked)
        ids = sorted((id for id, _ in rows if id is not None), reverse=True)
        further = next((further for id, further in rows if id is None), None)
        return ids[:limit], ids[limit - 1] if len(ids) > limit else further

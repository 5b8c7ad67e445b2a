"""What a store can be asked about agents, their keys and logins."""

import re
from datetime import timedelta

import msgspec

from postoffice.acts.people.agents import as_key
from postoffice.acts.rows import Box, KeyRow, Row
from postoffice.core.agent import Agent, Card, Key, presence
from postoffice.core.clock import moment
from postoffice.core.names import folded
from postoffice.core.views import Page
from postoffice.store.engine import Engine
from postoffice.store.reads.pages import page_of


class AgentReads:
    """The directory, and who holds which key."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def named(self, name: str) -> Agent | None:
        rows = await self._engine.fetch("agent", agent=folded(name))
        return await self._as_agent(rows[0]) if rows else None

    async def card(self, name: str) -> Card | None:
        """What an agent says of itself, for whoever needs to know no more."""
        rows = await self._engine.fetch("card", agent=folded(name))
        return msgspec.json.decode(rows[0][0], type=Card) if rows else None

    async def page(self, after: str, limit: int) -> Page[Agent]:
        rows = await self._engine.fetch("agents", after=folded(after), limit=limit + 1)
        busy = {agent for agent, _ in await self._engine.fetch_each("under_way", [(row[0],) for row in rows[:limit]])} if rows else ()
        items = [await self._as_agent(row, idle=row[0] not in busy) for row in rows[:limit]]
        return page_of(items, rows, limit, lambda row: row[0])

    async def _as_agent(self, row: Row, *, idle: bool = False) -> Agent:
        box, seen = Box.of(row[:-2]), row[-2]
        tasks = () if idle else tuple(id for (id,) in await self._engine.fetch("tasks_under_way", agent=box.agent))
        silent_for = None if box.last_seen is None else timedelta(microseconds=row[-1] - box.last_seen)
        return Agent(
            id=box.id,
            name=box.name,
            card=box.card,
            presence=presence(silent_for, len(tasks), self._engine.limits.heartbeat_timeout),
            current_tasks=tasks,
            unread=box.pending - seen,
            leased=box.leased,
            dead=box.dead,
            has_key=bool(box.has_key),
            acted=bool(box.acted),
            created_at=moment(box.created_at),
            last_seen=None if box.last_seen is None else moment(box.last_seen),
            paused=box.pause(row[-1]),
        )

    async def near(self, name: str, limit: int) -> list[str]:
        """So many names before it, and so many from it on."""
        return [other for (other,) in await self._engine.fetch("names_near", agent=folded(name), limit=limit)]

    async def names_with(self, part: str, limit: int) -> list[str]:
        """Names in which this part stands, first those that begin with it."""
        plain = re.sub(r"([~%_])", r"~\1", folded(part))
        rows = await self._engine.fetch("names_with", part=f"%{plain}%", begin=f"{plain}%", limit=limit)
        return [str(name) for (name,) in rows]

    async def by_key(self, hash: str) -> str | None:
        for name, expires_at, revoked_at, now in await self._engine.fetch("find_key", hash=hash):
            if revoked_at is None and (expires_at is None or expires_at > now):
                return str(name)
        return None

    async def keys(self, name: str) -> tuple[Key, ...]:
        return tuple(as_key(KeyRow(*row[:-1]), row[-1]) for row in await self._engine.fetch("keys", agent=folded(name)))

    async def by_login(self, hash: str, kind: str) -> str | None:
        rows = await self._engine.fetch("find_login", hash=hash)
        return next((str(name) for name, kept_kind in rows if kept_kind == kind), None)


async def name_of(engine: Engine, agent: str) -> str:
    """An agent's name as it was first written, by its folded one."""
    rows = await engine.fetch("agent", agent=agent)
    return str(rows[0][1]) if rows else agent

"""What one letter costs to keep: rows, disk and log, on PostgreSQL and on SQLite. `python -m bench.footprint [LETTERS]`."""

import asyncio
import sys
from pathlib import Path
from typing import NamedTuple

import asyncpg

from bench.clients import run
from bench.ours import install
from bench.scratch import scratch
from bench.server import Server, running_server
from postoffice.acts.upkeep.indexing import IndexSearch
from postoffice.core.agent import Caller
from postoffice.core.delivery import Ack
from postoffice.core.draft import Draft
from postoffice.office import OfficeRules, PostOffice
from postoffice.store.postgres.engine import PostgreSQL
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake

_BATCH = 50
_AGENTS = 100
_TEXT = "The quick brown fox jumps over the lazy dog, and the letter says so in a thousand characters. " * 11
_COUNTS = "SELECT sum(n_tup_ins), sum(n_tup_upd), sum(n_tup_del) FROM pg_stat_user_tables WHERE schemaname = 'postoffice'"
_FLUSHED = 1.5  # seconds until PostgreSQL's own counters are sure to be written down


class Books(NamedTuple):
    """What PostgreSQL has written so far."""

    inserted: int
    updated: int
    deleted: int
    log: int
    disk: int


def main(letters: int) -> None:
    """Send, take and ack so many letters of a thousand characters, index them for search, and see what that left."""
    with running_server() as server:
        cost = run(_on_postgres(server, letters))
    print(
        f"PostgreSQL: {cost.inserted / letters:.2f} rows inserted, {cost.updated / letters:.2f} updated; "
        f"{cost.log / letters:,.0f} bytes of log, {cost.disk / letters:,.0f} bytes kept a letter"
    )
    with scratch() as folder:
        print(f"SQLite: {run(_on_sqlite(Path(folder) / 'mailbox.db', letters)) / letters:,.0f} bytes kept a letter")


async def _on_postgres(server: Server, letters: int) -> Books:
    url = await server.database("footprint", install)
    connection = await asyncpg.connect(url)
    async with PostOffice(Store(PostgreSQL(url)), LocalWake(), OfficeRules(tick=3600)) as office:
        await _live(office, _AGENTS)
        before = await _read(connection)
        await _live(office, letters)
        after = await _read(connection)
    await connection.close()
    return Books(*(late - early for late, early in zip(after, before, strict=True)))


async def _on_sqlite(path: Path, letters: int) -> int:
    async with PostOffice(Store(SQLite(path)), LocalWake(), OfficeRules(tick=3600)) as office:
        await _live(office, letters)
    return path.stat().st_size  # noqa: ASYNC240 - nobody else is at work any more


async def _live(office: PostOffice, letters: int) -> None:
    """Everybody writes to the next in a ring, a batch at a time."""
    names = [f"agent-{number}" for number in range(_AGENTS)]
    callers = {name: await office.identify(name=name) for name in names}
    for first in range(0, letters, _BATCH):
        pairs = [(names[n % _AGENTS], names[(n + 1) % _AGENTS]) for n in range(first, min(first + _BATCH, letters))]
        await asyncio.gather(*(office.send(callers[one], Draft(to=other, subject="news", content=_TEXT[:1000])) for one, other in pairs))
        await asyncio.gather(*(_take(office, callers[name]) for name in {other for _, other in pairs}))
    while await office.store.do(IndexSearch()):
        pass


async def _take(office: PostOffice, caller: Caller) -> None:
    taken = (await office.receive(caller, _BATCH)).leased
    await office.settle(caller, [Ack(leased.message.id, leased.token) for leased in taken])


async def _read(connection: asyncpg.Connection) -> Books:
    await asyncio.sleep(_FLUSHED)
    counts = await connection.fetchrow(_COUNTS)
    log = await connection.fetchval("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn")
    disk = await connection.fetchval("SELECT pg_database_size(current_database())")
    inserted, updated, deleted = map(int, counts)
    return Books(inserted, updated, deleted, int(log), int(disk))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)

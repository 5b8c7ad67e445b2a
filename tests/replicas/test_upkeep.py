"""Sweeps and retention are one replica's business at a time, by a lease; when that one is killed, another's."""

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import asyncpg
import pytest

from tests.doors.callers import done
from tests.engines import PostgresEngine
from tests.replicas.replica import Replica, send, until

_TICK = 0.02


@pytest.fixture
def replicas(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Replica]]:
    """Three, none of them started yet."""
    folder = tmp_path_factory.mktemp("upkeep")
    settings = {"POSTOFFICE_RETENTION": "3600", "POSTOFFICE_MAX_ATTEMPTS": "1"}
    made = [Replica(folder / str(number), "--database", database, tick=_TICK, settings=settings) for number in range(3)]
    yield made
    for replica in made:
        replica.kill()


class Books:
    """What the database itself says."""

    def __init__(self, url: str) -> None:
        self._url = url

    async def ask(self, query: str) -> Any:
        connection = await asyncpg.connect(self._url)
        try:
            return await connection.fetchval(query)
        finally:
            await connection.close()

    async def holder(self) -> str | None:
        return await self.ask("SELECT holder FROM postoffice.duties WHERE duty = 'upkeep'")  # type: ignore[no-any-return]

    async def messages(self) -> int:
        return int(await self.ask("SELECT count(*) FROM postoffice.messages"))


async def held(*replicas: Replica) -> list[float]:
    return [await replica.metric("postoffice_upkeep_held") for replica in replicas]


async def has_ticked(replica: Replica, times: int = 10) -> None:
    """Each tick asks for the lease, which is a commit."""
    before = await replica.metric("postoffice_commit_seconds_count")

    async def enough() -> bool:
        return await replica.metric("postoffice_commit_seconds_count") >= before + times

    await until(enough)


async def notices(replica: Replica, agent: str) -> int:
    async with replica.client(agent) as client:
        return sum(found["type"] == "notice" for found in done(await client.get("/messages/waiting"))["messages"])


async def letter_dies(engine: PostgresEngine, replica: Replica, sender: str) -> None:
    """A letter taken once too often, by somebody who never comes back."""
    async with replica.client(sender) as alice, replica.client("gone") as gone:
        await send(alice, "gone")
        assert len(done(await gone.post("/messages/receive", json={"visible_for": 600}))["messages"]) == 1
    await engine.advance(timedelta(minutes=11))

    async def told() -> bool:
        return await notices(replica, sender) > 0

    await until(told)


async def test_one_sweeps_and_when_it_is_killed_another_does(replicas: list[Replica], database: str) -> None:
    books, engine = Books(database), PostgresEngine(database)
    first, *others = replicas
    first.begin()
    first.answers()
    await first.shows("postoffice_upkeep_held", 1)
    holder = await books.holder()
    for other in others:
        other.begin()
    for other in others:
        other.answers()
        await has_ticked(other)
    assert await held(*replicas) == [1, 0, 0]
    assert await books.holder() == holder

    # Its lease outlives whoever is killed, and then somebody else has it.
    first.kill()
    await has_ticked(others[0])
    assert await held(*others) == [0, 0]
    assert await books.holder() == holder
    await engine.advance(timedelta(seconds=20))

    async def somebody_else() -> bool:
        return sum(await held(*others)) == 1

    await until(somebody_else)
    assert await books.holder() not in (None, holder)

    # What is due is done, and once: the sender hears of one death.
    await letter_dies(engine, others[0], "alice")
    for other in others:
        await has_ticked(other)
    assert await notices(others[1], "alice") == 1
    assert sum(await held(*others)) == 1

    # Retention too: dead mail goes, waiting mail, which is the notice, stays.
    assert await books.messages() == 2
    await engine.advance(timedelta(hours=2))

    async def purged() -> bool:
        return await books.messages() == 1

    await until(purged)
    assert await notices(others[0], "alice") == 1

"""PostgreSQL is killed under load, again and again: what was accepted is there, once, and the servers go on by themselves."""

import asyncio
from pathlib import Path

import pytest

from tests.chaos.conftest import Tell
from tests.chaos.form import chance, either
from tests.chaos.ground import PostgresGround
from tests.chaos.siege import besieged
from tests.proof.books import check_books
from tests.proof.cluster import running_cluster

KILLS = either(2, 20)


@pytest.mark.timeout(120 * KILLS)
async def test_a_database_killed_under_load_loses_and_doubles_nothing(tmp_path: Path, tell: Tell) -> None:
    luck = chance("database kill")
    # Commits take their time here, so that a kill finds some of them under way.
    with running_cluster(commit_delay=5_000, commit_siblings=0) as cluster:
        await cluster.migrate()
        ground = PostgresGround(tmp_path, cluster.url)
        async with besieged(tmp_path, *ground.replicas()) as siege:
            for _ in range(KILLS):
                await siege.more(luck.randint(20, either(60, 200)))
                await asyncio.sleep(luck.uniform(0, 0.1))
                await asyncio.to_thread(cluster.kill)
                await asyncio.sleep(luck.uniform(0, either(0.3, 1.5)))
                await asyncio.to_thread(cluster.start)
            await siege.more(30)
            verdict = await siege.verdict()
        tell(f"kill -9 of PostgreSQL ({KILLS})", verdict, ground.engine)
        check_books(await ground.books())

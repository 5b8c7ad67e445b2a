"""The leader of a PostgreSQL cluster is lost, in every way it can be, and another takes its place: what was accepted is there, once."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from postoffice.store.migrations.upgrade import run_alembic
from tests.chaos.checker import Excuses
from tests.chaos.conftest import Tell
from tests.chaos.form import chance
from tests.chaos.ground import PostgresGround
from tests.chaos.patroni import Node, running_patroni
from tests.chaos.siege import besieged
from tests.proof.books import check_books

# What befalls the leader, and what brings it back as one of the others.
LOSSES: tuple[tuple[Callable[[Node], None], Callable[[Node], None]], ...] = (
    (Node.kill, Node.start),
    (Node.kill_postgres, lambda _: None),
    (Node.freeze, Node.thaw),
)
ROUNDS = 2


@pytest.mark.chaos
@pytest.mark.timeout(1800)
async def test_a_failover_under_load_loses_and_doubles_nothing(tmp_path: Path, tell: Tell) -> None:
    luck = chance("failover")
    losses = [*LOSSES] * ROUNDS
    luck.shuffle(losses)
    with running_patroni() as patroni:
        leader = await asyncio.to_thread(patroni.await_leader)
        await asyncio.to_thread(run_alembic, leader.url, schema="postoffice", inbox_schema="postoffice")
        ground = PostgresGround(tmp_path, patroni.url)
        async with besieged(tmp_path, *ground.replicas()) as siege:
            for lose, bring_back in losses:
                await siege.more(luck.randint(100, 300))
                # One that is just being brought back by copying from the leader could not take its place, nor confirm what another commits.
                lost = await asyncio.to_thread(patroni.await_leader, keeping_up=2)
                lose(lost)
                await asyncio.to_thread(patroni.await_leader, lost)
                bring_back(lost)
            await siege.more(100)
            verdict = await siege.verdict(excuses=Excuses(lateness=60.0))
        tell(f"failover of three PostgreSQL servers ({len(losses)})", verdict, "Patroni")
        check_books(await ground.books())

"""Recurring letters, while servers are killed: each time one, whoever sends it."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import asyncpg
import httpx
import pytest

from tests.chaos.conftest import EACH
from tests.chaos.form import chance, either
from tests.chaos.ground import Ground, PostgresGround
from tests.chaos.office import Replica, opened
from tests.serve.running import PATIENCE

ROUNDS = either(3, 30)
_DUE_AGAIN = "UPDATE recurring SET next_at = "


async def make_due(ground: Ground, tmp_path: Path) -> None:
    """Its minute has come once more."""
    if isinstance(ground, PostgresGround):
        connection = await asyncpg.connect(ground.url)
        await connection.execute(f"{_DUE_AGAIN.replace('recurring', 'postoffice.recurring')}postoffice.office_now()")
        await connection.close()
        return
    with closing(sqlite3.connect(tmp_path / "data" / "mailbox.db", timeout=PATIENCE)) as connection:
        connection.execute(f"{_DUE_AGAIN}CAST((julianday('now') - 2440587.5) * 86400000000 AS INTEGER)")
        connection.commit()


async def call(replicas: list[Replica], http: httpx.AsyncClient, method: str, path: str, agent: str, **body: object) -> httpx.Response:
    while True:
        for replica in replicas:
            try:
                answer = await http.request(method, replica.url + path, headers={"X-Agent": agent}, json=body or None)
            except httpx.TransportError:
                continue
            if answer.status_code < httpx.codes.INTERNAL_SERVER_ERROR:
                return answer
        await asyncio.sleep(0.05)


@EACH
@pytest.mark.timeout(60 * ROUNDS)
async def test_each_time_one_letter_is_sent_however_often_servers_are_killed(ground: Ground, tmp_path: Path) -> None:
    luck = chance("recurring", ground.engine)
    async with opened(*ground.replicas()) as opened_replicas, httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as http:
        replicas = list(opened_replicas)
        begun = await call(replicas, http, "POST", "/recurring", "alice", every="0 0 1 1 *", to="bob", content="Again")
        begun.raise_for_status()
        for number in range(ROUNDS):
            await make_due(ground, tmp_path)
            await asyncio.sleep(luck.uniform(0, 0.6))
            victim = replicas[number % len(replicas)]
            victim.kill()
            await asyncio.to_thread(victim.start)
            async with asyncio.timeout(PATIENCE):
                while True:
                    (one,) = (await call(replicas, http, "GET", "/recurring", "alice")).json()["recurring"]
                    if one["sent"] > number:
                        break
                    await asyncio.sleep(0.05)
            assert one["sent"] == number + 1
        sent = (await call(replicas, http, "GET", "/messages/waiting?limit=200", "bob")).json()["messages"]
        assert len(sent) == ROUNDS

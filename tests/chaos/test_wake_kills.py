"""The NATS that carries hints between replicas is killed under load: it costs time, and nothing else."""

import asyncio
from pathlib import Path

import pytest

from tests.chaos.conftest import POSTGRES, Tell
from tests.chaos.form import chance
from tests.chaos.ground import PostgresGround
from tests.chaos.siege import besieged
from tests.serve.running import free_port
from tests.wake.test_nats import Nats

KILLS = 10


@pytest.mark.chaos
@POSTGRES
@pytest.mark.timeout(600)
async def test_hints_killed_under_load_lose_and_double_nothing(ground: PostgresGround, tmp_path: Path, tell: Tell) -> None:
    luck = chance("wake")
    nats = Nats(free_port())
    await asyncio.to_thread(nats.start)
    try:
        async with besieged(tmp_path, *ground.replicas(POSTOFFICE_WAKE=nats.url)) as siege:
            for _ in range(KILLS):
                await siege.more(luck.randint(30, 150))
                await asyncio.to_thread(nats.kill)
                await siege.more(luck.randint(30, 150))
                await asyncio.to_thread(nats.start)
            verdict = await siege.verdict()
    finally:
        nats.kill()
    tell(f"kill -9 of NATS ({KILLS})", verdict)

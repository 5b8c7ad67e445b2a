"""The server is killed and stopped under load, again and again: what was accepted is there, once."""

import asyncio
from pathlib import Path

import pytest

from tests.chaos.conftest import EACH, SQLITE_FIRST, Tell
from tests.chaos.form import chance, either
from tests.chaos.ground import Ground
from tests.chaos.siege import besieged
from tests.proof.books import check_books

KILLS, STOPS = either(3, 50), either(1, 10)
CLIENTS = either(1, 2)


@EACH
@pytest.mark.timeout(60 * KILLS)
async def test_servers_killed_under_load_lose_and_double_nothing(ground: Ground, tmp_path: Path, tell: Tell) -> None:
    luck = chance("kill", ground.engine)
    async with besieged(tmp_path, *ground.replicas(), processes=CLIENTS) as siege:
        for number in range(KILLS):
            await siege.more(luck.randint(20, either(60, 200)))
            await asyncio.sleep(luck.uniform(0, 0.1))
            victim = siege.replicas[number % len(siege.replicas)]
            victim.kill()
            await asyncio.to_thread(victim.start)
        await siege.more(30)
        verdict = await siege.verdict()
        for replica in siege.replicas:
            assert await asyncio.to_thread(replica.end) == 0
    tell(f"kill -9 of the server ({KILLS})", verdict)
    check_books(await ground.books())


@SQLITE_FIRST
@pytest.mark.timeout(120 * STOPS)
async def test_servers_told_to_stop_under_load_end_in_order_and_lose_and_double_nothing(ground: Ground, tmp_path: Path, tell: Tell) -> None:
    luck = chance("stop", ground.engine)
    async with besieged(tmp_path, *ground.replicas(), processes=CLIENTS) as siege:
        for number in range(STOPS):
            await siege.more(luck.randint(20, either(60, 200)))
            victim = siege.replicas[number % len(siege.replicas)]
            assert await asyncio.to_thread(victim.end) == 0
            await asyncio.to_thread(victim.start)
        await siege.more(30)
        verdict = await siege.verdict()
    tell(f"SIGTERM of the server ({STOPS})", verdict)

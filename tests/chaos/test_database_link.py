"""The network between a server and its PostgreSQL fails in every way it can: what was accepted is there, once."""

import asyncio
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from tests.chaos.checker import Excuses
from tests.chaos.conftest import POSTGRES, Tell
from tests.chaos.form import chance, either
from tests.chaos.ground import PostgresGround
from tests.chaos.proxy import PASS, proxied
from tests.chaos.siege import besieged
from tests.chaos.weather import storm
from tests.engines import socket_of
from tests.proof.books import check_books

STORMS = either(1, 10)


@POSTGRES
@pytest.mark.timeout(120 * STORMS)
async def test_a_replica_cut_off_from_its_database_loses_and_doubles_nothing(ground: PostgresGround, tmp_path: Path, tell: Tell) -> None:
    luck = chance("database link")
    troubled: list[tuple[int, int]] = []
    async with proxied(socket_of(ground.url)) as proxy:
        far, near = ground.replicas()
        far.settings["POSTOFFICE_DATABASE"] = f"postgresql://postgres@127.0.0.1:{proxy.port}{urlsplit(ground.url).path}"
        async with besieged(tmp_path, far, near, patience=2.0) as siege:
            for _ in range(STORMS):
                for rule in storm(luck, 20_000):
                    begun, proxy.rule = time.monotonic_ns(), rule
                    await asyncio.sleep(luck.uniform(0.1, either(0.5, 1.5)))
                    proxy.rule = PASS
                    # A take begun on a link that is half open keeps its messages from everybody else until the link is gone.
                    troubled.append((begun, time.monotonic_ns()))
                    await siege.more(luck.randint(10, 50))
            verdict = await siege.verdict(readers=[near], excuses=Excuses(5.0, troubled))
        assert proxy.cuts
    tell("network to the database: cut, black hole, half open, delay", verdict)
    check_books(await ground.books())

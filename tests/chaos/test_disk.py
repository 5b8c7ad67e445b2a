"""The disk under the mail runs full under load, and is freed: what was accepted is there, once, and nobody has to be told."""

import asyncio
import random
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest

from tests.chaos.conftest import Tell
from tests.chaos.form import chance, either
from tests.chaos.ground import PostgresGround, SQLiteGround
from tests.chaos.history import Op, read_history
from tests.chaos.siege import Siege, besieged
from tests.proof.books import check_books
from tests.proof.cluster import Cluster
from tests.proof.disk import Disk, small_disk

FILLS = either(2, 20)


async def fill_and_free(disk: Disk, siege: Siege, luck: random.Random) -> None:
    await siege.more(luck.randint(20, 100))
    with suppress(OSError):  # somebody else took the last of it
        disk.fill()
    await siege.more_refused(10)
    await asyncio.sleep(luck.uniform(0, 0.3))
    disk.free()


@pytest.mark.timeout(120 * FILLS)
async def test_a_full_disk_under_load_loses_and_doubles_nothing(tmp_path: Path, tell: Tell) -> None:
    luck = chance("disk")
    with small_disk(tmp_path / "data", "64m") as disk:
        ground = SQLiteGround(tmp_path)
        async with besieged(tmp_path, *ground.replicas()) as siege:
            for _ in range(FILLS):
                await fill_and_free(disk, siege, luck)
            await siege.more(30)
            verdict = await siege.verdict()
            assert await asyncio.to_thread(siege.replicas[0].end) == 0
        check_books(await ground.books())
    refused = [call for call in read_history(siege.files) if call.op is Op.SEND and call.refused]
    assert {call.code for call in refused} == {"disk_full"}
    tell(f"disk full ({FILLS})", verdict, ground.engine)


@pytest.mark.chaos
@pytest.mark.timeout(120 * FILLS)
async def test_a_full_disk_under_postgresql_loses_and_doubles_nothing(tmp_path: Path, tell: Tell) -> None:
    luck = chance("disk of PostgreSQL")
    with tempfile.TemporaryDirectory(prefix="postoffice-") as folder, small_disk(Path(folder) / "disk", "160m") as disk:
        data = disk.folder / "data"
        data.mkdir()
        # All of its log is there from the beginning, so that it is tables that find no room: without a log PostgreSQL stops as if killed.
        cluster = Cluster(data, {"min_wal_size": "64MB", "max_wal_size": "64MB"})
        cluster.start()
        try:
            await cluster.migrate()
            ground = PostgresGround(tmp_path, cluster.url)
            async with besieged(tmp_path, *ground.replicas()) as siege:
                for _ in range(FILLS):
                    await fill_and_free(disk, siege, luck)
                await siege.more(30)
                verdict = await siege.verdict()
            check_books(await ground.books())
        finally:
            cluster.stop()
    tell(f"disk full ({FILLS})", verdict, ground.engine)

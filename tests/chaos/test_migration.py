"""A migration is killed half-way, with mail in the office and the older program at work: nothing of it stays, and all mail does."""

import asyncio
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.chaos.conftest import POSTGRES_FIRST, Tell
from tests.chaos.form import chance, either
from tests.chaos.ground import Ground
from tests.chaos.newer import HALF_WAY, NEWEST, newer_program
from tests.chaos.office import Replica
from tests.chaos.siege import besieged
from tests.proof.books import check_books
from tests.proof.patience import BOUND, until
from tests.serve.running import COMMAND, environment, run

KILLS = either(1, 10)


@asynccontextmanager
async def set_aside(replicas: Sequence[Replica]) -> AsyncIterator[None]:
    """A file is migrated while nobody serves it; a database while everybody does."""
    if len(replicas) > 1:
        yield
        return
    assert await asyncio.to_thread(replicas[0].end) == 0
    yield
    await asyncio.to_thread(replicas[0].start)


async def migrate_half_way(ground: Ground, newer: Path, folder: Path) -> None:
    marker = folder / "half-way"
    marker.unlink(missing_ok=True)
    kept = environment({"PYTHONPATH": str(newer), HALF_WAY: str(marker)})
    process = subprocess.Popen([*COMMAND, "migrate", *ground.place], cwd=folder, env=kept)
    try:
        await until(marker.exists)
        await asyncio.sleep(0.2)
        assert process.poll() is None
    finally:
        process.kill()
        process.wait(BOUND)


@POSTGRES_FIRST
@pytest.mark.timeout(120 * KILLS)
async def test_a_migration_killed_half_way_leaves_the_schema_and_all_mail_as_they_were(ground: Ground, tmp_path: Path, tell: Tell) -> None:
    luck = chance("migration", ground.engine)
    newer = newer_program(tmp_path)
    async with besieged(tmp_path, *ground.replicas()) as siege:
        for _ in range(KILLS):
            await siege.more(luck.randint(20, either(60, 200)))
            async with set_aside(siege.replicas):
                await migrate_half_way(ground, newer, tmp_path)
                assert await ground.columns("marks") == []
                assert "mark" not in await ground.columns("messages")
        await siege.more(20)
        async with set_aside(siege.replicas):
            done = await asyncio.to_thread(run, "migrate", *ground.place, here=tmp_path, extra={"PYTHONPATH": str(newer)})
            assert (done.returncode, done.stdout) == (0, f"the database has schema {NEWEST}\n"), done.stderr
            assert await ground.columns("marks") == ["mark"]
        # The older program goes on with the newer schema, and then the newer one.
        await siege.more(20)
        for replica in siege.replicas:
            assert await asyncio.to_thread(replica.end) == 0
            replica.settings["PYTHONPATH"] = str(newer)
            await asyncio.to_thread(replica.start)
        await siege.more(20)
        verdict = await siege.verdict()
        for replica in siege.replicas:
            assert await asyncio.to_thread(replica.end) == 0
    tell(f"migration killed half-way ({KILLS})", verdict)
    check_books(await ground.books())

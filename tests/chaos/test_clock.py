"""The wall clock of a server jumps by hours: leases last as long as was asked for, and order stays what it was."""

import asyncio
import time
from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx
import pytest

from tests.chaos.conftest import EACH, Tell
from tests.chaos.debian import install
from tests.chaos.form import chance
from tests.chaos.ground import Ground
from tests.chaos.office import Replica
from tests.chaos.siege import besieged
from tests.proof.books import check_books
from tests.proof.patience import until
from tests.serve.running import PATIENCE

JUMPS = 12
HOURS = ("+3h", "-5h", "+26h", "-49h", "+0")


def days_ahead(replica: Replica) -> int:
    """By how many days a server is ahead of us, as it tells everybody it answers."""
    date = httpx.get(f"{replica.url}/health", timeout=PATIENCE).headers["date"]
    return int((parsedate_to_datetime(date).timestamp() - time.time()) / 86_400)


@pytest.mark.chaos
@EACH
@pytest.mark.timeout(600)
async def test_a_server_whose_clock_jumps_by_hours_loses_and_doubles_nothing(ground: Ground, tmp_path: Path, tell: Tell) -> None:
    luck = chance("clock", ground.engine)
    now = tmp_path / "now"
    now.write_text("+0")
    faked = {
        "LD_PRELOAD": str(install("/usr/lib/*/faketime/libfaketimeMT.so.1", "libfaketime")),
        "FAKETIME_TIMESTAMP_FILE": str(now),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",
    }
    replicas = ground.replicas()
    replicas[0].settings |= faked
    async with besieged(tmp_path, *replicas) as siege:
        for number in range(JUMPS):
            await siege.more(luck.randint(30, 100))
            now.write_text(luck.choice(HOURS))
            # One of several may also be started anew, with a clock that was wrong from its beginning.
            if len(replicas) > 1 and number % 3 == 0:
                await asyncio.to_thread(replicas[0].end)
                await asyncio.to_thread(replicas[0].start)
        now.write_text("+30h")
        await until(lambda: days_ahead(replicas[0]))
        await siege.more(50)
        verdict = await siege.verdict()
        for replica in replicas:
            assert await asyncio.to_thread(replica.end) == 0
    tell(f"clock jumps of hours ({JUMPS})", verdict)
    check_books(await ground.books())

"""A server stands still for longer than a lease and goes on as if nothing had been: whoever acks too late has lost."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.chaos.caller import Caller
from tests.chaos.checker import Excuses
from tests.chaos.conftest import EACH, Tell
from tests.chaos.form import chance, either
from tests.chaos.ground import Ground
from tests.chaos.history import Op, Scribe
from tests.chaos.lease import LOST
from tests.chaos.office import Replica
from tests.chaos.siege import besieged

FREEZES = either(1, 10)
LEASE, FROZEN = 1.0, 1.6
HOLDERS = "cy"


async def hold_too_long(scribe: Scribe, replicas: Sequence[Replica], round: int) -> None:
    """A holder's ack waits in the socket of a frozen server while its lease runs out. On a second server somebody else gets the mail."""
    frozen, other = replicas[0].url, replicas[-1].url
    async with (
        Caller(scribe, f"first-{round}", HOLDERS, [frozen], 60) as first,
        Caller(scribe, f"second-{round}", HOLDERS, [other], 60) as second,
    ):
        sent = await second.send(HOLDERS, f"held-{round}", "Who has it?")
        (mine,) = (await first.take(1, LEASE)).items
        replicas[0].freeze()
        late = asyncio.create_task(first.settle(Op.ACK, mine))
        await asyncio.sleep(FROZEN)
        taking = asyncio.create_task(second.take(1, 30.0, 30.0))
        if frozen != other:
            # The frozen one may have been stopped with the mailbox locked: then nobody gets anything for ten seconds.
            await asyncio.wait({taking}, timeout=2)
        replicas[0].thaw()
        took = (await taking).items
        if not took:  # at one server the ack may come first: late, it counts while nobody else has the message
            assert frozen == other
            assert (await late).answered
            return
        (theirs,) = took
        assert (theirs.message, theirs.attempt) == (sent.message, 2)
        assert (await late).code == LOST
        assert (await second.settle(Op.ACK, theirs)).answered


@EACH
@pytest.mark.timeout(120 * FREEZES)
async def test_an_ack_that_waited_in_a_frozen_server_for_longer_than_its_lease_loses(ground: Ground, tmp_path: Path, tell: Tell) -> None:
    luck = chance("freeze", ground.engine)
    own = tmp_path / "own.history"
    async with besieged(tmp_path, *ground.replicas(), patience=LEASE) as siege:
        async with Scribe(own) as scribe:
            for round in range(FREEZES):
                await siege.more(luck.randint(20, 60))
                await hold_too_long(scribe, siege.replicas, round)
        await siege.more(20)
        verdict = await siege.verdict(boxes=[HOLDERS], files=[own], excuses=Excuses(lateness=5 * FROZEN))
    tell(f"SIGSTOP for longer than a lease ({FREEZES})", verdict)

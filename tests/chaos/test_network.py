"""The network between clients and office fails in every way it can: what was accepted is there, once."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.chaos.caller import Caller
from tests.chaos.checker import Excuses
from tests.chaos.client import BOXES
from tests.chaos.conftest import Tell
from tests.chaos.form import chance, either
from tests.chaos.history import Op, Scribe
from tests.chaos.office import Replica
from tests.chaos.proxy import PASS, Proxy, Rule, proxied
from tests.chaos.siege import besieged
from tests.chaos.verdict import judge, read_all
from tests.chaos.weather import storm

ROUNDS, STORMS = either(1, 20), either(1, 10)
HEADERS = 150  # bytes; every answer has more
BOX = BOXES[0]


@pytest.fixture
async def proxy(calm: Replica) -> AsyncIterator[Proxy]:
    """What clients reach the server by."""
    async with proxied(("127.0.0.1", calm.port)) as found:
        yield found


@pytest.mark.timeout(60 * ROUNDS)
async def test_an_answer_cut_off_after_the_commit_is_given_again_to_whoever_asks_again(
    calm: Replica, proxy: Proxy, tmp_path: Path, tell: Tell
) -> None:
    luck = chance("cut")
    own, last = tmp_path / "own.history", tmp_path / "last.history"
    async with Scribe(own) as scribe, Caller(scribe, "ann", "ann", [proxy.url]) as ann, Caller(scribe, BOX, BOX, [proxy.url]) as box:

        async def cut(by: int) -> None:
            proxy.rule = Rule(down=luck.randrange(HEADERS))
            assert proxy.cuts == by

        for round in range(ROUNDS):
            letter = (BOX, f"cut-{round}", "Did you get this?")
            await cut(3 * round)
            assert (await ann.send(*letter)).unknown
            proxy.rule = PASS
            accepted = await ann.send(*letter)
            assert accepted.answered
            await cut(3 * round + 1)
            assert (await box.take(1, 1.0)).unknown
            proxy.rule = PASS
            (item,) = (await box.take(1, 30.0, 10.0)).items
            assert item.message == accepted.message
            await cut(3 * round + 2)
            assert (await box.settle(Op.ACK, item)).unknown
            proxy.rule = PASS
            assert (await box.settle(Op.ACK, item)).answered
    remains = await read_all(last, [calm.url])
    tell(f"network cut between commit and answer ({3 * ROUNDS})", judge([own, last], remains))


async def test_a_request_cut_off_before_it_was_whole_is_not_done(calm: Replica, proxy: Proxy, tmp_path: Path) -> None:
    async with Scribe(tmp_path / "own.history") as scribe, Caller(scribe, "ann", "ann", [proxy.url]) as ann:
        for whole in (0, 10, 100, 250):
            proxy.rule = Rule(up=whole)
            assert (await ann.send("nobody", f"never-{whole}", "Half a letter. " * 20)).unknown
    assert calm.call("nobody", "/mailbox")["counted"] == 0


@pytest.mark.timeout(120 * STORMS)
async def test_clients_behind_a_network_that_cuts_swallows_and_delays_lose_and_double_nothing(
    calm: Replica, proxy: Proxy, tmp_path: Path, tell: Tell
) -> None:
    luck = chance("network")
    async with besieged(tmp_path, urls=[proxy.url], patience=1.0) as siege:
        for _ in range(STORMS):
            for rule in storm(luck):
                proxy.rule = rule
                await asyncio.sleep(luck.uniform(0.1, either(0.4, 1.5)))
                proxy.rule = PASS
                await siege.more(luck.randint(5, 20))
        verdict = await siege.verdict(readers=[calm], excuses=Excuses(lateness=5.0))
    assert proxy.cuts
    tell("network: cut, black hole, half open, delay", verdict)

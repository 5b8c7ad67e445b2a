"""Many at once, and some for ever: identical sends, a race for one message, a message nobody can handle, two that answer each other."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from tests.chaos.caller import Caller
from tests.chaos.checker import SYSTEM
from tests.chaos.conftest import REPLIES, TRIES, Tell
from tests.chaos.form import either
from tests.chaos.history import Op, Scribe
from tests.chaos.office import Replica
from tests.chaos.verdict import judge, read_all

CROWD = 50
ROUNDS = either(2, 20)


@asynccontextmanager
async def crowd(scribe: Scribe, calm: Replica, *agents: str) -> AsyncIterator[Sequence[Caller]]:
    """Callers with a connection each."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(Caller(scribe, f"{agent}-{number}", agent, [calm.url], 60))
            for number, agent in enumerate(agents)
        ]


async def test_identical_sends_at_once_are_one_message(calm: Replica, tmp_path: Path, tell: Tell) -> None:
    own, last = tmp_path / "own.history", tmp_path / "last.history"
    async with Scribe(own) as scribe, crowd(scribe, calm, *["ann"] * CROWD) as callers:
        for round in range(ROUNDS):
            sent = await asyncio.gather(*(caller.send("dan", f"same-{round}", "Only once, please.") for caller in callers))
            assert all(call.answered for call in sent)
            assert len({call.message for call in sent}) == 1
    remains = await read_all(last, [calm.url], ["dan"])
    verdict = judge([own, last], remains)
    assert verdict.accepted == ROUNDS
    tell(f"{CROWD} identical sends at once ({ROUNDS})", verdict)


async def test_a_race_for_one_message_has_one_winner(calm: Replica, tmp_path: Path, tell: Tell) -> None:
    own, last = tmp_path / "own.history", tmp_path / "last.history"
    async with Scribe(own) as scribe, crowd(scribe, calm, "ann", *["eve"] * CROWD) as (ann, *takers):
        for round in range(ROUNDS):
            sent = await ann.send("eve", f"prize-{round}", "Who is first?")
            taken = await asyncio.gather(*(taker.take(1, 30.0) for taker in takers))
            ((winner, item),) = [(taker, item) for taker, take in zip(takers, taken, strict=True) for item in take.items]
            assert (item.message, item.attempt) == (sent.message, 1)
            assert (await winner.settle(Op.ACK, item)).answered
    remains = await read_all(last, [calm.url], ["eve"])
    tell(f"a race of {CROWD} for one message ({ROUNDS})", judge([own, last], remains))


async def test_a_message_nobody_can_handle_dies_after_its_tries_and_the_others_pass_it(calm: Replica, tmp_path: Path, tell: Tell) -> None:
    own, last = tmp_path / "own.history", tmp_path / "last.history"
    async with Scribe(own) as scribe, crowd(scribe, calm, "fay", "gus") as (fay, gus):
        poison = await fay.send("gus", "poison", "You will fail on this one.")
        others = [await fay.send("gus", f"good-{number}", "This one is easy.") for number in range(5)]
        tries, handled = 0, set[str]()
        while tries < TRIES or len(handled) < len(others):
            # What is held so briefly that it comes back is the one message that nobody settles.
            for item in (await gus.take(*((3, 30.0) if tries else (1, 1.0)), 30.0)).items:
                if item.message != poison.message:
                    handled.add(item.message)
                    assert (await gus.settle(Op.ACK, item)).answered
                    continue
                tries += 1
                assert item.attempt == tries
                if tries > 1:  # the first one dies with it and says nothing
                    await gus.settle(Op.NACK, item)
        (notice,) = (await fay.take(10, 30.0)).items
        await fay.settle(Op.ACK, notice)
    assert handled == {call.message for call in others}
    assert notice.sender == SYSTEM
    remains = await read_all(last, [calm.url], ["fay", "gus"])
    assert poison.message in remains.dead
    calm.call("gus", f"/dead-letters/{poison.message}/discard", {})
    tell(f"a poison message, dead after {TRIES} tries", judge([own, last], remains))


async def answer_everything(me: Caller, other: str) -> tuple[int, int]:
    """Reply to whatever the other one says, without end; how many replies went out, and how many notices came in."""
    replies = notices = 0
    # Until it is told that it is over, the other one may take its time; after that nothing may come.
    while items := (await me.take(1, 30.0, 1.0 if notices else 30.0)).items:
        for item in items:
            if item.sender == SYSTEM:
                notices += 1
            else:
                said = await me.send(other, f"reply-{item.message}", "And you?", automatic=True, reply_to=item.message)
                replies += said.answered
                assert said.answered or said.code == "budget_spent"
            await me.settle(Op.ACK, item)
    return replies, notices


async def test_two_that_answer_each_other_come_to_an_end_and_are_told(calm: Replica, tmp_path: Path, tell: Tell) -> None:
    own, last = tmp_path / "own.history", tmp_path / "last.history"
    async with Scribe(own) as scribe, crowd(scribe, calm, "hal", "ida") as (hal, ida):
        await hal.send("ida", "begin", "How are you?")
        (some, told_hal), (more, told_ida) = await asyncio.gather(answer_everything(hal, "ida"), answer_everything(ida, "hal"))
    assert (some + more, told_hal, told_ida) == (REPLIES, 1, 1)
    remains = await read_all(last, [calm.url], ["hal", "ida"])
    tell(f"two repliers in a loop, stopped after {REPLIES} replies", judge([own, last], remains))

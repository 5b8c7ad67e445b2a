"""From the outbox to the ledger: what fails is tried again with the same bytes, or told with what to do; nobody else waits."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from postoffice.bridges.ledger import submitter
from postoffice.core.delivery import State
from postoffice.core.draft import Draft
from postoffice.core.errors import OtherLedger
from tests.engines import Engine, SQLiteEngine
from tests.ledger.emulator import Emulator, running_emulator
from tests.ledger.emulator.fees import MESSAGE
from tests.ledger.house import Town, network_of, town, until


@pytest.fixture
async def at(tmp_path: Path, ledger: Emulator) -> AsyncIterator[Town]:
    async with town(SQLiteEngine(tmp_path), ledger) as opened:
        await opened.settle("quinn", "mindy")
        yield opened


@contextmanager
def later(seconds: int) -> Iterator[None]:
    """Everybody here believes that it is later, the ledger too."""
    real, real_ns = time.time, time.time_ns
    with patch("time.time", lambda: real() + seconds), patch("time.time_ns", lambda: real_ns() + seconds * 10**9):
        yield


def on_topic(at: Town) -> int:
    return len(at.ledger.topic(at.accounts["mindy"].inbound_topic_id).messages)


async def test_busy_is_tried_again_and_makes_one_message(at: Town) -> None:
    at.ledger.faults.busy(4)
    id = await at.send("quinn", "mindy")
    await at.confirmed("quinn", id)
    assert on_topic(at) == 1


async def test_whatever_is_tried_again_what_goes_to_a_topic_goes_in_order(at: Town) -> None:
    at.ledger.faults.busy(3)
    for number in range(4):
        id = await at.send("quinn", "mindy", subject=f"n{number}")
    await at.confirmed("quinn", id)
    subjects = [json.loads(body["data"])["subject"] for body in at.bodies(at.accounts["mindy"].inbound_topic_id)]
    assert subjects == ["n0", "n1", "n2", "n3"]


async def test_what_waits_behind_another_try_is_not_due_and_holds_up_no_other_topic(engine: Engine, ledger: Emulator) -> None:
    async with town(engine, ledger, silent=True) as at:
        await at.settle("quinn", "mindy", "justin")
        for to in ("mindy", "mindy", "mindy", "justin"):
            await at.send("quinn", to)
        first, other = await at.office.ledger.posts_due(2)
        assert (first.mailbox, other.mailbox) == ("mindy", "justin")
        await at.office.ledger.settle_post(first, error="busy", retry_in=timedelta(minutes=1))
        assert [post.id for post in await at.office.ledger.posts_due(10)] == [other.id]
        await engine.advance(timedelta(minutes=1))
        again = [post.mailbox for post in await at.office.ledger.posts_due(10)]
        assert again == ["mindy", "justin", "mindy", "mindy"]
        assert (await at.office.ledger.posts_due(1))[0].id == first.id


async def test_however_much_goes_to_one_topic_another_waits_for_little_of_it(
    tmp_path: Path, ledger: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(submitter, "_TURN_SECONDS", 0.0)
    async with town(SQLiteEngine(tmp_path), ledger, silent=True) as at:
        await at.settle("quinn", "mindy", "justin")
        for to in (*("mindy",) * 60, "justin"):
            await at.send("quinn", to)
        await at.submit()
        assert [len(at.ledger.topic(at.accounts[name].inbound_topic_id).messages) for name in ("mindy", "justin")] == [1, 1]
        at.bridge._network.close()
        await at.bridge._mirror.close()


async def test_what_goes_elsewhere_does_not_wait_for_the_pieces_of_a_long_message(tmp_path: Path) -> None:
    async with running_emulator(consensus_delay=0.5) as ledger, town(SQLiteEngine(tmp_path), ledger) as at:
        await at.settle("quinn", "mindy", "justin")
        await at.send("quinn", "mindy", payload="x" * 15_000)
        await until(lambda: asyncio.sleep(0, on_topic(at)))
        await at.confirmed("quinn", await at.send("quinn", "justin"))
        assert on_topic(at) < 15
        await at.arrived("mindy")


async def test_a_node_that_is_down_is_waited_for(at: Town) -> None:
    await at.ledger.node_down()
    id = await at.send("quinn", "mindy")
    assert "does not take it now" in await at.trouble("quinn", id)
    await at.ledger.node_up()
    await at.confirmed("quinn", id)
    assert on_topic(at) == 1


@pytest.mark.parametrize("accepted", [True, False])
async def test_an_answer_that_is_cut_off_leaves_one_message(at: Town, *, accepted: bool) -> None:
    at.ledger.faults.cut(accepted=accepted)
    await at.confirmed("quinn", await at.send("quinn", "mindy"))
    assert on_topic(at) == 1
    assert len(await at.waiting("mindy")) == 1


async def test_a_long_message_that_breaks_off_is_finished_where_it_broke_off(at: Town) -> None:
    text = "0123456789" * 400
    at.ledger.faults.cut(method="getTransactionReceipts")
    await at.confirmed("quinn", await at.send("quinn", "mindy", payload=text))
    (message,) = await at.arrived("mindy")
    assert message.payload == text
    chunks = [kept.chunk.number for kept in at.ledger.topic(at.accounts["mindy"].inbound_topic_id).messages if kept.chunk]
    assert chunks == sorted(chunks)
    assert len(chunks) == len(set(chunks))


async def test_an_account_without_money_is_told_of_and_goes_on_when_it_has_some(at: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submitter, "_OWNERS_PAUSE", timedelta(seconds=0.3))
    at.ledger.operator.balance, kept = MESSAGE - 1, at.ledger.operator.balance
    id = await at.send("quinn", "mindy")
    assert f"the account {at.ledger.operator_id} cannot pay; send it some hbar" in await at.trouble("quinn", id)
    assert (await at.office.ledger.status()).troubles
    at.ledger.operator.balance = kept
    await at.confirmed("quinn", id)
    assert on_topic(at) == 1


@pytest.mark.parametrize(
    ("status", "told"),
    [
        ("INSUFFICIENT_TX_FEE", "use a newer version of the SDK"),
        ("PAYER_ACCOUNT_NOT_FOUND", "check ledger_account"),
        ("INVALID_SIGNATURE", "check ledger_key_file"),
        ("INVALID_TRANSACTION_START", "clock is ahead of the ledger's; set it right"),
    ],
)
async def test_what_its_owner_has_to_mend_is_told_and_the_message_waits(at: Town, status: str, told: str) -> None:
    at.ledger.faults.refuse(status, 100)
    id = await at.send("quinn", "mindy")
    assert told in await at.trouble("quinn", id)
    assert (await at.standing("quinn", id)).in_words == "awaiting ledger"
    assert told in str((await at.bridge.facts())["trouble"])


async def test_after_a_clock_that_was_ahead_is_set_right_what_was_signed_meanwhile_goes(at: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submitter, "_OWNERS_PAUSE", timedelta(seconds=0.3))
    at.ledger.clock.advance(-3600)
    with later(3600):
        first = await at.send("quinn", "mindy")
        assert "clock is ahead" in await at.trouble("quinn", first)
    at.ledger.clock.advance(3600)
    await at.confirmed("quinn", await at.send("quinn", "mindy"))
    await at.confirmed("quinn", first)
    assert on_topic(at) == 2


async def test_a_clock_that_is_behind_is_told_of(at: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the bridge, too, as soon as it shows at the message."""
    settle = at.office.ledger.settle_post

    async def settle_at_length(*post: Any, **said: Any) -> None:
        await settle(*post, **said)
        await asyncio.sleep(0.5)

    monkeypatch.setattr(at.office.ledger, "settle_post", settle_at_length)
    with at.ledger.clock.ahead(3600):
        id = await at.send("quinn", "mindy")
        assert "clock is behind the ledger's; set it right" in await at.trouble("quinn", id)
        assert "clock is behind" in str((await at.bridge.facts())["trouble"])


async def test_what_was_seen_on_the_ledger_has_no_trouble_though_its_answer_never_came(tmp_path: Path, ledger: Emulator) -> None:
    async with town(SQLiteEngine(tmp_path), ledger) as at:
        await at.settle("quinn", "mindy")
        await ledger.node_down()
        id = await at.send("quinn", "mindy", priority=1)
        await at.trouble("quinn", id)
        (post,) = await until(lambda: at.office.store.ledger.posts_due(1))
        at.ledger.plant(at.accounts["mindy"].inbound_topic_id, post.body)  # as if it had been taken
        await at.confirmed("quinn", id)
        await at.office.ledger.settle_post(post, error="no answer", retry_in=timedelta(0))
        assert (await at.standing("quinn", id)).ledger.trouble is None
        assert (await at.bridge.facts())["trouble"] is None


async def test_money_that_runs_out_at_its_turn_costs_one_try_and_no_message(at: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    """The bytes are spent: they are signed anew, or the ledger would call the same ones a duplicate."""
    monkeypatch.setattr(submitter, "_OWNERS_PAUSE", timedelta(seconds=0.3))
    at.ledger.consensus.hold()
    id = await at.send("quinn", "mindy")

    async def taken() -> bool:
        return any(request.answer == "OK" for request in at.ledger.requests.at("node", "submitMessage"))

    await until(taken)
    at.ledger.operator.balance, kept = 0, at.ledger.operator.balance
    at.ledger.consensus.release()
    assert "cannot pay" in await at.trouble("quinn", id)
    at.ledger.operator.balance = kept
    await at.confirmed("quinn", id)
    assert on_topic(at) == 1


async def test_a_topic_that_does_not_exist_is_a_refusal_for_good(at: Town) -> None:
    del at.ledger.topics[at.accounts["mindy"].inbound_topic_id]
    id = await at.send("quinn", "mindy")
    (notice,) = await at.arrived("quinn")
    assert "INVALID_TOPIC_ID" in str(notice.content)
    assert (await at.standing("quinn", id)).state is State.DEAD


@pytest.mark.parametrize("notify", [(), ("mindy",)])
async def test_a_note_to_a_topic_that_does_not_exist_tells_its_sender(at: Town, notify: tuple[str, ...]) -> None:
    kept = await at.office.note(await at.me("quinn"), "0.0.999999", "task", "stuck", notify)
    assert kept.ledger == "awaiting"
    (notice,) = await at.arrived("quinn")
    assert str(notice.content).startswith("Your note on 0.0.999999 is kept in the office, but does not stand on the ledger:")
    assert "INVALID_TOPIC_ID" in str(notice.content)
    assert (notice.payload["message_id"], notice.payload["topic_id"]) == (kept.message_id, "0.0.999999")
    assert len(await at.waiting("mindy")) == len(notify)


async def test_whoever_wrote_what_was_delivered_at_once_is_told_that_the_ledger_refused_it(engine: Engine, ledger: Emulator) -> None:
    async with town(engine, ledger, silent=True) as at:
        await at.settle("quinn", "mindy")
        await at.send("quinn", "mindy", priority=1)
        await at.office.publish(await at.me("quinn"), Draft(to="mindy", type="task.note", content="n", ref_id="0.0.9", ref_type="task"))
        for post in await at.office.ledger.posts_due(2):
            for _ in range(2):  # as by two who both were the one that speaks
                await at.office.ledger.settle_post(post, error="INVALID_TOPIC_ID")
        told = [str(notice.content) for notice in await at.waiting("quinn")]
        assert told == [
            "Your message to mindy was delivered, but does not stand on the ledger: INVALID_TOPIC_ID",
            "Your note on 0.0.9 is kept in the office, but does not stand on the ledger: INVALID_TOPIC_ID",
        ]
        assert len(await at.waiting("mindy")) == 2


async def test_what_was_read_and_purged_before_its_refusal_is_refused_once(engine: Engine, ledger: Emulator) -> None:
    async with town(engine, ledger, silent=True) as at:
        await at.settle("quinn", "mindy")
        await at.send("quinn", "mindy", priority=1)
        (post,) = await at.office.ledger.posts_due(1)
        await at.office.pop(await at.me("mindy"))
        await engine.advance(timedelta(days=3))
        assert await at.office.store.sweeps.purge(timedelta(days=1)) == 1
        await at.office.ledger.settle_post(post, error="INVALID_TOPIC_ID")
        assert await at.office.ledger.posts() == {"failed": 1}


async def test_bytes_that_were_never_taken_and_are_too_old_are_signed_anew(tmp_path: Path, ledger: Emulator) -> None:
    engine = SQLiteEngine(tmp_path)
    await ledger.node_down()
    async with town(engine, ledger) as at:
        accounts = await at.settle("quinn", "mindy")
        id = await at.send("quinn", "mindy")
        await at.trouble("quinn", id)
    await ledger.node_up()
    with later(400):
        async with town(engine, ledger) as at:
            at.accounts = {one.agent: one for one in accounts}
            await engine.advance(timedelta(minutes=6))
            await at.confirmed("quinn", id)
            assert on_topic(at) == 1


async def test_bytes_that_were_taken_and_are_too_old_are_known_by_the_mirror(tmp_path: Path, ledger: Emulator) -> None:
    """Killed after submitting, back long after the receipt is gone: the node says expired, and only the mirror knows."""
    engine = SQLiteEngine(tmp_path)
    async with town(engine, ledger, silent=True) as at:
        accounts = await at.settle("quinn", "mindy")
        id = await at.send("quinn", "mindy")
        (post,) = await at.office.ledger.posts_due(1)
        network = network_of(ledger)
        signed = await asyncio.to_thread(network.sign, post.topic_id, post.memo, post.body, post.payer)
        await at.office.ledger.sign_post(post, signed)
        await asyncio.to_thread(network.submit, signed)
        network.close()
    with later(400):
        async with town(engine, ledger) as at:
            at.accounts = {one.agent: one for one in accounts}
            await at.confirmed("quinn", id)
            await asyncio.sleep(0.5)
            assert on_topic(at) == 1
            assert len(await at.waiting("mindy")) == 1


async def test_whoever_comes_late_to_what_another_has_put_there_puts_it_there_no_second_time(tmp_path: Path, ledger: Emulator) -> None:
    """As after a machine slept: it still believes to be the one that speaks, and has a post in hand that another saw confirmed."""
    async with town(SQLiteEngine(tmp_path), ledger, silent=True) as at:
        await at.settle("quinn", "mindy")
        id = await at.send("quinn", "mindy")
        (in_hand,) = await at.office.ledger.posts_due(1)
        await at.submit()
        await at.bridge._listener.look()
        await at.confirmed("quinn", id)
        assert await at.bridge._submitter._submit(in_hand)
        assert on_topic(at) == 1
        at.bridge._network.close()
        await at.bridge._mirror.close()


async def test_other_doors_never_wait_for_a_network_that_says_nothing(at: Town) -> None:
    at.ledger.faults.silence(100)
    for _ in range(20):
        await at.send("quinn", "mindy", priority=1)
    await asyncio.sleep(0.3)
    begun = time.monotonic()
    for _ in range(20):
        await at.office.send(await at.me("quinn"), Draft(to="mindy", content="by another door"))
        await at.waiting("mindy")
    assert time.monotonic() - begun < 30


async def test_with_two_nodes_a_cut_off_answer_is_one_message(tmp_path: Path) -> None:
    async with running_emulator(nodes=2) as ledger, town(SQLiteEngine(tmp_path), ledger) as at:
        await at.settle("quinn", "mindy")
        ledger.faults.cut()
        await at.confirmed("quinn", await at.send("quinn", "mindy"))
        assert on_topic(at) == 1


async def test_another_ledger_over_the_same_data_is_refused(engine: Engine, ledger: Emulator) -> None:
    async with town(engine, ledger):
        pass
    async with town(engine, ledger, silent=True) as at:
        at.bridge._network.name = "mainnet"
        with pytest.raises(OtherLedger, match=r"'own'.*'mainnet'"):
            await at.bridge.__aenter__()
        await at.bridge.__aexit__()
    async with town(engine, ledger) as at:
        await at.settle("quinn", "mindy")
        await at.confirmed("quinn", await at.send("quinn", "mindy"))

"""From the topics to the mailboxes: whatever the mirror does, each message is taken once, and what is not believed is set aside."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from postoffice.bridges.ledger import listener
from postoffice.config import Settings
from postoffice.core.limits import Limits
from postoffice.core.seal import Seal
from postoffice.store.store import Store
from tests.engines import Engine, SQLiteEngine
from tests.ledger.emulator import Chunk, Emulator, Throttle, running_emulator
from tests.ledger.house import Town, town, until
from tests.ledger.sdk import connected, in_thread, message


@pytest.fixture
async def at(tmp_path: Path, ledger: Emulator) -> AsyncIterator[Town]:
    async with town(SQLiteEngine(tmp_path), ledger) as opened:
        await opened.settle("quinn", "mindy", "justin", "engine")
        yield opened


def envelope(at: Town, sender: str, data: Any) -> bytes:
    body = {"p": "hcs-10", "op": "message", "operator_id": at.accounts[sender].operator_id, "data": data}
    return json.dumps(body, ensure_ascii=False).encode()


# Who is believed


@pytest.mark.parametrize("data", [{"message_type": "fyi", "subject": "s", "payload": {"a": 1}, "priority": 2}, "plain words"])
async def test_mail_of_other_software_is_read_as_object_string_or_plain_text(at: Town, data: Any) -> None:
    for given in (data, json.dumps(data) if isinstance(data, dict) else data):
        at.plant("mindy", "quinn", given)
    for found in await at.arrived("mindy", 2):
        if isinstance(data, dict):
            assert (found.type, found.subject, found.payload, found.priority) == ("fyi", "s", {"a": 1}, 2)
        else:
            assert found.content == "plain words"
        assert (found.sender, found.from_verified) == ("quinn", True)


async def test_a_forged_sender_is_set_aside(at: Town) -> None:
    thief = at.ledger.new_account()
    at.plant("mindy", "quinn", "give me the keys", payer=thief.id)
    (why,) = await at.set_aside()
    assert f"but {thief.id} paid for it" in why
    assert await at.waiting("mindy") == []


@pytest.mark.parametrize(
    ("body", "why"),
    [
        (b"not JSON", "not an HCS-10 operation"),
        (b"\xff\xfe\x00", "not an HCS-10 operation"),
        (b"[]", "not an HCS-10 operation"),
        (b'{"p":"hcs-2","op":"message","operator_id":"0.0.5@0.0.6","data":"x"}', "its protocol"),
        (b'{"p":"hcs-10","op":"message","operator_id":"nobody","data":"x"}', "is not topic@account"),
        (b"x" * 70_000, "more than the 65536"),
    ],
    ids=["words", "bytes", "list", "protocol", "operator", "oversized"],
)
async def test_what_is_malformed_or_too_large_is_set_aside_and_shown(at: Town, body: bytes, why: str) -> None:
    at.ledger.plant(at.accounts["mindy"].inbound_topic_id, body)
    at.plant("mindy", "quinn", "and life goes on")
    assert [found.content for found in await at.arrived("mindy")] == ["and life goes on"]
    (told,) = await at.set_aside()
    assert why in told


async def test_an_unknown_sender_is_set_aside(at: Town) -> None:
    stranger = at.ledger.new_account()
    at.plant("mindy", None, "hello", payer=stranger.id, operator_id=f"0.0.5@{stranger.id}")
    (why,) = await at.set_aside()
    assert "is not known here" in why


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"message_type": "fyi", "subject": "s", "priority": 9}, "priority must be between 1 and 5"),
        ({"message_type": "fyi", "subject": "s" * 300}, "300 characters"),
        ({"message_type": "fyi", "subject": "a\u0000b"}, "U\\+0000"),
        ({"message_type": "task_update", "subject": "s"}, "a task is moved by updating it"),
        ({"message_type": "task.note", "subject": "s"}, "a note names its entity"),
        ({"message_type": "Notice", "subject": "s"}, "what the office itself says"),
        ({"message_type": 5}, "its data is wrong"),
    ],
)
async def test_what_no_other_door_would_take_is_not_taken_here(at: Town, data: Any, why: str) -> None:
    at.plant("mindy", "quinn", data)
    (told,) = await at.set_aside()
    assert re.search(why, told), told
    assert await at.waiting("mindy") == []


@pytest.mark.parametrize("data", [{"id": "\0"}, {"id": "\0", "hash": "x"}, {"id": "\0", "subject": "s"}])
async def test_an_id_that_no_database_keeps_stops_no_topic(engine: Engine, ledger: Emulator, data: Any) -> None:
    async with town(engine, ledger) as at:
        await at.settle("quinn", "mindy")
        at.plant("mindy", "quinn", data)
        at.plant("mindy", "quinn", "after")
        records = await at.records(at.accounts["mindy"].inbound_topic_id, 2)
        assert records[1].verdict == "delivered"


async def test_a_name_that_no_database_keeps_stops_no_topic(engine: Engine, ledger: Emulator) -> None:
    async with town(engine, ledger) as at:
        await at.settle("quinn", "mindy")
        topic = ledger.new_topic()
        await at.office.ledger.watch_topic(at.office.owner(), topic.id, "entity", "task")
        ledger.plant(topic.id, json.dumps({"type": "task.note", "from_agent": "a\0", "note": "n", "notify": []}))
        (why,) = await at.set_aside()
        assert "forged" in why


async def test_an_altered_copy_of_a_message_of_ours_is_set_aside(at: Town) -> None:
    at.ledger.freeze_mirror()
    id = await at.send("quinn", "mindy", subject="pay 5")
    at.plant("mindy", "quinn", {"id": id, "message_type": "fyi", "subject": "pay 500", "payload": {"a": 1}})
    at.ledger.thaw_mirror()
    await at.confirmed("quinn", id)
    assert [found.subject for found in await at.arrived("mindy")] == ["pay 5"]
    (why,) = await at.set_aside()
    assert "says something else" in why


async def test_the_same_message_on_the_ledger_twice_is_delivered_once(at: Town) -> None:
    id = await at.send("quinn", "mindy")
    await at.confirmed("quinn", id)
    topic = at.ledger.topic(at.accounts["mindy"].inbound_topic_id)
    at.ledger.plant(topic.id, topic.bodies[0])
    await at.records(topic.id, 2)
    assert len(await at.waiting("mindy")) == 1


# Entities


@pytest.mark.parametrize(
    ("event", "told", "priority"),
    [
        ("task.blocked", {"mindy", "justin"}, 1),
        ("task.complete", {"engine"}, 3),
        ("phase.complete", {"engine", "mindy"}, 2),
        ("task.opened", set(), 0),
    ],
)
async def test_every_row_of_the_seeds_table_holds_for_a_topic(at: Town, event: str, told: set[str], priority: int) -> None:
    topic = at.ledger.new_topic()
    await at.office.ledger.watch_topic(at.office.owner(), topic.id, "entity", event.partition(".")[0])
    at.ledger.plant(topic.id, json.dumps({"type": event, "reason": "waits"}))
    (record,) = await at.records(topic.id)
    assert record.verdict == ("delivered" if told else "noted")
    for name in ("mindy", "justin", "engine"):
        got = [(one.sender, one.type, one.priority, one.ref_id, one.payload["reason"]) for one in await at.waiting(name)]
        assert got == ([("system", event, priority, topic.id, "waits")] if name in told else [])


async def test_a_note_on_a_topic_reaches_those_it_names(at: Town) -> None:
    topic = at.ledger.new_topic()
    await at.office.ledger.watch_topic(at.office.owner(), topic.id, "entity", "phase")
    at.ledger.plant(topic.id, json.dumps({"type": "phase.note", "from_agent": "quinn", "note": "done", "notify": ["mindy", "justin"]}))
    for name in ("mindy", "justin"):
        (note,) = await at.arrived(name)
        assert (note.sender, note.type, note.content, note.ref_id) == ("quinn", "phase.note", "done", topic.id)
    assert [note.content for note in (await at.office.notes(topic.id)).items] == ["done"]


@pytest.mark.parametrize(
    "said",
    [
        {"type": "task.blocked"},
        {"type": "task.note", "from_agent": "quinn", "note": "x", "notify": ["mindy"]},
    ],
)
async def test_events_and_notes_that_strangers_pay_for_are_set_aside(at: Town, said: Any) -> None:
    topic, stranger = at.ledger.new_topic(), at.ledger.new_account()
    await at.office.ledger.watch_topic(at.office.owner(), topic.id, "entity", "task")
    at.ledger.plant(topic.id, json.dumps(said), payer=stranger.id)
    await at.set_aside()
    assert await at.waiting("mindy") == []


# Pieces


async def test_pieces_that_come_out_of_order_and_mixed_make_their_messages(at: Town) -> None:
    topic = at.accounts["mindy"].inbound_topic_id
    texts = {sender: sender * 400 for sender in ("quinn", "justin")}
    at.ledger.consensus.reorder(4, 0, 2, 5, 1, 3)
    with connected(at.ledger) as client:
        for sender, text in texts.items():
            sent = message(client, topic, envelope(at, sender, text))
            await in_thread(sent.execute_all, client, wait_for_receipt=False)
    found = {one.sender: one.content for one in await at.arrived("mindy", 2)}
    assert found == texts


async def test_a_message_in_pieces_is_waited_for_and_what_comes_meanwhile_does_not_wait(at: Town) -> None:
    topic = at.accounts["mindy"].inbound_topic_id
    whole = envelope(at, "quinn", "the long one")
    start = at.ledger.clock.now()
    first, second = (Chunk(at.ledger.operator_id, start, number, 2) for number in (1, 2))
    at.ledger.plant(topic, whole[:40], chunk=first)
    at.plant("mindy", "justin", "a short one")
    assert [one.content for one in await at.arrived("mindy")] == ["a short one"]
    at.ledger.plant(topic, whole[40:], chunk=second)
    assert [one.content for one in await at.arrived("mindy", 2)] == ["a short one", "the long one"]
    assert [one.sequence for one in await at.records(topic, 2)] == [2, 3]


async def test_what_was_taken_ahead_of_pieces_is_taken_once_by_whoever_goes_on(engine: Engine, ledger: Emulator) -> None:
    async with town(engine, ledger) as at:
        await at.settle("quinn", "mindy")
        accounts, topic = at.accounts, at.accounts["mindy"].inbound_topic_id
        ledger.plant_chunks(topic, [b"half", b"of it"], order=[0])
        at.plant("mindy", "quinn", "ahead")
        ours = await at.send("quinn", "mindy")
        await at.confirmed("quinn", ours)
        for _ in await at.arrived("mindy", 2):
            await at.office.pop(await at.me("mindy"))
    async with town(engine, ledger) as at:
        at.accounts = accounts
        at.plant("mindy", "quinn", "after it")
        assert [one.content for one in await at.arrived("mindy")] == ["after it"]
        assert [(one.sequence, one.verdict) for one in await at.records(topic, 3)] == [(2, "delivered"), (3, "confirmed"), (4, "delivered")]
        assert (await at.office.ledger.topic_cursors()).get(topic, 0) == 0


async def test_more_than_a_page_between_two_pieces_is_looked_through(at: Town) -> None:
    topic = at.accounts["mindy"].inbound_topic_id
    whole = envelope(at, "quinn", "the long one")
    start = at.ledger.clock.now()
    first, second = (Chunk(at.ledger.operator_id, start, number, 2) for number in (1, 2))
    at.ledger.freeze_mirror()
    at.ledger.plant(topic, whole[:40], chunk=first)
    for number in range(230):
        at.plant("mindy", "justin", f"short {number}")
    at.ledger.plant(topic, whole[40:], chunk=second)
    at.ledger.thaw_mirror()

    async def all_there() -> bool:
        return (await at.office.counts(await at.me("mindy"))).pending == 231

    await until(all_there)


async def test_pieces_that_never_become_whole_are_set_aside_and_pass(at: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "_PIECES_SECONDS", 0.1)
    at.ledger.plant_chunks(at.accounts["mindy"].inbound_topic_id, [b"a", b"b", b"c"], order=[2, 0, 0])
    at.plant("mindy", "quinn", "after it")
    assert [found.content for found in await at.arrived("mindy")] == ["after it"]
    (why,) = await at.set_aside()
    assert "some of its pieces never came" in why


# The mirror


async def test_a_message_that_the_mirror_leaves_out_for_a_while_is_taken_in_its_place(at: Town) -> None:
    topic = at.ledger.topic(at.accounts["mindy"].inbound_topic_id)
    at.ledger.freeze_mirror()
    for number in range(3):
        at.plant("mindy", "quinn", f"n{number}")
    late = topic.messages.pop(1)
    at.ledger.thaw_mirror()
    assert [found.content for found in await at.arrived("mindy")] == ["n0"]
    topic.messages.insert(1, late)
    assert [found.content for found in await at.arrived("mindy", 3)] == ["n0", "n1", "n2"]


async def test_a_message_that_the_mirror_never_tells_of_is_passed(at: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "_PIECES_SECONDS", 0.1)
    topic = at.ledger.topic(at.accounts["mindy"].inbound_topic_id)
    at.ledger.freeze_mirror()
    for number in range(3):
        at.plant("mindy", "quinn", f"n{number}")
    topic.messages.pop(1)
    at.ledger.thaw_mirror()
    assert [found.content for found in await at.arrived("mindy", 2)] == ["n0", "n2"]


async def test_it_catches_up_after_days(tmp_path: Path, ledger: Emulator) -> None:
    engine = SQLiteEngine(tmp_path)
    async with town(engine, ledger) as at:
        await at.settle("quinn", "mindy")
        accounts = at.accounts
        at.plant("mindy", "quinn", "before")
        await at.arrived("mindy")
    at.ledger.faults.clear()
    body = {"p": "hcs-10", "op": "message", "operator_id": accounts["quinn"].operator_id}
    for number in range(450):
        ledger.plant(accounts["mindy"].inbound_topic_id, json.dumps(body | {"data": f"day {number}"}))
    async with town(engine, ledger) as at:

        async def all_there() -> bool:
            return (await at.office.counts(await at.me("mindy"))).pending == 451

        await until(all_there)
        assert (
            len(ledger.requests.at("mirror", f"/api/v1/topics/{accounts['mindy'].inbound_topic_id}/messages?sequencenumber=gte:102")) <= 1
        )


async def test_catching_up_is_held_to_no_rate(tmp_path: Path, ledger: Emulator) -> None:
    class Strict(SQLiteEngine):
        def store(self, limits: Limits | None = None, seal: Seal | None = None) -> Store:
            return super().store(limits or Limits(sends_per_minute=3), seal)

    async with town(Strict(tmp_path), ledger) as at:
        await at.settle("quinn", "mindy")
        for number in range(10):
            at.plant("mindy", "quinn", f"n{number}")
        assert len(await at.arrived("mindy", 10)) == 10


async def test_pages_given_twice_refused_and_cut_off_lose_and_double_nothing(at: Town) -> None:
    for number in range(40):
        at.plant("mindy", "quinn", f"{number}")
        if number % 10 == 0:
            at.ledger.faults.repeat_pages(2)
        if number % 10 == 3:
            at.ledger.faults.mirror_answers(503, 2)
        if number % 10 == 6:
            at.ledger.faults.cut_pages()
        await asyncio.sleep(0.02)
    found = await at.arrived("mindy", 40)
    assert [one.content for one in found] == [f"{number}" for number in range(40)]


async def test_a_mirror_that_is_away_is_told_of_and_left_alone_ever_longer(at: Town) -> None:
    await at.ledger.mirror_down()
    at.plant("mindy", "quinn", "later")

    async def told() -> str | None:
        return str((await at.bridge.facts())["trouble"] or "")

    assert "mirror" in str(await until(told))
    asked, begun = at.bridge._mirror.asked, asyncio.get_running_loop().time()
    await asyncio.sleep(1.0)
    # On a machine that is slow today a second may last for several.
    assert at.bridge._mirror.asked - asked < 5 * (asyncio.get_running_loop().time() - begun)
    await at.ledger.mirror_up()
    assert [found.content for found in await at.arrived("mindy")] == ["later"]


async def test_too_many_requests_are_heeded(at: Town) -> None:
    at.ledger.faults.mirror_answers(429, 1)
    at.plant("mindy", "quinn", "soon")
    await at.arrived("mindy")
    refused = next(request.at for request in at.ledger.requests.at("mirror") if request.answer == "429")
    # What was under way at that moment is under way.
    assert sum(refused < request.at < refused + 0.8 for request in at.ledger.requests.at("mirror")) < 4


async def test_the_topics_of_two_hundred_agents_are_polled_within_the_mirrors_limits(tmp_path: Path) -> None:
    """The public mirror takes about fifty requests a second; the office as it comes asks thirty at most."""
    usual = Settings()
    async with running_emulator(mirror=Throttle(50)) as ledger:
        rate: dict[str, Any] = {"per_second": usual.ledger_rate, "least": usual.ledger_poll, "most": usual.ledger_poll * 15}
        async with town(SQLiteEngine(tmp_path), ledger, **rate) as at:
            names = [f"agent-{number}" for number in range(200)]
            await at.settle(*names)
            await at.send(names[0], names[199], subject="across")
            await at.arrived(names[199])
            asked_before, begun = len(ledger.requests.at("mirror")), asyncio.get_running_loop().time()
            await asyncio.sleep(4)
            lasted = asyncio.get_running_loop().time() - begun
            assert (len(ledger.requests.at("mirror")) - asked_before) / lasted <= usual.ledger_rate + 1
        asked = ledger.requests.at("mirror")
        assert {request.answer for request in asked} <= {"200", "404"}
        assert ledger.requests.busiest("mirror") <= usual.ledger_rate + 5

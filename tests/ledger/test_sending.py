"""Mail that goes by the ledger: held until it was seen there, urgent at once, and once in any case."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from msgspec import structs

from postoffice.core.delivery import State
from postoffice.core.draft import Draft
from postoffice.core.errors import TopicWatched
from postoffice.core.ledger import Account
from tests.engines import Engine, SQLiteEngine
from tests.ledger.emulator import HBAR, Emulator
from tests.ledger.house import Town, town


@pytest.fixture
async def at(tmp_path: Path, ledger: Emulator) -> AsyncIterator[Town]:
    async with town(SQLiteEngine(tmp_path), ledger) as opened:
        await opened.settle("quinn", "mindy", "justin")
        yield opened


async def test_a_message_awaits_the_ledger_and_then_tells_where_it_is_there(at: Town) -> None:
    at.ledger.freeze_mirror()
    id = await at.send("quinn", "mindy", type="review.request", subject="Ready", payload={"branch": "x"}, ref_id="0.0.7", ref_type="task")
    standing = await at.standing("quinn", id)
    assert (standing.state, standing.in_words, standing.ledger.state) == (State.HELD, "awaiting ledger", "awaiting")
    assert await at.waiting("mindy") == []
    at.ledger.thaw_mirror()
    (message,) = await at.arrived("mindy")
    assert (message.id, message.sender, message.type, message.subject, message.payload, message.ref_id) == (
        *(id, "quinn", "review.request", "Ready"),
        *({"branch": "x"}, "0.0.7"),
    )
    standing = await at.standing("quinn", id)
    topic = at.ledger.topic(at.accounts["mindy"].inbound_topic_id)
    assert (standing.in_words, standing.ledger.topic_id, standing.ledger.sequence) == ("pending", topic.id, 1)
    moment = topic.messages[0].moment
    assert standing.ledger.consensus_at == f"{moment // 10**9}.{moment % 10**9:09}"


async def test_what_stands_on_the_topic_is_hcs_10_with_the_seeds_object_as_a_string(at: Town) -> None:
    id = await at.send("quinn", "mindy", subject="Grüße", priority=4)
    await at.confirmed("quinn", id)
    (body,) = at.bodies(at.accounts["mindy"].inbound_topic_id)
    assert {name: body[name] for name in ("p", "op", "operator_id")} == {
        "p": "hcs-10",
        "op": "message",
        "operator_id": f"{at.accounts['quinn'].inbound_topic_id}@{at.ledger.operator_id}",
    }
    assert isinstance(body["data"], str)
    assert json.loads(body["data"]) == {"id": id, "message_type": "fyi", "subject": "Grüße", "payload": {"a": 1}, "priority": 4}
    (record,) = [one for one in at.ledger.records.values() if one.transaction.kind == "consensusSubmitMessage"]
    assert record.transaction.body.memo == "hcs-10:op:6:1"


@pytest.mark.parametrize("priority", [1, 2])
async def test_the_fast_path_and_the_listener_give_one_message(at: Town, priority: int) -> None:
    at.ledger.freeze_mirror()
    id = await at.send("quinn", "mindy", priority=priority)
    assert [message.id for message in await at.waiting("mindy")] == [id]
    at.ledger.thaw_mirror()
    await at.confirmed("quinn", id)
    assert [message.id for message in await at.waiting("mindy")] == [id]
    assert await at.office.ledger.posts() == {"confirmed": 1}


async def test_what_was_read_and_purged_before_the_ledger_tells_of_it_is_not_delivered_again(engine: Engine, ledger: Emulator) -> None:
    async with town(engine, ledger) as at:
        await at.settle("quinn", "mindy")
        ledger.freeze_mirror()
        id = await at.send("quinn", "mindy", priority=1)
        await at.office.pop(await at.me("mindy"))
        await engine.advance(timedelta(days=3))
        assert await at.office.store.sweeps.purge(timedelta(days=1)) == 1
        ledger.thaw_mirror()
        (record,) = await at.records(at.accounts["mindy"].inbound_topic_id)
        assert (record.verdict, record.message_id) == ("confirmed", id)
        assert await at.waiting("mindy") == []


async def test_a_long_message_goes_in_pieces_and_arrives_whole(at: Town) -> None:
    text = "Größe " * 1500
    id = await at.send("quinn", "mindy", payload={"text": text})
    (message,) = await at.arrived("mindy")
    assert (message.id, message.payload) == (id, {"text": text})
    assert len(at.ledger.topic(at.accounts["mindy"].inbound_topic_id).messages) > 10


async def test_what_is_too_long_even_in_pieces_is_dead_and_its_sender_is_told(at: Town) -> None:
    id = await at.send("quinn", "mindy", payload={"text": "x" * 30_000})
    (notice,) = await at.arrived("quinn")
    assert "more than the 20480 the ledger takes" in str(notice.content)
    assert (await at.standing("quinn", id)).state is State.DEAD


async def test_all_and_a_person_are_reached_and_whoever_has_no_topics_directly(at: Town) -> None:
    await at.me("carol")
    sent = await at.office.publish(await at.me("quinn"), Draft(to="ALL", type="fyi", subject="to all", content="x"))
    assert {one.recipient: one.ledger for one in sent.posted} == {"mindy": "awaiting", "justin": "awaiting", "carol": "direct"}
    for name in ("mindy", "justin", "carol"):
        (message,) = await at.arrived(name)
        assert message.id == sent.message_id


async def test_a_note_reaches_those_named_at_once_and_stands_on_its_topic_and_under_its_entity(at: Town) -> None:
    topic = at.ledger.new_topic()
    await at.office.ledger.watch_topic(at.office.owner(), topic.id, "entity", "task")
    at.ledger.freeze_mirror()
    kept = await at.office.note(await at.me("quinn"), topic.id, "task", "**stuck**", ["mindy", "justin"])
    assert (kept.ledger, [one.ledger for one in kept.posted]) == ("awaiting", ["direct", "direct"])
    for name in ("mindy", "justin"):
        assert [message.content for message in await at.waiting(name)] == ["**stuck**"]
    at.ledger.thaw_mirror()
    (note,) = (await at.office.notes(topic.id)).items
    records = await at.records(topic.id)
    assert [(one.verdict, one.message_id) for one in records] == [("confirmed", note.id)]
    (body,) = at.bodies(topic.id)
    assert body == {
        "type": "task.note",
        "from_agent": "quinn",
        "note": "**stuck**",
        "notify": ["mindy", "justin"],
        "ts": body["ts"],
        "id": note.id,
    }
    assert len(await at.waiting("mindy")) == 1


async def test_the_public_log_tells_that_something_was_sent_and_never_what(tmp_path: Path, ledger: Emulator) -> None:
    async with town(SQLiteEngine(tmp_path), ledger, log=True) as at:
        await at.settle("quinn", "mindy", "justin")
        sent = await at.office.publish(await at.me("quinn"), Draft(to="ALL", subject="secret", content="very secret"))
        for name in ("mindy", "justin"):
            await at.arrived(name)
        (told,) = at.bodies(at.accounts["quinn"].outbound_topic_id or "")
        assert "secret" not in told["data"]
        assert json.loads(told["data"])["to"] == "ALL"
        assert sent.message_id not in told["data"]


async def test_without_being_asked_to_nobody_keeps_a_public_log(at: Town) -> None:
    await at.confirmed("quinn", await at.send("quinn", "mindy"))
    assert at.bodies(at.accounts["quinn"].outbound_topic_id or "") == []


async def test_a_private_office_puts_a_hash_there_and_keeps_the_body(tmp_path: Path, ledger: Emulator) -> None:
    async with town(SQLiteEngine(tmp_path), ledger, private=True) as at:
        await at.settle("quinn", "mindy")
        await at.send("quinn", "mindy", subject="a secret", payload={"deep": "secret"})
        (message,) = await at.arrived("mindy")
        assert (message.subject, message.payload) == ("a secret", {"deep": "secret"})
        (body,) = at.bodies(at.accounts["mindy"].inbound_topic_id)
        assert "secret" not in body["data"]
        assert set(json.loads(body["data"])) == {"id", "hash", "priority"}


async def test_an_agent_with_an_account_of_its_own_pays_for_itself(tmp_path: Path, ledger: Emulator) -> None:
    own = ledger.new_account(ecdsa=True)
    async with town(SQLiteEngine(tmp_path), ledger, keys={own.id: own.secret}) as at:
        await at.settle("mindy")
        await at.settle("quinn", account=own)
        await at.send("quinn", "mindy")
        await at.arrived("mindy")
        assert [kept.payer for kept in ledger.topic(at.accounts["mindy"].inbound_topic_id).messages] == [own.id]


async def test_an_account_whose_key_is_not_known_is_told_of_and_nobody_else_pays(tmp_path: Path, ledger: Emulator) -> None:
    stranger = ledger.new_account()
    async with town(SQLiteEngine(tmp_path), ledger) as at:
        await at.settle("mindy")
        await at.settle("quinn", account=stranger)
        id = await at.send("quinn", "mindy")
        assert f"the key of the account {stranger.id} is not known" in await at.trouble("quinn", id)
        assert ledger.topic(at.accounts["mindy"].inbound_topic_id).messages == []


# Other topics than before


async def test_what_awaits_an_agents_former_topic_is_still_seen_there(engine: Engine, ledger: Emulator) -> None:
    async with town(engine, ledger) as at:
        await at.settle("quinn", "mindy")
        ledger.freeze_mirror()
        to, by = await at.send("quinn", "mindy"), await at.send("mindy", "quinn")
        former = at.accounts["mindy"]
        (now,) = await at.settle("mindy")
        ledger.thaw_mirror()
        assert (await at.confirmed("quinn", to)).ledger.topic_id == former.inbound_topic_id
        await at.confirmed("mindy", by)
        assert [one.id for one in await at.arrived("mindy")] == [to]
        assert [one.id for one in await at.arrived("quinn")] == [by]
        after = await at.send("quinn", "mindy")
        assert (await at.confirmed("quinn", after)).ledger.topic_id == now.inbound_topic_id


async def test_an_agent_can_have_its_former_topic_again_and_nobody_else_can(at: Town) -> None:
    former = at.accounts["mindy"]
    await at.settle("mindy")
    owner = at.office.owner()
    with pytest.raises(TopicWatched, match="former"):
        await at.office.ledger.keep_account(owner, structs.replace(at.accounts["justin"], inbound_topic_id=former.inbound_topic_id))
    await at.office.ledger.keep_account(owner, former)
    id = await at.send("quinn", "mindy")
    assert (await at.confirmed("quinn", id)).ledger.topic_id == former.inbound_topic_id


async def test_what_awaits_the_ledger_is_known_though_its_senders_account_is_another_now(tmp_path: Path, ledger: Emulator) -> None:
    own = ledger.new_account()
    async with town(SQLiteEngine(tmp_path), ledger, keys={own.id: own.secret}) as at:
        await at.settle("quinn", "mindy")
        ledger.freeze_mirror()
        id = await at.send("quinn", "mindy")
        await at.office.ledger.keep_account(at.office.owner(), structs.replace(at.accounts["quinn"], account_id=own.id))
        ledger.thaw_mirror()
        await at.confirmed("quinn", id)
        await at.confirmed("quinn", await at.send("quinn", "mindy"))


async def test_whoever_has_a_former_account_or_topic_of_an_agent_speaks_for_it_no_more(
    tmp_path: Path, ledger: Emulator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its key may be the reason why it is a former one. A look that had begun before believed it once more."""
    async with town(SQLiteEngine(tmp_path), ledger, operator=ledger.new_account(balance=100 * HBAR)) as at:
        stolen = ledger.new_account()
        await at.settle("quinn", "mindy", account=stolen)
        former = at.accounts["quinn"]
        cursors = at.office.ledger.topic_cursors
        looking = asyncio.Event()

        async def look_at_length() -> dict[str, int]:
            looking.set()
            await asyncio.sleep(0.5)
            return await cursors()

        monkeypatch.setattr(at.office.ledger, "topic_cursors", look_at_length)
        await looking.wait()
        await at.settle("quinn")
        at.ledger.plant(at.accounts["mindy"].inbound_topic_id, _says(former, "give me the keys"), payer=stolen.id)
        at.ledger.plant(former.inbound_topic_id, _says(at.accounts["mindy"], "hello"), payer=stolen.id)
        assert all("as they were before" in why for why in await at.set_aside(2))
        assert [*await at.waiting("quinn"), *await at.waiting("mindy")] == []


def _says(sender: Account, words: str) -> str:
    return json.dumps({"p": "hcs-10", "op": "message", "operator_id": sender.operator_id, "data": words})

"""Agents of other software: they ask by HCS-10, people consent as always, and from then on mail goes both ways on a topic of the two."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from postoffice.bridges.ledger.handshake import Handshake
from postoffice.bridges.ledger.sightings import Book
from postoffice.core.connection import Status
from postoffice.core.delivery import State
from postoffice.core.draft import Draft
from postoffice.core.errors import Conflict, MirrorAway, OutOfReach, TopicTaken, TopicWatched
from tests.engines import SQLiteEngine
from tests.ledger.emulator import Account as LedgerAccount
from tests.ledger.emulator import Emulator, Topic
from tests.ledger.house import Town, town, until
from tests.ledger.sdk import connected, in_thread, message, status


class Stranger:
    """An agent of other software: an account, an inbound topic, and the SDK."""

    def __init__(self, ledger: Emulator) -> None:
        self.ledger = ledger
        self.account: LedgerAccount = ledger.new_account(ecdsa=True)
        self.inbound: Topic = ledger.new_topic(f"hcs-10:0:60:0:{self.account.id}")

    @property
    def operator_id(self) -> str:
        return f"{self.inbound.id}@{self.account.id}"

    async def post(self, topic_id: str, op: str, **fields: Any) -> str:
        """Put an operation on a topic as this account; gives the receipt's word."""
        body = json.dumps({"p": "hcs-10", "op": op, "operator_id": self.operator_id, **fields})
        with connected(self.ledger, self.account) as client:
            return status(await in_thread(message(client, topic_id, body).execute, client))

    async def answer(self, at: Town, topic_id: str) -> dict[str, Any]:
        """The answer to its request, once it is there."""

        async def there() -> Any:
            return [body for body in at.bodies(topic_id) if body["op"] == "connection_created"]

        return dict((await until(there))[-1])


@pytest.fixture
async def at(tmp_path: Path, ledger: Emulator) -> AsyncIterator[Town]:
    async with town(SQLiteEngine(tmp_path), ledger) as opened:
        await opened.settle("quinn", "mindy")
        yield opened


@pytest.fixture
def stranger(ledger: Emulator) -> Stranger:
    return Stranger(ledger)


async def closed(at: Town) -> None:
    """quinn takes mail from nobody it has not consented to."""
    await at.office.update_card(await at.me("quinn"), {"allow_from": []})


async def asked(at: Town) -> Any:
    """The request that waits for quinn, once it does."""

    async def waiting() -> Any:
        return (await at.office.connections(await at.me("quinn"), Status.PENDING)).items

    (request,) = await until(waiting)
    return request


async def test_a_request_is_shown_like_others_and_answered_once_somebody_has_consented(at: Town, stranger: Stranger) -> None:
    await closed(at)
    inbound = at.accounts["quinn"].inbound_topic_id
    await stranger.post(inbound, "connection_request", m="Shall we?")
    request = await asked(at)
    assert (request.requester, request.note) == (stranger.account.id, "Shall we?")
    assert [body["op"] for body in at.bodies(inbound)] == ["connection_request"]
    await at.office.approve_for(at.office.owner(), request.id)
    answer = await stranger.answer(at, inbound)
    topic = at.ledger.topic(answer["connection_topic_id"])
    assert answer == {
        "p": "hcs-10",
        "op": "connection_created",
        "operator_id": at.accounts["quinn"].operator_id,
        "connection_topic_id": topic.id,
        "connected_account_id": stranger.account.id,
        "connection_id": 1,
    }
    assert topic.memo == f"hcs-10:1:3600:2:{inbound}:1"
    assert topic.submit_key is not None
    assert topic.submit_key.WhichOneof("key") == "thresholdKey"
    memos = [record.transaction.body.memo for record in at.ledger.records.values() if record.transaction.payer == at.ledger.operator_id]
    assert "hcs-10:op:4:1" in memos


async def test_a_request_that_is_taken_ahead_of_somebodys_pieces_is_asked_once(at: Town, stranger: Stranger) -> None:
    await closed(at)
    inbound = at.accounts["quinn"].inbound_topic_id
    at.ledger.plant_chunks(inbound, [b"half", b"of it"], order=[0])
    await stranger.post(inbound, "connection_request")
    request = await asked(at)
    await at.records(inbound)
    quinn = await at.me("quinn")
    await at.office.reject_connection(quinn, request.id)
    await asyncio.sleep(0.5)
    assert (await at.office.connections(quinn, Status.PENDING)).items == ()


async def test_whoever_is_on_the_list_is_answered_at_once_and_mail_goes_both_ways(at: Town, stranger: Stranger) -> None:
    inbound = at.accounts["quinn"].inbound_topic_id
    await stranger.post(inbound, "connection_request")
    topic = (await stranger.answer(at, inbound))["connection_topic_id"]
    assert await stranger.post(topic, "message", data="Hello from afar") == "SUCCESS"
    (mail,) = await at.arrived("quinn")
    assert (mail.sender, mail.content, mail.from_verified) == (stranger.account.id, "Hello from afar", True)
    # Back by any door: plain mail to its name.
    sent = await at.office.send(await at.me("quinn"), Draft(to=stranger.account.id, content="Hello yourself"))
    await at.confirmed("quinn", sent.message_id)
    reply = json.loads(at.ledger.topic(topic).bodies[-1])
    assert json.loads(reply["data"])["content"] == "Hello yourself"
    memos = [record.transaction.body.memo for record in at.ledger.records.values() if record.transaction.payer == at.ledger.operator_id]
    assert memos[-1] == "hcs-10:op:6:3"
    # It lies where it is read, and nowhere else.
    assert (await at.standing("quinn", sent.message_id)).state is State.ACKED
    assert len(await at.waiting("quinn")) == 1


async def test_nobody_else_writes_on_the_topic_of_two(at: Town, stranger: Stranger, ledger: Emulator) -> None:
    inbound = at.accounts["quinn"].inbound_topic_id
    await stranger.post(inbound, "connection_request")
    topic = (await stranger.answer(at, inbound))["connection_topic_id"]
    third = Stranger(ledger)
    assert await third.post(topic, "message", data="me too") == "INVALID_SIGNATURE"
    ledger.forge(topic, operator_id=stranger.operator_id, payer=third.account.id)
    ledger.plant(topic, json.dumps({"p": "hcs-10", "op": "message", "operator_id": at.accounts["mindy"].operator_id, "data": "x"}))
    reasons = await at.set_aside(2)
    assert any("forged" in why for why in reasons)
    assert any("not one of the two" in why for why in reasons)
    assert await at.waiting("quinn") == []


@pytest.mark.parametrize("lie", ["payer", "topic", "memo"])
async def test_a_request_that_lies_about_who_asks_is_set_aside(at: Town, stranger: Stranger, ledger: Emulator, lie: str) -> None:
    inbound, other = at.accounts["quinn"].inbound_topic_id, Stranger(ledger)
    told = {
        "payer": other.operator_id,
        "topic": f"{at.accounts['mindy'].inbound_topic_id}@{stranger.account.id}",
        "memo": f"{other.inbound.id}@{stranger.account.id}",
    }[lie]
    await stranger.post(inbound, "connection_request", operator_id=told)
    await at.set_aside()
    assert (await at.office.connections(at.office.owner(), everyone=True)).items == ()


@pytest.mark.parametrize("words", ["a\0b", "made up"])
async def test_a_request_that_nobody_could_take_is_set_aside_and_what_comes_after_it_is_taken(
    at: Town, stranger: Stranger, words: str
) -> None:
    operator = f"0.0.999999999999999999@{stranger.account.id}" if words == "made up" else stranger.operator_id
    await stranger.post(at.accounts["quinn"].inbound_topic_id, "connection_request", operator_id=operator, m=words)
    at.plant("quinn", "mindy", "after")
    await at.set_aside()
    assert [mail.content for mail in await at.arrived("quinn")] == ["after"]
    assert (await at.office.connections(at.office.owner(), everyone=True)).items == ()


@pytest.mark.parametrize("said", [{"type": "task.blocked"}, {"type": "task.note", "note": "x", "notify": ["mindy"]}])
async def test_whoever_only_asked_is_not_believed_on_entities_topics(at: Town, stranger: Stranger, said: dict[str, Any]) -> None:
    await closed(at)
    await stranger.post(at.accounts["quinn"].inbound_topic_id, "connection_request")
    await asked(at)
    topic = at.ledger.new_topic()
    await at.office.ledger.watch_topic(at.office.owner(), topic.id, "entity", "task")
    at.ledger.plant(topic.id, json.dumps(said | {"from_agent": stranger.account.id}), payer=stranger.account.id)
    (record,) = await at.records(topic.id)
    assert record.verdict == "quarantined"
    assert await at.waiting("mindy") == []


async def test_whoever_asks_again_is_told_again_and_no_second_topic_is_made(at: Town, stranger: Stranger) -> None:
    inbound = at.accounts["quinn"].inbound_topic_id
    await stranger.post(inbound, "connection_request")
    first = await stranger.answer(at, inbound)
    made = len(at.ledger.topics)
    await stranger.post(inbound, "connection_request")

    async def twice() -> Any:
        found = [body for body in at.bodies(inbound) if body["op"] == "connection_created"]
        return found if len(found) == 2 else None

    second = (await until(twice))[-1]
    assert second["connection_topic_id"] == first["connection_topic_id"]
    assert second["connection_id"] == 3
    assert len(at.ledger.topics) == made


async def test_whoever_asks_again_after_the_end_is_told_once_somebody_has_consented_again(at: Town, stranger: Stranger) -> None:
    await closed(at)
    inbound = at.accounts["quinn"].inbound_topic_id
    await stranger.post(inbound, "connection_request")
    first = await asked(at)
    await at.office.approve_for(at.office.owner(), first.id)
    answer = await stranger.answer(at, inbound)
    await at.office.end_connection(await at.me("quinn"), first.id)
    await stranger.post(inbound, "connection_request")
    second = await asked(at)
    await at.records(inbound, 3)
    assert await at.office.ledger.posts_due(10) == []
    assert [body["op"] for body in at.bodies(inbound)] == ["connection_request", "connection_created", "connection_request"]
    made = len(at.ledger.topics)
    await at.office.approve_for(at.office.owner(), second.id)

    async def told() -> Any:
        return [body for body in at.bodies(inbound)[3:] if body["op"] == "connection_created"]

    assert await until(told) == [answer | {"connection_id": 3}]
    assert len(at.ledger.topics) == made
    await stranger.post(answer["connection_topic_id"], "message", data="again")
    assert [mail.content for mail in await at.arrived("quinn")] == ["again"]


async def test_without_a_connection_mail_to_other_software_is_refused_and_says_what_to_do(at: Town, stranger: Stranger) -> None:
    await closed(at)
    await stranger.post(at.accounts["quinn"].inbound_topic_id, "connection_request")
    request = await asked(at)
    await at.office.update_card(at.office.owner(), {"allow_from": ["*"]}, of=stranger.account.id)
    with pytest.raises(OutOfReach, match="ledger connect"):
        await at.office.send(await at.me("mindy"), Draft(to=stranger.account.id, content="x"))
    assert request.requester == stranger.account.id


async def test_mail_to_an_account_that_nobody_has_met_is_refused_and_opens_no_mailbox(at: Town, stranger: Stranger) -> None:
    for to in (stranger.account.id, ("mindy", stranger.account.id)):
        with pytest.raises(OutOfReach, match="ledger connect"):
            await at.office.send(await at.me("quinn"), Draft(to=to, content="Is anybody there?"))
    assert await at.waiting("mindy") == []
    assert await at.office.store.agents.named(stranger.account.id) is None


async def test_ours_asks_theirs_and_the_answer_opens_the_connection(at: Town, stranger: Stranger, ledger: Emulator) -> None:
    await at.office.foreign.ask(await at.me("quinn"), stranger.account.id, stranger.inbound.id, "Shall we?")

    async def requested() -> Any:
        return at.bodies(stranger.inbound.id)

    (request,) = await until(requested)
    assert (request["op"], request["operator_id"], request["m"]) == (
        "connection_request",
        at.accounts["quinn"].operator_id,
        "Shall we?",
    )
    meeting = ledger.new_topic(f"hcs-10:1:60:2:{stranger.inbound.id}:1")
    created = {"connection_topic_id": meeting.id, "connected_account_id": ledger.operator_id, "connection_id": 1}
    # Somebody else cannot answer for it, nor it for another request.
    await Stranger(ledger).post(stranger.inbound.id, "connection_created", **{**created, "connection_topic_id": "0.0.666"})
    await stranger.post(stranger.inbound.id, "connection_created", **{**created, "connection_id": 7})
    await stranger.post(stranger.inbound.id, "connection_created", **created)

    async def connected_now() -> Any:
        return (await at.office.connections(await at.me("quinn"), Status.ACTIVE)).items

    assert await until(connected_now)
    assert [topic.topic_id for topic in await at.office.ledger.topics() if topic.kind == "connection"] == [meeting.id]
    sent = await at.office.send(await at.me("quinn"), Draft(to=stranger.account.id, content="at last"))
    await at.confirmed("quinn", sent.message_id)
    await stranger.post(meeting.id, "message", data="indeed")
    assert [mail.content for mail in await at.arrived("quinn")] == ["indeed"]


@pytest.mark.parametrize("number", [-(10**30), 10**19, 10**30])
async def test_an_answer_to_a_request_that_no_topic_can_number_stops_no_topic(at: Town, stranger: Stranger, number: int) -> None:
    await at.office.foreign.ask(await at.me("quinn"), stranger.account.id, stranger.inbound.id)
    await at.records(stranger.inbound.id)
    created = {"connection_topic_id": at.ledger.new_topic().id, "connected_account_id": at.ledger.operator_id}
    await stranger.post(stranger.inbound.id, "connection_created", **created, connection_id=number)
    await stranger.post(stranger.inbound.id, "connection_created", **created, connection_id=1)
    assert [record.verdict for record in await at.records(stranger.inbound.id, 2)] == ["asked", "answered"]


@pytest.mark.parametrize("whose", ["inbound", "outbound", "entity", "connection"])
async def test_an_answer_takes_over_no_topic_that_is_anothers(at: Town, stranger: Stranger, ledger: Emulator, whose: str) -> None:
    quinn, mindy = at.accounts["quinn"], at.accounts["mindy"]
    entity, other = ledger.new_topic(), Stranger(ledger)
    await at.office.ledger.watch_topic(at.office.owner(), entity.id, "entity", "task")
    await other.post(quinn.inbound_topic_id, "connection_request")
    connection = (await other.answer(at, quinn.inbound_topic_id))["connection_topic_id"]
    wanted = {"inbound": mindy.inbound_topic_id, "outbound": mindy.outbound_topic_id, "entity": entity.id, "connection": connection}[whose]
    before = await at.office.ledger.topics()
    await at.office.foreign.ask(await at.me("mindy"), stranger.account.id, stranger.inbound.id)

    async def requested() -> Any:
        return at.bodies(stranger.inbound.id)

    await until(requested)
    created = {"connection_topic_id": wanted, "connected_account_id": ledger.operator_id, "connection_id": 1}
    await stranger.post(stranger.inbound.id, "connection_created", **created)
    (why,) = await at.set_aside()
    assert "already" in why
    assert [topic for topic in await at.office.ledger.topics() if topic.kind != "asked"] == before
    assert (await at.office.connections(await at.me("mindy"), Status.ACTIVE)).items == ()


async def test_nobody_of_ours_takes_over_a_topic_or_a_known_agent_by_asking(at: Town, stranger: Stranger, ledger: Emulator) -> None:
    quinn, mindy, entity = at.accounts["quinn"], await at.me("mindy"), ledger.new_topic()
    await at.office.ledger.watch_topic(at.office.owner(), entity.id, "entity", "task")
    await stranger.post(quinn.inbound_topic_id, "connection_request")
    connection = (await stranger.answer(at, quinn.inbound_topic_id))["connection_topic_id"]
    before = (await at.office.ledger.topics(), await at.office.ledger.accounts())
    for topic in (entity.id, connection):
        with pytest.raises(TopicWatched):
            await at.office.foreign.ask(mindy, "0.0.424242", topic)
    for topic in (quinn.inbound_topic_id, quinn.outbound_topic_id or "", stranger.inbound.id):
        with pytest.raises(TopicTaken):
            await at.office.foreign.ask(mindy, "0.0.424242", topic)
    with pytest.raises(Conflict, match="only a request of its own"):
        await at.office.foreign.ask(mindy, stranger.account.id, "0.0.777777")
    assert (await at.office.ledger.topics(), await at.office.ledger.accounts()) == before
    # It may move by itself, though.
    stranger.inbound = ledger.new_topic(f"hcs-10:0:60:0:{stranger.account.id}")
    await stranger.post(quinn.inbound_topic_id, "connection_request")

    async def moved() -> bool:  # topics are listened to one by one: what comes next must not overtake the request
        return stranger.inbound.id in [one.inbound_topic_id for one in await at.office.ledger.accounts()]

    assert await until(moved)
    await stranger.post(connection, "message", data="from my new topic")
    assert [mail.content for mail in await at.arrived("quinn")] == ["from my new topic"]


async def test_the_other_side_closes_the_connection(at: Town, stranger: Stranger) -> None:
    inbound = at.accounts["quinn"].inbound_topic_id
    await stranger.post(inbound, "connection_request")
    topic = (await stranger.answer(at, inbound))["connection_topic_id"]
    await stranger.post(topic, "close_connection", reason="done")

    async def ended() -> Any:
        return (await at.office.connections(await at.me("quinn"), Status.ENDED)).items

    assert await until(ended)
    with pytest.raises(Exception, match="does not take mail"):
        await at.office.send(await at.me("quinn"), Draft(to=stranger.account.id, content="wait"))


async def test_what_was_said_before_the_end_is_mail_though_both_are_read_at_once(at: Town, stranger: Stranger) -> None:
    await closed(at)
    inbound = at.accounts["quinn"].inbound_topic_id
    await stranger.post(inbound, "connection_request")
    await at.office.approve_for(at.office.owner(), (await asked(at)).id)
    topic = (await stranger.answer(at, inbound))["connection_topic_id"]
    at.ledger.freeze_mirror()
    await stranger.post(topic, "message", data="the last word")
    await stranger.post(topic, "close_connection")
    await stranger.post(topic, "message", data="one more")
    at.ledger.thaw_mirror()
    assert [record.verdict for record in await at.records(topic, 3)] == ["delivered", "closed", "quarantined"]
    assert [mail.content for mail in await at.arrived("quinn")] == ["the last word"]


async def test_an_old_answer_does_not_undo_the_end(at: Town, stranger: Stranger, ledger: Emulator) -> None:
    """Whoever ended a connection has asked for none since: neither the same answer again nor one to an older request makes another."""
    quinn, topic = await at.me("quinn"), ledger.new_topic().id

    async def answer(number: int) -> None:
        created = {"connection_topic_id": topic, "connected_account_id": ledger.operator_id, "connection_id": number}
        await stranger.post(stranger.inbound.id, "connection_created", **created)

    async def active() -> Any:
        return (await at.office.connections(quinn, Status.ACTIVE)).items

    for number in (1, 2):
        await at.office.foreign.ask(quinn, stranger.account.id, stranger.inbound.id)
        await at.records(stranger.inbound.id, number)
    await answer(2)
    (made,) = await until(active)
    await answer(2)  # said again while it lasts, it changes nothing
    await at.records(stranger.inbound.id, 4)
    assert [one.id for one in await active()] == [made.id]
    await at.office.end_connection(quinn, made.id)
    await answer(2)
    await answer(1)
    assert all("has ended since" in why for why in await at.set_aside(2))
    assert not await active()
    await at.office.foreign.ask(quinn, stranger.account.id, stranger.inbound.id)
    await at.records(stranger.inbound.id, 7)
    await answer(7)
    assert await until(active)


async def test_two_who_have_several_topics_meet_where_they_were_told_last(at: Town, stranger: Stranger, ledger: Emulator) -> None:
    quinn, topics = await at.me("quinn"), [ledger.new_topic(f"hcs-10:1:60:2:{stranger.inbound.id}:{number}").id for number in (1, 2)]

    async def active(*, wanted: bool) -> Any:
        async def so() -> bool:
            return bool((await at.office.connections(quinn, Status.ACTIVE)).items) == wanted

        await until(so)

    async def meet(topic: str) -> None:
        number = len(at.bodies(stranger.inbound.id)) + 1
        await at.office.foreign.ask(quinn, stranger.account.id, stranger.inbound.id)
        await at.records(stranger.inbound.id, number)
        created = {"connection_topic_id": topic, "connected_account_id": ledger.operator_id, "connection_id": number}
        await stranger.post(stranger.inbound.id, "connection_created", **created)
        await active(wanted=True)

    first, second = topics
    for topic in (first, second, first):
        await meet(topic)
        sent = await at.office.send(quinn, Draft(to=stranger.account.id, content="here?"))
        assert (await at.confirmed("quinn", sent.message_id)).ledger.topic_id == topic
        await stranger.post(topic, "close_connection")
        await active(wanted=False)
    await meet(second)
    await stranger.post(first, "close_connection", reason="we meet elsewhere")
    await stranger.post(first, "message", data="the last word here")  # taken after what stands before it
    await at.arrived("quinn")
    await active(wanted=True)
    # Whoever asks is told the same.
    await stranger.post(at.accounts["quinn"].inbound_topic_id, "connection_request")
    assert (await stranger.answer(at, at.accounts["quinn"].inbound_topic_id))["connection_topic_id"] == second


async def test_a_restart_between_any_two_steps_changes_nothing(tmp_path: Path, ledger: Emulator, stranger: Stranger) -> None:
    engine = SQLiteEngine(tmp_path)
    async with town(engine, ledger) as at:
        await at.settle("quinn")
        accounts = at.accounts
        await closed(at)
        await stranger.post(accounts["quinn"].inbound_topic_id, "connection_request")
        request = await asked(at)
        await until(lambda: at.office.ledger.records(at.office.owner(), accounts["quinn"].inbound_topic_id, 0, 1))
    async with town(engine, ledger, silent=True) as at:
        await at.office.approve_for(at.office.owner(), request.id)
        for _ in range(2):  # killed after the post was put, and again before it was signed
            await Handshake(at.office, at.bridge._mirror, at.bridge._network).open_due(Book(list(accounts.values()), ledger.operator_id))
        assert len(await at.office.ledger.posts_due(10)) == 1
    made = len(ledger.topics)
    async with town(engine, ledger) as at:
        await stranger.answer(at, accounts["quinn"].inbound_topic_id)
    assert len(ledger.topics) == made + 1


async def test_a_restart_before_a_request_was_written_down_changes_nothing(
    tmp_path: Path, ledger: Emulator, stranger: Stranger, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = SQLiteEngine(tmp_path)
    async with town(engine, ledger) as at:
        await at.settle("quinn")
        inbound = at.accounts["quinn"].inbound_topic_id
        await closed(at)
        with monkeypatch.context() as killed:
            killed.setattr(at.office.ledger, "materialise", _never)
            await stranger.post(inbound, "connection_request")
            request = await asked(at)
    async with town(engine, ledger, silent=True) as at:
        assert not await at.office.ledger.records(at.office.owner(), inbound, 0, 1)
        await at.office.approve_for(at.office.owner(), request.id)
    made = len(ledger.topics)
    async with town(engine, ledger) as at:
        await stranger.answer(at, inbound)
    assert len(ledger.topics) == made + 1


async def _never(*_: object, **__: object) -> None:
    raise MirrorAway(why="killed before it was written down")

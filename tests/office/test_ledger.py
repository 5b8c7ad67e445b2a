"""Decision on the ledger (design.md §6): accepted with its outbox row, held until seen, urgent at once, nothing twice."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from postoffice.core.agent import Caller
from postoffice.core.delivery import State
from postoffice.core.draft import Draft
from postoffice.core.envelope import read_body, read_envelope
from postoffice.core.errors import Invalid, MailboxFull, NoSuchAgent, OwnerOnly, RateLimited
from postoffice.core.fingerprint import Body
from postoffice.core.ledger import Account, Delivery, Sighting
from postoffice.core.limits import Limits
from postoffice.core.routing import Route
from postoffice.office import OfficeRules, PostOffice
from postoffice.office.checks import Checks
from postoffice.office.rules import LedgerRules
from postoffice.wake.local import LocalWake
from tests.engines import Engine
from tests.mail import people, standing, take, taken, write

ROUTES = (
    Route(event="task.blocked", to=("mindy", "justin"), priority=1),
    Route(event="task.complete", to=("engine",)),
    Route(event="phase.*", to=("engine", "mindy"), priority=2),
)


def account(agent: str, number: int) -> Account:
    return Account(agent=agent, account_id=f"0.0.{number}", inbound_topic_id=f"0.0.{number + 1}", outbound_topic_id=f"0.0.{number + 2}")


ALICE, BOB = account("alice", 100), account("bob", 200)


@pytest.fixture(params=[LedgerRules(), LedgerRules(private=True)], ids=["full", "private"])
async def desk(request: pytest.FixtureRequest, engine: Engine) -> AsyncIterator[PostOffice]:
    """An office with a ledger, on which alice and bob have topics and carol has none."""
    async with PostOffice(engine.store(), LocalWake(), OfficeRules(ledger=request.param, routes=ROUTES, tick=3600)) as office:
        await people(office, "alice", "bob", "carol")
        for known in (ALICE, BOB):
            await office.ledger.keep_account(office.owner(), known)
        yield office


async def me(office: PostOffice, name: str) -> Caller:
    return await office.identify(name=name)


async def publish(office: PostOffice, to: str = "bob", sender: str = "alice", **fields: Any) -> str:
    draft = Draft(**{"to": to, "type": "fyi", "subject": "s", "payload": {"a": 1}, **fields})
    return (await office.publish(await me(office, sender), draft)).message_id


async def sighting(office: PostOffice, sequence: int = 1, **changes: Any) -> Sighting:
    """What the listener sees of the oldest post."""
    (post, *_) = await office.ledger.posts_due(10)
    body = read_body(read_envelope(post.body.encode()))
    fields: dict[str, Any] = {"payer": ALICE.account_id, "at": "1.0", "raw": post.body, "sender": "alice", "mailbox": "bob", "body": body}
    return Sighting(sequence=sequence, **(fields | changes))


class TestSending:
    async def test_it_is_held_until_it_has_been_seen_and_then_delivered_once(self, desk: PostOffice) -> None:
        bob = await me(desk, "bob")
        id = await publish(desk)
        assert await taken(desk, bob) == []
        assert (await standing(desk, await me(desk, "alice"), id)).state is State.HELD
        seen = await sighting(desk)
        for _ in range(2):
            await desk.ledger.materialise(BOB.inbound_topic_id, 1, (seen,))
        assert len((await desk.receive(bob)).leased) == 1
        assert await desk.ledger.topic_cursors() == {BOB.inbound_topic_id: 1}
        assert await desk.ledger.posts() == {"confirmed": 1}
        assert [(record.verdict, record.message_id) for record in await desk.ledger.records(desk.owner(), BOB.inbound_topic_id, 0)] == [
            ("confirmed", id)
        ]

    @pytest.mark.parametrize("error", [None, "timeout"])
    async def test_what_is_seen_while_it_is_still_being_submitted_is_confirmed(self, desk: PostOffice, error: str | None) -> None:
        await publish(desk)
        (post,) = await desk.ledger.posts_due(10)
        settling = desk.ledger.settle_post(post, error=error, retry_in=None if error is None else timedelta(seconds=1))
        await asyncio.gather(desk.ledger.materialise(BOB.inbound_topic_id, 1, (await sighting(desk),)), settling)
        assert await desk.ledger.posts() == {"confirmed": 1}

    @pytest.mark.parametrize("priority", [1, 2])
    async def test_urgent_mail_is_delivered_at_once_and_confirmed_later(self, desk: PostOffice, priority: int) -> None:
        bob = await me(desk, "bob")
        await publish(desk, priority=priority)
        (leased,) = (await desk.receive(bob)).leased
        await desk.ack(bob, leased.message.id, leased.token)
        await desk.ledger.materialise(BOB.inbound_topic_id, 1, (await sighting(desk),))
        assert (await desk.receive(bob)).leased == ()
        assert await desk.ledger.posts() == {"confirmed": 1}

    async def test_one_that_waits_for_another_try_is_not_let_go_by_its_confirmation(self, desk: PostOffice) -> None:
        bob = await me(desk, "bob")
        await publish(desk, priority=1)
        (leased,) = (await desk.receive(bob)).leased
        await desk.nack(bob, leased.message.id, leased.token, delay=timedelta(hours=1))
        await desk.ledger.materialise(BOB.inbound_topic_id, 1, (await sighting(desk),))
        assert (await desk.receive(bob)).leased == ()

    async def test_whoever_has_no_topics_gets_it_directly_and_the_answer_says_so(self, desk: PostOffice) -> None:
        alice, carol = await me(desk, "alice"), await me(desk, "carol")
        sent = await desk.publish(alice, Draft(to="carol", content="x"))
        assert [one.ledger for one in sent.posted] == ["direct"]
        assert await taken(desk, carol) == ["x"]
        everyone = await desk.publish(alice, Draft(to="ALL", content="y"))
        assert {one.recipient: one.ledger for one in everyone.posted} == {"bob": "awaiting", "carol": "direct"}

    async def test_without_a_ledger_it_goes_directly_and_the_answer_says_so(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        sent = await office.publish(alice, Draft(to="bob", content="x"))
        assert [one.ledger for one in sent.posted] == ["direct"]
        assert await taken(office, bob) == ["x"]

    async def test_a_private_office_says_nothing_on_the_ledger(self, desk: PostOffice) -> None:
        await publish(desk, subject="a secret", payload={"deep": "secret"})
        (post,) = await desk.ledger.posts_due(10)
        assert ("secret" in post.body) is not (desk.rules.ledger or LedgerRules()).private
        assert post.topic_id == BOB.inbound_topic_id

    async def test_a_note_goes_to_its_entity_s_topic_and_to_those_named_at_once(self, desk: PostOffice) -> None:
        alice, bob = await me(desk, "alice"), await me(desk, "bob")
        await desk.note(alice, "0.0.777", "task", "stuck", ["bob"])
        assert await taken(desk, bob) == ["stuck"]
        assert [(post.topic_id, '"task.note"' in post.body) for post in await desk.ledger.posts_due(10)] == [("0.0.777", True)]
        await desk.note(alice, "not-a-topic", "task", "stuck", [])
        assert len(await desk.ledger.posts_due(10)) == 1


class TestTheOutbox:
    async def test_the_signed_bytes_are_kept(self, desk: PostOffice) -> None:
        await publish(desk)
        (post,) = await desk.ledger.posts_due(10)
        await desk.ledger.sign_post(post, "bytes")
        assert [(one.signed, one.attempts) for one in await desk.ledger.posts_due(10)] == [("bytes", 0)]

    async def test_of_two_that_sign_the_first_has_signed(self, desk: PostOffice) -> None:
        await publish(desk)
        (post,) = await desk.ledger.posts_due(10)
        assert [await desk.ledger.sign_post(post, signed) for signed in ("mine", "yours")] == ["mine", "mine"]
        (signed,) = await desk.ledger.posts_due(10)
        assert await desk.ledger.sign_post(signed, None) is None

    async def test_what_waits_no_more_is_not_signed(self, desk: PostOffice) -> None:
        await publish(desk)
        (post,) = await desk.ledger.posts_due(10)
        await desk.ledger.settle_post(post)
        assert await desk.ledger.sign_post(post, "mine") is None

    async def test_what_could_not_be_submitted_waits(self, desk: PostOffice, engine: Engine) -> None:
        await publish(desk)
        (post,) = await desk.ledger.posts_due(10)
        await desk.ledger.settle_post(post, error="busy", retry_in=timedelta(seconds=30))
        assert await desk.ledger.posts_due(10) == []
        await engine.advance(timedelta(seconds=31))
        assert [one.attempts for one in await desk.ledger.posts_due(10)] == [1]

    async def test_what_is_submitted_is_not_submitted_again(self, desk: PostOffice) -> None:
        await publish(desk)
        (post,) = await desk.ledger.posts_due(10)
        await desk.ledger.settle_post(post)
        assert await desk.ledger.posts_due(10) == []
        assert await desk.ledger.posts() == {"submitted": 1}

    async def test_a_permanent_refusal_is_death_and_its_sender_is_told(self, desk: PostOffice) -> None:
        alice, bob = await me(desk, "alice"), await me(desk, "bob")
        id = await publish(desk)
        (post,) = await desk.ledger.posts_due(10)
        await desk.ledger.settle_post(post, error="the topic is gone")
        assert (await standing(desk, alice, id)).state is State.DEAD
        assert "the topic is gone" in str((await taken(desk, alice))[0])
        assert await taken(desk, bob) == []

    async def test_urgent_mail_that_was_delivered_stays_delivered(self, desk: PostOffice) -> None:
        bob = await me(desk, "bob")
        await publish(desk, priority=1)
        (post,) = await desk.ledger.posts_due(10)
        await desk.ledger.settle_post(post, error="the topic is gone")
        assert len((await desk.receive(bob)).leased) == 1

    async def test_urgent_mail_that_was_put_off_waits_for_its_next_try(self, desk: PostOffice) -> None:
        alice, bob = await me(desk, "alice"), await me(desk, "bob")
        id = await publish(desk, priority=1)
        leased = await take(desk, bob)
        await desk.nack(bob, id, leased.token, delay=timedelta(minutes=1))
        (post,) = await desk.ledger.posts_due(10)
        await desk.ledger.settle_post(post, error="the topic is gone")
        assert (await standing(desk, alice, id)).state is State.HELD


class TestWhatIsSeen:
    async def test_a_message_by_another_sender_under_our_id_is_set_aside(self, desk: PostOffice) -> None:
        await publish(desk)
        await desk.ledger.materialise(BOB.inbound_topic_id, 1, (await sighting(desk, sender="carol"),))
        assert (await desk.receive(await me(desk, "bob"))).leased == ()
        (record,) = (await desk.ledger.quarantine(desk.owner())).items
        assert "another's message" in (record.reason or "")

    async def test_an_altered_message_is_set_aside(self, desk: PostOffice) -> None:
        id = await publish(desk)
        await desk.ledger.materialise(BOB.inbound_topic_id, 1, (await sighting(desk, body=Body(id=id, subject="other")),))
        assert (await desk.receive(await me(desk, "bob"))).leased == ()
        (record,) = (await desk.ledger.quarantine(desk.owner())).items
        assert "says something else" in (record.reason or "")

    async def test_mail_of_other_software_is_delivered_once(self, desk: PostOffice) -> None:
        bob = await me(desk, "bob")
        mail = Delivery(sender="carol", draft=Checks(desk.rules.limits).draft(Draft(to="bob", content="from afar", client_id="0.0.201:1")))
        seen = Sighting(sequence=1, payer="0.0.9", at="1.0", raw="{}", deliveries=(mail,))
        for _ in range(2):
            await desk.ledger.materialise(BOB.inbound_topic_id, 1, (seen,))
        assert await taken(desk, bob) == ["from afar"]

    async def test_one_that_is_refused_harms_neither_the_others_nor_the_cursor(self, desk: PostOffice) -> None:
        bob = await me(desk, "bob")
        await desk.update_card(await me(desk, "carol"), {"allow_from": []})
        drafts = [Draft(to="carol", content="no", client_id="1"), Draft(to="bob", content="yes", client_id="2")]
        seen = tuple(
            Sighting(
                sequence=n,
                payer="p",
                at="1.0",
                raw="{}",
                deliveries=(Delivery(sender="alice", draft=Checks(desk.rules.limits).draft(draft)),),
            )
            for n, draft in enumerate(drafts, 1)
        )
        await desk.ledger.materialise("0.0.5", 2, (*seen, Sighting(sequence=3, payer="p", at="1.0", raw="?", refusal="it is torn")))
        assert await taken(desk, bob) == ["yes"]
        assert await desk.ledger.topic_cursors() == {"0.0.5": 2}
        verdicts = [record.verdict for record in await desk.ledger.records(desk.owner(), "0.0.5")]
        assert verdicts == ["quarantined", "delivered", "quarantined"]

    async def test_only_a_hash_of_a_message_nobody_has_is_set_aside(self, desk: PostOffice) -> None:
        seen = Sighting(sequence=1, payer="p", at="1.0", raw="{}", sender="alice", mailbox="bob", body=Body(id="x", hash="0" * 64))
        await desk.ledger.materialise(BOB.inbound_topic_id, 1, (seen,))
        assert len((await desk.ledger.quarantine(desk.owner())).items) == 1


class TestEvents:
    @pytest.mark.parametrize(
        ("event", "told", "priority"),
        [
            ("task.blocked", {"mindy", "justin"}, 1),
            ("task.complete", {"engine"}, 3),
            ("phase.complete", {"engine", "mindy"}, 2),
            ("x", set(), 0),
        ],
    )
    async def test_the_routes_say_who_is_told(self, desk: PostOffice, event: str, told: set[str], priority: int) -> None:
        for _ in range(2):  # the same again is told once
            await desk.event(await me(desk, "alice"), "0.0.7", event, {"why": "review"}, client_id="e1")
        for name in ("mindy", "justin", "engine"):
            got = (await desk.receive(await me(desk, name))).leased
            assert [(one.message.sender, one.message.type, one.message.priority) for one in got] == (
                [("system", event, priority)] if name in told else []
            )

    async def test_one_who_refuses_keeps_it_from_nobody_else(self, engine: Engine) -> None:
        limits = Limits(depth=1)
        async with PostOffice(engine.store(limits), LocalWake(), OfficeRules(limits=limits, routes=ROUTES, tick=3600)) as office:
            alice, mindy, justin = await people(office, "alice", "mindy", "justin")
            await write(office, alice, "mindy", "first")
            for _ in range(2):
                with pytest.raises(MailboxFull):
                    await office.event(alice, "T-7", "task.blocked", client_id="e1")
            assert [message.type for message in (await office.waiting(justin)).items] == ["task.blocked"]
            await office.pop(mindy)
            assert len(await office.event(alice, "T-7", "task.blocked", client_id="e1")) == 2
            assert [message.type for message in (await office.waiting(mindy)).items] == ["task.blocked"]

    async def test_what_one_agent_tells_takes_neither_ids_nor_turns_from_another(self, engine: Engine) -> None:
        limits = Limits(sends_per_minute=2)
        async with PostOffice(engine.store(limits), LocalWake(), OfficeRules(limits=limits, routes=ROUTES, tick=3600)) as office:
            alice, mallory, engine_agent = await people(office, "alice", "mallory", "engine")
            for _ in range(2):
                await office.event(mallory, "T-7", "task.complete", client_id="e1")
            await office.event(mallory, "T-7", "task.complete")
            with pytest.raises(RateLimited, match="mallory"):
                await office.event(mallory, "T-7", "task.complete")
            await office.event(alice, "T-7", "task.complete", client_id="e1")
            told = (await office.waiting(engine_agent)).items
            assert [message.payload["by"] for message in told] == ["mallory", "mallory", "alice"]


class TestWhoHasTopics:
    async def test_the_owner_says_so(self, desk: PostOffice) -> None:
        assert [known.agent for known in await desk.ledger.accounts()] == ["alice", "bob"]
        for refused in (
            desk.ledger.keep_account(await me(desk, "bob"), BOB),
            desk.ledger.watch_topic(await me(desk, "bob"), "0.0.7", "entity", "task"),
            desk.ledger.quarantine(await me(desk, "bob")),
        ):
            with pytest.raises(OwnerOnly):
                await refused

    async def test_nobody_and_nowhere_are_refused(self, desk: PostOffice) -> None:
        with pytest.raises(NoSuchAgent):
            await desk.ledger.keep_account(desk.owner(), account("nobody", 1))
        with pytest.raises(Invalid):
            await desk.ledger.keep_account(
                desk.owner(), Account(agent="bob", account_id="x", inbound_topic_id="0.0.1", outbound_topic_id="0.0.2")
            )

    async def test_topics_are_watched_and_listed(self, desk: PostOffice) -> None:
        await desk.ledger.watch_topic(desk.owner(), "0.0.7", "entity", "task")
        assert [(topic.topic_id, topic.kind, topic.about) for topic in await desk.ledger.topics()] == [("0.0.7", "entity", "task")]

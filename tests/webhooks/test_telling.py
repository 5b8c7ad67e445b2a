"""Webhooks out: what happens is told, signed, in order, again until it is taken, and only where that is allowed."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import timedelta
from ipaddress import ip_network

import pytest
from standardwebhooks import Webhook as Verifier

from postoffice.bridges.webhooks import WebhookBridge
from postoffice.core.errors import MailError, OwnerOnly
from postoffice.core.event import Kind
from postoffice.core.for_you import MatterKind
from postoffice.core.webhook import Shape, Webhook, WebhookState
from postoffice.office import PostOffice
from tests.engines import Engine
from tests.mail import people, take, write
from tests.webhooks.receiver import Got, Receiver

LOOPBACK = (ip_network("127.0.0.0/8"),)
DAY = timedelta(days=1)


def telling(office: PostOffice) -> AbstractAsyncContextManager[WebhookBridge]:
    return WebhookBridge(office, LOOPBACK, pause=0.01)


async def until(true: Callable[[], object]) -> None:
    async with asyncio.timeout(20):
        while not true():  # noqa: ASYNC110 - another thread changes it
            await asyncio.sleep(0.01)


async def seen(office: PostOffice, true: Callable[[Webhook], object]) -> Webhook:
    """The webhook, once that is true of it."""
    async with asyncio.timeout(20):
        while not true(found := await office.webhooks.get(office.owner(), "ci")):  # noqa: ASYNC110 - the bridge changes it
            await asyncio.sleep(0.01)
    return found


def verified(secret: str, got: Got) -> None:
    Verifier(secret).verify(got.body, got.headers)


class TestWhatIsTold:
    async def test_a_letter_is_told_signed_and_without_its_body(self, office: PostOffice, receiver: Receiver) -> None:
        alice, bob = await people(office, "alice", "bob")
        _, secret = await office.webhooks.add(office.owner(), "ci", receiver.url, events=[Kind.NEW_MESSAGE])
        async with telling(office):
            sent = await write(office, alice, "bob", "the launch code is 1234", subject="Launch")
            await until(lambda: receiver.taken)
        (got,) = receiver.taken
        verified(secret, got)
        with pytest.raises(Exception, match=r"[Nn]o matching signature"):
            Verifier(secret).verify(got.body + b" ", got.headers)
        assert got.told["type"] == "new_message"
        data = got.told["data"]
        assert (data["agent"], data["ref"], data["message"]["from"]) == ("bob", sent.message_id, "alice")
        assert data["message"]["subject"] == "Launch"
        assert data["session_id"] is not None
        assert b"1234" not in got.body
        assert (await seen(office, lambda it: it.delivered_at)).waiting == 0
        assert (await take(office, bob)).message.id == sent.message_id, "telling takes nothing"

    async def test_its_body_is_told_where_that_was_asked_for(self, office: PostOffice, receiver: Receiver) -> None:
        (alice, _) = await people(office, "alice", "bob")
        await office.webhooks.add(office.owner(), "ci", receiver.url, bodies=True, agents=["BOB"])
        async with telling(office):
            await write(office, alice, "bob", "in full", payload={"n": 1})
            await until(lambda: receiver.taken)
        message = receiver.taken[0].told["data"]["message"]
        assert (message["content"], message["payload"]) == ("in full", {"n": 1})

    async def test_only_chosen_events_of_chosen_agents_are_told(self, office: PostOffice, receiver: Receiver) -> None:
        alice, bob, _ = await people(office, "alice", "bob", "carol")
        await office.webhooks.add(office.owner(), "ci", receiver.url, events=[Kind.RECEIPT], agents=["alice"])
        async with telling(office):
            await write(office, alice, "carol")
            await write(office, alice, "bob")
            leased = await take(office, bob)
            await office.ack(bob, leased.message.id, leased.token)
            await until(lambda: receiver.taken)
            await write(office, bob, "alice")
        assert [(got.told["type"], got.told["data"]["by"]) for got in receiver.got] == [("receipt", "bob")]

    async def test_slack_is_told_a_line_that_cannot_call_anybody(self, office: PostOffice, receiver: Receiver) -> None:
        (alice, _) = await people(office, "alice", "bob")
        await office.webhooks.add(office.owner(), "team", receiver.url, shape=Shape.SLACK, events=[Kind.NEW_MESSAGE])
        async with telling(office):
            await write(office, alice, "bob", "secret", subject="<!channel> now")
            await until(lambda: receiver.taken)
        assert receiver.taken[0].told == {"text": "bob: has new mail from alice: &lt;!channel&gt; now"}

    async def test_what_happened_before_it_was_added_is_not_told(self, office: PostOffice, receiver: Receiver) -> None:
        (alice, _) = await people(office, "alice", "bob")
        await write(office, alice, "bob", subject="before")
        await office.webhooks.add(office.owner(), "ci", receiver.url)
        await write(office, alice, "bob", subject="after")
        async with telling(office):
            await until(lambda: receiver.taken)
        assert [got.told["data"]["message"]["subject"] for got in receiver.got] == ["after"]

    async def test_a_new_secret_signs_at_once_and_the_old_one_for_a_day(self, office: PostOffice, receiver: Receiver) -> None:
        (alice, _) = await people(office, "alice", "bob")
        _, old = await office.webhooks.add(office.owner(), "ci", receiver.url)
        _, new = await office.webhooks.rotate(office.owner(), "ci")
        async with telling(office):
            await write(office, alice, "bob")
            await until(lambda: receiver.taken)
        verified(old, receiver.taken[0])
        verified(new, receiver.taken[0])


class TestAgainUntilItIsTaken:
    async def test_what_is_refused_is_sent_again_under_the_same_id(self, engine: Engine, office: PostOffice, receiver: Receiver) -> None:
        (alice, _) = await people(office, "alice", "bob")
        await office.webhooks.add(office.owner(), "ci", receiver.url)
        receiver.status = 503
        async with telling(office):
            await write(office, alice, "bob")
            await until(lambda: receiver.got)
            receiver.status = 200
            await asyncio.sleep(0.1)
            assert not receiver.taken, "it waits for its next attempt"
            await engine.advance(timedelta(seconds=6))
            await until(lambda: receiver.taken)
        assert len({got.id for got in receiver.got}) == 1

    async def test_a_session_stays_in_order_and_holds_up_no_other(self, engine: Engine, office: PostOffice, receiver: Receiver) -> None:
        (alice, _) = await people(office, "alice", "bob")
        await office.webhooks.add(office.owner(), "ci", receiver.url, events=[Kind.NEW_MESSAGE])
        receiver.refused = {"first"}
        for subject, mark in (("one", "first"), ("one", "second"), ("two", "third")):
            await write(office, alice, "bob", subject=subject, correlation_id=mark)

        def marks() -> list[str]:
            return [got.told["data"]["message"]["correlation_id"] for got in receiver.taken]

        async with telling(office):
            await until(lambda: marks() == ["third"])
            receiver.refused = set()
            await engine.advance(timedelta(minutes=1))
            await until(lambda: len(marks()) == 3)
        assert marks() == ["third", "first", "second"]

    async def test_another_process_goes_on_where_this_one_ended(self, engine: Engine, office: PostOffice, receiver: Receiver) -> None:
        (alice, _) = await people(office, "alice", "bob")
        await office.webhooks.add(office.owner(), "ci", receiver.url, events=[Kind.NEW_MESSAGE])
        for number in range(3):
            await write(office, alice, "bob", correlation_id=str(number))
        async with telling(office):
            await until(lambda: len(receiver.taken) == 3)
        for number in range(3, 6):
            await write(office, alice, "bob", correlation_id=str(number))
        await engine.advance(timedelta(seconds=20))  # the duty ends
        async with telling(office):
            await until(lambda: len(receiver.taken) == 6)
        assert [got.told["data"]["message"]["correlation_id"] for got in receiver.got] == list("012345")


class TestItEnds:
    async def test_one_that_says_gone_is_told_nothing_more(self, office: PostOffice, receiver: Receiver) -> None:
        (alice, _) = await people(office, "alice", "bob")
        await office.webhooks.add(office.owner(), "ci", receiver.url)
        receiver.status = 410
        async with telling(office):
            await write(office, alice, "bob")
            await seen(office, lambda it: it.state is not WebhookState.ACTIVE)
            await write(office, alice, "bob")
            await asyncio.sleep(0.1)
            assert len(receiver.got) == 1
            (matter,) = [one for one in (await office.for_you(office.owner())).matters if one.kind is MatterKind.WEBHOOK]
            assert (matter.id, matter.can) == ("ci", ("resume", "remove"))
            assert "gone" in matter.what
            assert "/hook" not in matter.what + matter.text, "the rest of an address may be a secret"
            receiver.status = 200
            await office.webhooks.resume(office.owner(), "ci")
            await until(lambda: len(receiver.taken) == 2)
            assert await office.for_you_count(office.owner()) == 0

    async def test_one_that_takes_nothing_for_three_days_is_dead_and_told_of(
        self, engine: Engine, office: PostOffice, receiver: Receiver
    ) -> None:
        (alice, _) = await people(office, "alice", "bob")
        await office.webhooks.add(office.owner(), "ci", receiver.url)
        receiver.status = 500
        async with telling(office):
            await write(office, alice, "bob")
            await until(lambda: receiver.got)
            await engine.advance(3 * DAY)
            await seen(office, lambda it: it.state is not WebhookState.ACTIVE)
            found = await office.webhooks.get(office.owner(), "ci")
            assert (found.state, found.waiting, found.error) == ("dead", 1, "it answered 500")
            assert [one.kind for one in (await office.for_you(office.owner())).matters] == [MatterKind.WEBHOOK]
            receiver.status = 200
            await office.webhooks.resume(office.owner(), "ci")
            await until(lambda: receiver.taken)

    async def test_one_event_that_is_never_taken_ends_only_itself(self, engine: Engine, office: PostOffice, receiver: Receiver) -> None:
        (alice, _) = await people(office, "alice", "bob")
        await office.webhooks.add(office.owner(), "ci", receiver.url, events=[Kind.NEW_MESSAGE])
        receiver.refused = {"poison"}
        async with telling(office):
            await write(office, alice, "bob", subject="poison")
            await until(lambda: receiver.got)
            await write(office, alice, "bob", subject="fine")
            await until(lambda: receiver.taken)
            await engine.advance(3 * DAY)
            found = await seen(office, lambda it: it.failed)
        assert (found.state, found.waiting, found.failed) == ("active", 0, 1)
        assert "left out 1" in (await office.for_you(office.owner())).matters[0].what

    async def test_what_is_paused_is_told_nothing_until_it_goes_on_with_everything(self, office: PostOffice, receiver: Receiver) -> None:
        (alice, _) = await people(office, "alice", "bob")
        await office.webhooks.add(office.owner(), "ci", receiver.url, events=[Kind.NEW_MESSAGE])
        async with telling(office):
            await write(office, alice, "bob", correlation_id="0")
            await until(lambda: receiver.taken)
            assert (await office.webhooks.pause(office.owner(), "ci")).state is WebhookState.PAUSED
            for number in range(1, 4):
                await write(office, alice, "bob", correlation_id=str(number))
            await asyncio.sleep(0.1)
            assert len(receiver.got) == 1
            assert await office.for_you_count(office.owner()) == 0, "its owner knows"
            await office.webhooks.resume(office.owner(), "ci")
            await until(lambda: len(receiver.taken) == 4)
        assert [got.told["data"]["message"]["correlation_id"] for got in receiver.got] == list("0123")

    async def test_a_pause_stops_also_what_is_on_its_way(self, engine: Engine, office: PostOffice, receiver: Receiver) -> None:
        (alice, _) = await people(office, "alice", "bob")
        await office.webhooks.add(office.owner(), "ci", receiver.url)
        receiver.status = 500
        async with telling(office):
            await write(office, alice, "bob")
            found = await seen(office, lambda it: it.error)
            assert found.next_try_at is not None
            assert timedelta(0) < found.next_try_at - found.created_at <= timedelta(seconds=6)
            paused = await office.webhooks.pause(office.owner(), "ci")
            assert (paused.waiting, paused.next_try_at) == (1, None)
            receiver.status = 200
            await engine.advance(timedelta(minutes=1))
            await asyncio.sleep(0.1)
            assert receiver.taken == []
            await office.webhooks.resume(office.owner(), "ci")
            await until(lambda: receiver.taken)

    async def test_what_is_removed_is_told_nothing_more(self, office: PostOffice, receiver: Receiver) -> None:
        (alice, _) = await people(office, "alice", "bob")
        await office.webhooks.add(office.owner(), "ci", receiver.url)
        await write(office, alice, "bob")
        await office.webhooks.remove(office.owner(), "ci")
        async with telling(office):
            await asyncio.sleep(0.1)
        assert receiver.got == []
        assert await office.webhooks.all(office.owner()) == ()


class TestWhereItMayGo:
    async def test_a_private_address_is_not_posted_to_unless_the_owner_allows_it(self, office: PostOffice, receiver: Receiver) -> None:
        (alice, _) = await people(office, "alice", "bob")
        await office.webhooks.add(office.owner(), "ci", receiver.url.replace("127.0.0.1", "localhost"))
        async with WebhookBridge(office, (), pause=0.01):
            await write(office, alice, "bob")
            found = await seen(office, lambda it: it.error)
        assert receiver.got == []
        assert "may not be posted to" in (found.error or "")

    async def test_a_redirect_is_not_followed(self, office: PostOffice, receiver: Receiver) -> None:
        (alice, _) = await people(office, "alice", "bob")
        await office.webhooks.add(office.owner(), "ci", receiver.url)
        receiver.status, receiver.headers = 307, {"Location": receiver.url + "/elsewhere"}
        async with telling(office):
            await write(office, alice, "bob")
            found = await seen(office, lambda it: it.error)
        assert found.error == "it answered 307"
        assert {got.path for got in receiver.got} == {"/hook"}

    async def test_none_but_the_owner_keeps_webhooks(self, office: PostOffice) -> None:
        (alice,) = await people(office, "alice")
        for verb in (
            office.webhooks.all(alice),
            office.webhooks.add(alice, "ci", "https://a.example/"),
            office.webhooks.remove(alice, "ci"),
            office.webhooks.pause(alice, "ci"),
            office.webhooks.resume(alice, "ci"),
            office.webhooks.rotate(alice, "ci"),
        ):
            with pytest.raises(OwnerOnly):
                await verb

    async def test_bad_input_is_refused_with_a_reason(self, office: PostOffice) -> None:
        owner = office.owner()
        for name, url, code in (
            ("c i", "https://a.example/", "invalid"),
            ("ci", "ftp://a.example/", "invalid"),
            ("ci", "https://me:pw@a.example/", "invalid"),
            ("ci", "https:///path", "invalid"),
        ):
            with pytest.raises(MailError) as refused:
                await office.webhooks.add(owner, name, url)
            assert refused.value.code == code
        await office.webhooks.add(owner, "ci", "https://a.example/")
        with pytest.raises(MailError, match="already"):
            await office.webhooks.add(owner, "ci", "https://a.example/")
        with pytest.raises(MailError, match="no webhook"):
            await office.webhooks.resume(owner, "other")

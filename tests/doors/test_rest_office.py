"""The office about itself over REST: its log, its numbers, what the owner sees, and whether it is well."""

import asyncio

import pytest

from postoffice import __version__
from postoffice.core.agent import new_key
from postoffice.core.errors import DatabaseLost
from tests.doors.callers import Callers, done, events, refused, send, take, two
from tests.doors.served import Served


class TestNews:
    async def test_the_log_goes_on_after_a_cursor(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        await send(alice, "bob", "one")
        page = done(await bob.get("/events"))
        assert [(event["type"], event["content"], event["from_agent"]) for event in page["events"]] == [("new_message", "one", "alice")]
        assert page["cursor"] == page["events"][-1]["cursor"]
        await send(alice, "bob", "two")
        assert [event["content"] for event in await events(bob, after=page["cursor"])] == ["two"]

    async def test_a_sender_hears_that_its_message_was_settled(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        sent = await send(alice, "bob")
        done(await bob.post("/messages/pop"))
        (receipt,) = await events(alice)
        assert (receipt["type"], receipt["message_id"], receipt["by"]) == ("receipt", sent["message_id"], "bob")

    async def test_a_waiter_is_told_as_it_happens(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        await send(alice, "bob", "before")
        cursor = done(await bob.get("/events"))["cursor"]
        waiting = asyncio.create_task(events(bob, after=cursor, wait=20))
        async with asyncio.timeout(30):
            while "bob" not in callers.served.office._bells.names():  # noqa: ASYNC110 - a bell says nothing when it is hung up
                await asyncio.sleep(0.01)
            await send(alice, "bob", "now")
            assert [event["content"] for event in await waiting] == ["now"]

    async def test_nothing_in_time_is_an_empty_answer_with_the_same_cursor(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        await send(alice, "bob")
        cursor = done(await bob.get("/events"))["cursor"]
        assert done(await bob.get("/events", params={"after": cursor, "wait": 0.05})) == {"events": [], "cursor": cursor}

    async def test_a_cursor_is_a_number_and_waiting_has_an_end(self, callers: Callers) -> None:
        _, bob = await two(callers)
        for query in ({"after": "x"}, {"after": "-1"}, {"after": "9" * 30}, {"wait": "241"}, {"wait": "-1"}, {"wait": "nan"}):
            refused(await bob.get("/events", params=query), 422)


class TestNumbers:
    async def test_a_mailbox_in_numbers(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        empty = done(await bob.get("/mailbox"))
        assert empty == {"held": 0, "pending": 0, "leased": 0, "dead": 0, "counted": 0, "unread": 0, "oldest_waiting": None, "paused": None}
        for _ in range(3):
            await send(alice, "bob")
        await take(bob, limit=1)
        counts = done(await bob.get("/mailbox"))
        assert (counts["pending"], counts["leased"], counts["counted"]) == (2, 1, 3)
        assert counts["oldest_waiting"] >= 0

    async def test_the_owner_sees_the_whole_office_and_nobody_else_does(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        owner = await callers.owner()
        await send(alice, "bob")
        await send(bob, "alice")
        await take(bob)
        totals = done(await owner.get("/owner/totals"))
        assert (totals["pending"], totals["leased"], totals["dead"]) == (1, 1, 0)
        assert totals["agents"] >= 2
        log = done(await owner.get("/owner/events"))["events"]
        assert {"alice", "bob"} <= {entry["agent"] for entry in log}
        for path in ("/owner/totals", "/owner/events"):
            refused(await alice.get(path), 403, "owner_only")
            async with callers.served.client() as anyone:
                refused(await anyone.get(path), 401)

    async def test_the_owner_looks_into_any_mailbox_and_settles_nothing(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        owner = await callers.owner()
        sent = await send(alice, "bob", "private")
        assert done(await owner.get("/inbox", params={"of": "bob"}))["sessions"][0]["unread_count"] == 1
        assert done(await owner.get("/messages/waiting", params={"of": "bob"}))["messages"][0]["content"] == "private"
        assert done(await owner.get("/mailbox", params={"of": "bob"}))["pending"] == 1
        assert done(await owner.get(f"/sessions/{sent['session_id']}/history"))["messages"][0]["is_read"] is False
        assert done(await owner.get(f"/messages/{sent['message_id']}/status"))["standings"][0]["state"] == "pending"
        assert done(await bob.get("/agents/me"))["unread"] == 1

    async def test_nobody_else_looks_into_the_mailboxes_of_others(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        for path in ("/inbox", "/messages/waiting", "/mailbox"):
            refused(await alice.get(path, params={"of": "bob"}), 403, "owner_only")
            assert (await bob.get(path, params={"of": "Bob"})).is_success

    async def test_a_mailbox_of_nobody_is_404(self, callers: Callers) -> None:
        owner = await callers.owner()
        for method, path in (("GET", "/mailbox"), ("POST", "/agents/me/keys/rotate"), ("POST", "/agents/me/keys/revoke")):
            refused(await owner.request(method, path, params={"of": "nobody"}), 404, "no_such_agent")


class TestHealth:
    async def test_anybody_may_ask_whether_it_is_well(self, guarded: Served) -> None:
        async with guarded.client() as anyone:
            assert done(await anyone.get("/health")) == {"status": "ok", "version": __version__}
            assert done(await anyone.get("/ready")) == {"status": "ready", "version": __version__, "hints": "carried"}
            assert done(await anyone.get("/version")).items() >= {"version": __version__, "auth": "keys", "handshake": "human"}.items()

    async def test_an_office_that_closes_is_alive_and_not_ready(self, served: Served) -> None:
        async with served.client() as anyone:
            served.office.drain()
            refused(await anyone.get("/ready"), 503, "closed")
            done(await anyone.get("/health"))

    async def test_its_numbers_are_for_prometheus(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        await send(alice, "bob")
        refused(await bob.post("/messages/a/b/ack"), 404)
        async with callers.served.client() as anyone:
            shown = await anyone.get("/metrics")
        assert shown.headers["content-type"].startswith("text/plain")
        assert 'postoffice_mail{state="pending"} 1.0' in shown.text
        assert 'postoffice_requests_total{method="POST",route="/messages/send",status="201"} 1.0' in shown.text
        assert 'postoffice_requests_total{method="POST",route="/messages/{message_id}/ack",status="404"} 1.0' in shown.text
        assert "bob" not in shown.text

    async def test_where_keys_are_required_the_numbers_are_the_owners(self, guarded: Served) -> None:
        async with Callers(guarded) as callers:
            alice, owner = await callers.join("alice"), await callers.owner()
            assert (await owner.get("/metrics")).is_success
            refused(await alice.get("/metrics"), 403, "owner_only")
            async with guarded.client() as anyone:
                refused(await anyone.get("/metrics"), 401)

    async def test_while_the_database_is_away_the_owner_is_told_what_the_process_knows(
        self, guarded: Served, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        async def lost(*_: object) -> object:
            raise DatabaseLost(why="gone")

        async with Callers(guarded) as callers:
            alice, owner = await callers.join("alice"), await callers.owner()
            whole = (await owner.get("/metrics")).text
            assert "postoffice_database_answers 1.0" in whole
            assert "postoffice_agents 1.0" in whole
            await alice.get("/agents/me")
            with monkeypatch.context() as away:
                guarded.office._identities._known = {key: (caller, 0) for key, (caller, _) in guarded.office._identities._known.items()}
                away.setattr(guarded.office.store, "ping", lost)
                away.setattr(guarded.office.store.agents, "by_key", lost)
                told = (await owner.get("/metrics")).text
                assert "postoffice_database_answers 0.0" in told
                assert "postoffice_waiters 0.0" in told
                assert "postoffice_agents" not in told
                assert "postoffice_mail" not in told
                refused(await alice.get("/metrics"), 403, "owner_only")
                async with guarded.client() as anyone:
                    refused(await anyone.get("/metrics"), 401)
                    refused(await anyone.get("/metrics", headers={"X-API-Key": new_key()}), 503, "database_lost")
            assert "postoffice_agents 1.0" in (await owner.get("/metrics")).text

"""Agents over REST: who is there, what they say of themselves, their keys, and their connections."""

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta

import httpx
import pytest

from tests.doors.callers import Callers, ask, connect, done, events, refused, send
from tests.doors.served import Served
from tests.engines import Engine


@pytest.fixture
async def callers(guarded: Served) -> AsyncIterator[Callers]:
    async with Callers(guarded) as found:
        yield found


@pytest.fixture
async def locals_(served: Served) -> AsyncIterator[Callers]:
    async with Callers(served) as found:
        yield found


async def refused_soon(client: httpx.AsyncClient) -> None:
    """A key that has run out is forgotten within a second."""
    async with asyncio.timeout(30):
        while (await client.get("/agents/me")).is_success:  # noqa: ASYNC110 - memory of a key has no event
            await asyncio.sleep(0.05)
    refused(await client.get("/agents/me"), 401, "bad_key")


async def waits(callers: Callers, client: httpx.AsyncClient, way: str) -> asyncio.Task[httpx.Response]:
    """A call of bob's that waits for mail or for news."""
    cursor = done(await client.get("/events"))["cursor"]
    news = way == "/events"
    call = client.get(way, params={"after": cursor, "wait": 20}) if news else client.post(way, json={"wait": 20})
    waiting = asyncio.create_task(call)
    async with asyncio.timeout(30):
        while "bob" not in callers.served.office._bells.names():  # noqa: ASYNC110 - a bell says nothing when it is hung up
            await asyncio.sleep(0.01)
    await callers.served.office.store.ping()
    return waiting


class TestTheDirectory:
    async def test_everyone_is_listed_with_card_and_presence(self, callers: Callers) -> None:
        alice = await callers.join("alice", description="reviews code", capabilities=["review"], model="m-1", display_name="Alice")
        await callers.register("bob", max_concurrent_tasks=5)
        listed = {agent["name"]: agent for agent in done(await alice.get("/agents"))["agents"]}
        assert {"alice", "bob"} <= listed.keys()
        shown = listed["alice"]
        assert (shown["description"], shown["capabilities"], shown["model"]) == ("reviews code", ["review"], "m-1")
        assert (shown["display_name"], shown["presence"], shown["has_key"]) == ("Alice", "idle", True)
        assert (listed["bob"]["max_concurrent_tasks"], listed["bob"]["presence"]) == (5, "offline")
        assert done(await alice.get("/agents/BOB")) == listed["bob"]

    async def test_others_see_no_contact_and_no_list_of_friends(self, callers: Callers) -> None:
        await callers.register("alice", owner_contact="alice@example.com", allow_from=["bob"], metadata={"secret": 1})
        seen = done(await (await callers.join("bob")).get("/agents/alice"))
        assert not {"owner_contact", "allow_from", "metadata"} & seen.keys()

    async def test_an_unknown_agent_is_404_with_a_guess(self, callers: Callers) -> None:
        alice = await callers.join("alice")
        assert "alice" in refused(await alice.get("/agents/alic"), 404, "no_such_agent")


class TestOneself:
    async def test_an_agent_sees_all_of_itself(self, locals_: Callers) -> None:
        alice, bob = await locals_.join("alice", owner_contact="alice@example.com", allow_from=["*"]), await locals_.join("bob")
        await send(bob, "alice")
        me = done(await alice.get("/agents/me"))
        assert (me["name"], me["owner_contact"], me["allow_from"], me["has_key"]) == ("alice", "alice@example.com", ["*"], True)
        assert (me["unread"], me["leased"], me["dead"], me["tasks"]) == (1, 0, 0, [])

    async def test_a_card_is_changed_where_it_is_given_and_stays_elsewhere(self, callers: Callers) -> None:
        alice = await callers.join("alice", description="reviews code", capabilities=["review"], owner_contact="a@example.com")
        changed = done(await alice.patch("/agents/me", json={"capabilities": ["write"], "metadata": {"a": [1, None]}}))
        assert (changed["description"], changed["capabilities"], changed["metadata"]) == ("reviews code", ["write"], {"a": [1, None]})
        cleared = done(await alice.patch("/agents/me", json={"owner_contact": None}))
        assert (cleared["owner_contact"], cleared["capabilities"]) == (None, ["write"])
        assert done(await alice.get("/agents/me"))["description"] == "reviews code"

    async def test_a_card_has_no_other_fields(self, callers: Callers) -> None:
        alice = await callers.join("alice")
        refused(await alice.patch("/agents/me", json={"name": "bob"}), 422)
        refused(await alice.patch("/agents/me", json={"capabilities": "review"}), 422)

    async def test_allow_from_admits_who_is_named_there(self, callers: Callers) -> None:
        alice, bob = await callers.join_all("alice", "bob")
        letter = {"to": "alice", "subject": "Hi", "content": "Hello"}
        refused(await bob.post("/messages/send", json=letter), 403, "not_admitted")
        done(await alice.patch("/agents/me", json={"allow_from": ["Bob"]}))
        done(await bob.post("/messages/send", json=letter), 201)

    async def test_who_leaves_is_offline_until_its_next_call(self, callers: Callers) -> None:
        alice, bob = await callers.join_all("alice", "bob")
        assert done(await alice.post("/agents/me/heartbeat")) == {"name": "alice", "presence": "idle"}
        assert done(await bob.get("/agents/alice"))["presence"] == "idle"
        assert done(await alice.post("/agents/me/leave")) == {"name": "alice", "presence": "offline"}
        assert done(await bob.get("/agents/alice"))["presence"] == "offline"
        done(await alice.post("/agents/me/heartbeat"))
        assert done(await bob.get("/agents/alice"))["presence"] == "idle"


class TestKeys:
    async def test_keys_are_listed_by_their_beginning_only(self, callers: Callers) -> None:
        key = await callers.register("alice")
        listed = await (await callers.client(key=key)).get("/agents/me/keys")
        (shown,) = done(listed)["keys"]
        assert (shown["agent"], shown["prefix"], shown["expires_at"], shown["revoked_at"]) == ("alice", key[:8], None, None)
        assert key not in listed.text

    async def test_after_a_rotation_the_old_key_works_until_the_overlap_is_over(self, callers: Callers, engine: Engine) -> None:
        old = await callers.join("alice")
        made = done(await old.post("/agents/me/keys/rotate", json={"overlap": 60}), 201)
        assert made["api_key"].startswith(made["key"]["prefix"])
        new = await callers.client(key=made["api_key"])
        for client in (old, new):
            assert done(await client.get("/agents/me"))["name"] == "alice"
        assert [key["expires_at"] is None for key in done(await new.get("/agents/me/keys"))["keys"]].count(False) == 1
        await engine.advance(timedelta(seconds=60))
        await refused_soon(old)
        done(await new.get("/agents/me"))

    async def test_a_rotation_without_a_word_overlaps_for_a_day(self, callers: Callers, engine: Engine) -> None:
        old = await callers.join("alice")
        done(await old.post("/agents/me/keys/rotate"), 201)
        await engine.advance(timedelta(hours=23))
        done(await old.get("/agents/me"))
        await engine.advance(timedelta(hours=1))
        await refused_soon(old)

    async def test_a_rotation_without_overlap_ends_the_old_key_at_once(self, callers: Callers) -> None:
        old = await callers.join("alice")
        new = await callers.client(key=done(await old.post("/agents/me/keys/rotate", json={"overlap": 0}), 201)["api_key"])
        refused(await old.get("/agents/me"), 401, "bad_key")
        done(await new.get("/agents/me"))

    async def test_a_revoked_key_is_refused_at_once_and_others_stay(self, callers: Callers) -> None:
        old_key = await callers.register("alice")
        old = await callers.client(key=old_key)
        new = await callers.client(key=done(await old.post("/agents/me/keys/rotate"), 201)["api_key"])
        revoked = done(await new.post("/agents/me/keys/revoke", json={"prefix": old_key[:8]}))["keys"]
        assert [(key["prefix"], key["revoked_at"] is None) for key in revoked] == [(old_key[:8], False)]
        refused(await old.get("/agents/me"), 401, "bad_key")
        done(await new.get("/agents/me"))

    @pytest.mark.parametrize("way", ["/messages/wait", "/events"])
    async def test_a_key_that_is_revoked_is_refused_where_it_waits_and_nothing_is_taken_with_it(self, callers: Callers, way: str) -> None:
        key = await callers.register("bob", allow_from=["*"])
        bob, alice, owner = await callers.client(key=key), await callers.join("alice"), await callers.owner()
        waiting = await waits(callers, bob, way)
        done(await owner.post("/agents/me/keys/revoke?of=bob"))
        refused(await asyncio.wait_for(waiting, 30), 401, "bad_key")
        await send(alice, "bob")
        assert done(await owner.get("/mailbox", params={"of": "bob"}))["pending"] == 1

    @pytest.mark.parametrize("way", ["/messages/wait", "/events"])
    async def test_a_bare_name_that_gets_a_key_is_refused_where_it_waits(self, locals_: Callers, way: str) -> None:
        ((bob,), owner) = await locals_.named("bob"), await locals_.owner()
        waiting = await waits(locals_, bob, way)
        done(await owner.post("/agents/register", json={"name": "bob"}), 201)
        refused(await asyncio.wait_for(waiting, 30), 401, "key_required")

    async def test_a_key_nobody_has_cannot_be_revoked(self, callers: Callers) -> None:
        alice = await callers.join("alice")
        refused(await alice.post("/agents/me/keys/revoke", json={"prefix": "amb_zzzz"}), 404, "no_such_key")

    async def test_a_name_whose_keys_are_all_revoked_stays_locked(self, locals_: Callers) -> None:
        alice = await locals_.join("alice")
        done(await alice.post("/agents/me/keys/revoke"))
        refused(await alice.get("/agents/me"), 401, "bad_key")
        (impostor,) = await locals_.named("alice")
        refused(await impostor.get("/agents/me"), 401, "key_required")
        owner = await locals_.owner()
        again = done(await owner.post("/agents/me/keys/rotate", params={"of": "alice"}), 201)["api_key"]
        assert done(await (await locals_.client(key=again)).get("/agents/me"))["name"] == "alice"

    async def test_whoever_merely_says_a_name_cannot_lock_it(self, locals_: Callers) -> None:
        (alice,) = await locals_.named("alice")
        refused(await alice.post("/agents/me/keys/rotate"), 403, "owner_only")

    async def test_only_the_owner_has_to_do_with_keys_and_cards_of_others(self, callers: Callers) -> None:
        alice, _ = await callers.join_all("alice", "bob")
        owner = await callers.owner()
        calls = [("GET", "/agents/me/keys"), ("POST", "/agents/me/keys/rotate"), ("POST", "/agents/me/keys/revoke")]
        for method, path in calls:
            refused(await alice.request(method, path, params={"of": "bob"}), 403, "owner_only")
        refused(await alice.patch("/agents/me", params={"of": "bob"}, json={"description": "mine"}), 403, "owner_only")
        for method, path in calls:
            assert (await owner.request(method, path, params={"of": "bob"})).is_success
        changed = done(await owner.patch("/agents/me", params={"of": "bob"}, json={"description": "ours"}))
        assert (changed["name"], changed["description"]) == ("bob", "ours")


class TestConnections:
    async def test_pending_requests_say_which_way_they_go(self, callers: Callers) -> None:
        alice, bob = await callers.join_all("alice", "bob")
        asked = await ask(alice, "bob")
        for side, direction in ((alice, "outgoing"), (bob, "incoming")):
            (request,) = done(await side.get("/connections/pending"))["pending"]
            assert (request["connection_id"], request["direction"]) == (asked["connection_id"], direction)
            assert (request["from_agent_name"], request["to_agent_name"]) == ("alice", "bob")
            assert request["created_at"] < request["expires_at"]

    async def test_a_rejected_request_is_told_to_its_requester(self, callers: Callers) -> None:
        alice, bob = await callers.join_all("alice", "bob")
        id = (await ask(alice, "bob"))["connection_id"]
        assert done(await bob.post(f"/connections/{id}/reject"))["status"] == "REJECTED"
        (told,) = await events(alice)
        assert (told["type"], told["connection_id"], told["other_agent"]) == ("connection_rejected", id, "bob")
        refused(await bob.post(f"/connections/{id}/reject"), 404, "no_such_connection")
        await ask(alice, "bob")

    async def test_an_ended_connection_admits_nobody(self, callers: Callers) -> None:
        alice, bob = await callers.join_all("alice", "bob")
        id = await connect(alice, bob, "bob")
        await send(alice, "bob")
        assert done(await bob.post(f"/connections/{id}/end"))["status"] == "ENDED"
        assert (await events(alice))[-1]["type"] == "connection_ended"
        for sender, to in ((alice, "bob"), (bob, "alice")):
            refused(await sender.post("/messages/send", json={"to": to, "subject": "Hi", "content": "Hello"}), 403, "not_admitted")
        refused(await alice.post(f"/connections/{id}/end"), 404, "no_such_connection")

    async def test_a_stranger_sees_and_changes_nothing(self, callers: Callers) -> None:
        alice, bob, eve = await callers.join_all("alice", "bob", "eve")
        asked = await ask(alice, "bob")
        path = f"/connections/{asked['connection_id']}"
        refused(await eve.get(path), 404, "no_such_connection")
        refused(await eve.post(f"{path}/reject"), 404, "no_such_connection")
        for side in (alice, bob, eve):
            refused(await side.post(f"{path}/approve"), 403, "owner_only")
        refused(await eve.get("/connections/nonsense"), 404, "no_such_connection")
        assert done(await eve.get("/connections"))["connections"] == []

    async def test_the_owner_sees_everyones_and_approves_by_id(self, callers: Callers) -> None:
        alice, _ = await callers.join_all("alice", "bob")
        owner = await callers.owner()
        asked = await ask(alice, "bob", "hi")
        (seen,) = done(await owner.get("/connections", params={"everyone": "true"}))["connections"]
        assert (seen["connection_id"], seen["message"]) == (asked["connection_id"], "hi")
        approved = done(await owner.post(f"/connections/{asked['connection_id']}/approve"))
        assert (approved["status"], approved["connected_agent_name"]) == ("ACTIVE", "alice")
        refused(await alice.get("/connections", params={"everyone": "true"}), 403, "owner_only")

    async def test_connections_are_chosen_by_status(self, callers: Callers) -> None:
        alice, bob, _ = await callers.join_all("alice", "bob", "carol")
        active, waiting = await connect(alice, bob, "bob"), (await ask(alice, "carol"))["connection_id"]
        for status, ids in (("ACTIVE", [active]), ("PENDING", [waiting]), ("ENDED", [])):
            found = done(await alice.get("/connections", params={"status": status}))["connections"]
            assert [item["connection_id"] for item in found] == ids
        refused(await alice.get("/connections", params={"status": "nonsense"}), 422)

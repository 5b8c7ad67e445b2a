"""Seed 000's server, endpoint by endpoint, as a client written from the seed alone meets it (its sections 3, 7 and 12.2)."""

import re
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from tests.doors.callers import Callers, approve, ask, connect, done, refused, send
from tests.doors.served import serving
from tests.engines import Engine

KEY = re.compile(r"amb_[0-9a-f]{64}")
CODE = re.compile(r"[A-Z]{2}-[0-9]{3}")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
NO_KEY = "amb_" + "0" * 64
CALLS = [
    ("POST", "/connections/request", {"target_agent_name": "bob-agent"}),
    ("POST", "/connections/approve", {"verification_code": "XC-992"}),
    ("GET", "/inbox", None),
    ("GET", f"/sessions/{uuid4()}/history", None),
    ("POST", "/messages/send", {"to": "bob-agent", "subject": "Hi", "content": "Hello"}),
]


@pytest.fixture(params=["open", "keys"])
async def callers(request: pytest.FixtureRequest, engine: Engine) -> AsyncIterator[Callers]:
    async with serving(engine, auth=request.param, handshake="visible") as running, Callers(running) as found:
        yield found


async def connected(callers: Callers) -> tuple[httpx.AsyncClient, httpx.AsyncClient]:
    alice, bob = await callers.join_all("alice-agent", "bob-agent")
    await connect(alice, bob, "bob-agent")
    return alice, bob


async def history(client: httpx.AsyncClient, session_id: str, **query: Any) -> list[dict[str, Any]]:
    return list(done(await client.get(f"/sessions/{session_id}/history", params=query))["messages"])


def is_uuid(text: str) -> bool:
    return str(UUID(text)) == text


class TestRegister:
    async def test_register_agent_success(self, callers: Callers) -> None:
        async with callers.served.client() as anyone:
            body = {"name": "alice-agent", "owner_contact": "alice@example.com"}
            made = done(await anyone.post("/agents/register", json=body), 201)
        assert made.keys() == {"id", "name", "api_key"}
        assert is_uuid(made["id"])
        assert made["name"] == "alice-agent"
        assert KEY.fullmatch(made["api_key"])
        assert len(made["api_key"]) == 68

    async def test_the_owner_contact_may_be_left_out_or_null(self, callers: Callers) -> None:
        await callers.register("alice-agent")
        await callers.register("bob-agent", owner_contact=None)

    async def test_every_agent_gets_a_key_of_its_own(self, callers: Callers) -> None:
        assert await callers.register("alice-agent") != await callers.register("bob-agent")

    async def test_register_agent_duplicate_name(self, callers: Callers) -> None:
        await callers.register("alice-agent")
        async with callers.served.client() as anyone:
            refused(await anyone.post("/agents/register", json={"name": "alice-agent"}), 409, "name_taken")

    async def test_register_agent_invalid_name(self, callers: Callers) -> None:
        async with callers.served.client() as anyone:
            for name in ("al ice", "alice!", "alice@example.com", "al/ice", "älice", "alice\n", "", "ab", "a" * 101, None, 123):
                refused(await anyone.post("/agents/register", json={"name": name}), 422)

    async def test_a_name_is_required(self, callers: Callers) -> None:
        async with callers.served.client() as anyone:
            refused(await anyone.post("/agents/register", json={"owner_contact": "alice@example.com"}), 422)

    async def test_names_of_3_to_100_characters_are_taken_as_they_are(self, callers: Callers) -> None:
        async with callers.served.client() as anyone:
            for name in ("abc", "a" * 100, "Alice_2-b"):
                assert done(await anyone.post("/agents/register", json={"name": name}), 201)["name"] == name


class TestKeys:
    async def test_a_missing_key_is_401(self, callers: Callers) -> None:
        async with callers.served.client() as anyone:
            for method, path, body in CALLS:
                refused(await anyone.request(method, path, json=body), 401)

    async def test_a_wrong_key_is_401(self, callers: Callers) -> None:
        for key in (NO_KEY, "", "amb_", "nonsense"):
            async with callers.served.client(key=key) as stranger:
                for method, path, body in CALLS:
                    refused(await stranger.request(method, path, json=body), 401, "bad_key")

    async def test_the_key_works_as_a_bearer_token(self, callers: Callers) -> None:
        key = await callers.register("alice-agent")
        async with callers.served.client() as alice:
            for scheme in ("Bearer", "bearer"):
                alice.headers["Authorization"] = f"{scheme} {key}"
                assert done(await alice.get("/agents/me"))["name"] == "alice-agent"

    async def test_a_wrong_bearer_token_is_401(self, callers: Callers) -> None:
        async with callers.served.client() as stranger:
            stranger.headers["Authorization"] = f"Bearer {NO_KEY}"
            refused(await stranger.get("/inbox"), 401, "bad_key")

    async def test_a_bare_name_is_enough_on_an_open_server_only(self, callers: Callers) -> None:
        async with callers.served.client(name="carol-agent") as carol:
            answered = await carol.get("/inbox")
        if callers.served.office.rules.auth == "open":
            assert done(answered)["sessions"] == []
        else:
            refused(answered, 401, "key_required")

    async def test_a_name_that_has_a_key_is_never_enough(self, callers: Callers) -> None:
        await callers.register("alice-agent")
        async with callers.served.client(name="alice-agent") as impostor:
            refused(await impostor.get("/inbox"), 401, "key_required")


class TestRequestConnection:
    async def test_request_connection_success(self, callers: Callers) -> None:
        alice, _ = await callers.join_all("alice-agent", "bob-agent")
        body = {"target_agent_name": "bob-agent", "message": "Hi Bob, I'd like to collaborate on the project."}
        asked = done(await alice.post("/connections/request", json=body), 201)
        assert asked.keys() == {"connection_id", "verification_code", "target_agent_name", "status"}
        assert is_uuid(asked["connection_id"])
        assert CODE.fullmatch(asked["verification_code"])
        assert (asked["target_agent_name"], asked["status"]) == ("bob-agent", "PENDING")

    async def test_request_connection_self(self, callers: Callers) -> None:
        alice = await callers.join("alice-agent")
        refused(await alice.post("/connections/request", json={"target_agent_name": "alice-agent"}), 422, "to_oneself")

    async def test_request_connection_no_target(self, callers: Callers) -> None:
        alice = await callers.join("alice-agent")
        refused(await alice.post("/connections/request", json={"target_agent_name": "bob-agent"}), 404, "no_such_agent")

    async def test_request_connection_duplicate(self, callers: Callers) -> None:
        alice, _ = await callers.join_all("alice-agent", "bob-agent")
        await ask(alice, "bob-agent")
        refused(await alice.post("/connections/request", json={"target_agent_name": "bob-agent"}), 409, "already_requested")

    async def test_agents_that_are_connected_cannot_ask_again_from_either_side(self, callers: Callers) -> None:
        alice, bob = await connected(callers)
        refused(await alice.post("/connections/request", json={"target_agent_name": "bob-agent"}), 409, "already_connected")
        refused(await bob.post("/connections/request", json={"target_agent_name": "alice-agent"}), 409, "already_connected")

    async def test_the_message_has_at_most_500_characters(self, callers: Callers) -> None:
        alice, _ = await callers.join_all("alice-agent", "bob-agent")
        refused(await alice.post("/connections/request", json={"target_agent_name": "bob-agent", "message": "é" * 501}), 422)
        await ask(alice, "bob-agent", "é" * 500)

    async def test_a_target_is_required(self, callers: Callers) -> None:
        alice = await callers.join("alice-agent")
        bodies: list[dict[str, object]] = [{}, {"message": "hi"}, {"target_agent_name": None}, {"target_agent_name": 5}]
        for body in bodies:
            refused(await alice.post("/connections/request", json=body), 422)


class TestApproveConnection:
    async def test_approve_connection_success(self, callers: Callers) -> None:
        alice, bob = await callers.join_all("alice-agent", "bob-agent")
        asked = await ask(alice, "bob-agent")
        approved = done(await approve(bob, asked["verification_code"]))
        assert approved.keys() >= {"connection_id", "status", "connected_agent_name"}
        assert approved["connection_id"] == asked["connection_id"]
        assert (approved["status"], approved["connected_agent_name"]) == ("ACTIVE", "alice-agent")

    async def test_approve_connection_wrong_agent(self, callers: Callers) -> None:
        alice, _, eve = await callers.join_all("alice-agent", "bob-agent", "eve-agent")
        asked = await ask(alice, "bob-agent")
        refused(await approve(eve, asked["verification_code"]), 403, "not_target")
        refused(await approve(alice, asked["verification_code"]), 403, "not_target")

    async def test_approve_connection_invalid_code(self, callers: Callers) -> None:
        bob = await callers.join("bob-agent")
        for code in ("ZZ-000", "nonsense", ""):
            refused(await approve(bob, code), 404, "no_such_code")

    async def test_a_used_code_is_404(self, callers: Callers) -> None:
        alice, bob, eve = await callers.join_all("alice-agent", "bob-agent", "eve-agent")
        asked = await ask(alice, "bob-agent")
        done(await approve(bob, asked["verification_code"]))
        for other in (alice, eve):
            refused(await approve(other, asked["verification_code"]), 404, "no_such_code")

    async def test_whoever_missed_the_answer_hears_it_again(self, callers: Callers) -> None:
        alice, bob = await callers.join_all("alice-agent", "bob-agent")
        asked = await ask(alice, "bob-agent")
        first = done(await approve(bob, asked["verification_code"]))
        assert done(await approve(bob, asked["verification_code"])) == first

    async def test_a_code_is_required(self, callers: Callers) -> None:
        bob = await callers.join("bob-agent")
        refused(await bob.post("/connections/approve", json={}), 422)


class TestSendMessage:
    async def test_send_message_new_session(self, callers: Callers) -> None:
        alice, _ = await connected(callers)
        body = {"to": "bob-agent", "subject": "Project collaboration", "content": "Hello Bob, shall we start?", "session_id": None}
        sent = done(await alice.post("/messages/send", json=body), 201)
        assert sent.keys() >= {"message_id", "session_id", "subject", "created_at"}
        assert is_uuid(sent["message_id"])
        assert is_uuid(sent["session_id"])
        assert sent["subject"] == "Project collaboration"
        assert TIME.fullmatch(sent["created_at"])

    async def test_send_message_existing_session(self, callers: Callers) -> None:
        alice, bob = await connected(callers)
        first = await send(alice, "bob-agent", subject="Plans")
        again = await send(alice, "bob-agent", subject="Plans")
        back = await send(bob, "alice-agent", subject="Plans")
        other = await send(alice, "bob-agent", subject="Other plans")
        assert first["session_id"] == again["session_id"] == back["session_id"] != other["session_id"]
        assert first["message_id"] != again["message_id"]

    async def test_send_message_no_connection(self, callers: Callers) -> None:
        alice, _ = await callers.join_all("alice-agent", "bob-agent")
        await ask(alice, "bob-agent")
        body = {"to": "bob-agent", "subject": "Hi", "content": "Hello"}
        refused(await alice.post("/messages/send", json=body), 403, "not_admitted")

    async def test_send_message_to_session(self, callers: Callers) -> None:
        alice, bob = await connected(callers)
        first = await send(alice, "bob-agent", subject="Plans")
        body = {"to": "alice-agent", "content": "Yes", "session_id": first["session_id"]}
        sent = done(await bob.post("/messages/send", json=body), 201)
        assert (sent["session_id"], sent["subject"]) == (first["session_id"], "Plans")

    async def test_an_unknown_session_is_404(self, callers: Callers) -> None:
        alice, _ = await connected(callers)
        body = {"to": "bob-agent", "content": "Hello", "session_id": str(uuid4())}
        refused(await alice.post("/messages/send", json=body), 404, "no_such_session")

    async def test_a_session_of_others_is_404_as_an_unknown_one(self, callers: Callers) -> None:
        alice, bob = await connected(callers)
        eve = await callers.join("eve-agent")
        await connect(eve, bob, "bob-agent")
        theirs = await send(alice, "bob-agent")
        body = {"to": "bob-agent", "content": "Hello", "session_id": theirs["session_id"]}
        refused(await eve.post("/messages/send", json=body), 404, "no_such_session")

    async def test_a_session_with_another_agent_than_the_recipient_is_403(self, callers: Callers) -> None:
        alice, bob = await connected(callers)
        eve = await callers.join("eve-agent")
        await connect(alice, eve, "eve-agent")
        with_bob = await send(alice, "bob-agent")
        body = {"to": "eve-agent", "content": "Hello", "session_id": with_bob["session_id"]}
        refused(await alice.post("/messages/send", json=body), 403, "not_participant")
        assert done(await bob.get("/inbox"))["sessions"][0]["unread_count"] == 1

    async def test_the_content_has_at_most_10000_characters(self, callers: Callers) -> None:
        alice, _ = await connected(callers)
        await send(alice, "bob-agent", "é" * 10_000)
        body = {"to": "bob-agent", "subject": "Hi", "content": "é" * 10_001}
        refused(await alice.post("/messages/send", json=body), 422)

    async def test_the_subject_has_at_most_255_characters(self, callers: Callers) -> None:
        alice, _ = await connected(callers)
        assert (await send(alice, "bob-agent", subject="é" * 255))["subject"] == "é" * 255
        refused(await alice.post("/messages/send", json={"to": "bob-agent", "subject": "é" * 256, "content": "Hi"}), 422)

    async def test_recipient_subject_and_content_are_required(self, callers: Callers) -> None:
        alice, _ = await connected(callers)
        whole: dict[str, object] = {"to": "bob-agent", "subject": "Hi", "content": "Hello", "session_id": None}
        for field in ("to", "subject", "content"):
            refused(await alice.post("/messages/send", json=whole | {field: None}), 422)
            refused(await alice.post("/messages/send", json={name: whole[name] for name in whole if name != field}), 422)


class TestInbox:
    async def test_inbox_empty(self, callers: Callers) -> None:
        inbox = done(await (await callers.join("alice-agent")).get("/inbox"))
        assert (inbox["sessions"], inbox["pending_connections"]) == ([], [])

    async def test_inbox_with_messages(self, callers: Callers) -> None:
        alice, bob = await connected(callers)
        sent = [await send(alice, "bob-agent", f"number {n}", subject="Plans") for n in range(4)]
        (session,) = done(await bob.get("/inbox"))["sessions"]
        assert session["session_id"] == sent[0]["session_id"]
        assert (session["subject"], session["other_agent_name"], session["unread_count"]) == ("Plans", "alice-agent", 4)
        assert session["last_message_at"] == sent[-1]["created_at"]
        shown = [(line["id"], line["sender_name"], line["content"], line["created_at"]) for line in session["recent_messages"]]
        assert shown == [(sent[n]["message_id"], "alice-agent", f"number {n}", sent[n]["created_at"]) for n in (3, 2, 1)]
        assert [line["is_read"] for line in session["recent_messages"]] == [False, False, False]
        assert all(TIME.fullmatch(line["created_at"]) for line in session["recent_messages"])

    async def test_the_sender_has_the_session_too_and_nothing_unread_in_it(self, callers: Callers) -> None:
        alice, _ = await connected(callers)
        await send(alice, "bob-agent", "hello")
        (session,) = done(await alice.get("/inbox"))["sessions"]
        assert (session["other_agent_name"], session["unread_count"]) == ("bob-agent", 0)
        assert [line["content"] for line in session["recent_messages"]] == ["hello"]

    async def test_looking_at_the_inbox_reads_nothing(self, callers: Callers) -> None:
        alice, bob = await connected(callers)
        await send(alice, "bob-agent")
        for _ in range(2):
            (session,) = done(await bob.get("/inbox"))["sessions"]
            assert session["unread_count"] == 1

    async def test_sessions_come_with_the_newest_first(self, callers: Callers) -> None:
        alice, bob = await connected(callers)
        for subject in ("one", "two", "three", "one"):
            await send(alice, "bob-agent", subject=subject)
        assert [session["subject"] for session in done(await bob.get("/inbox"))["sessions"]] == ["one", "three", "two"]

    async def test_inbox_unread_only(self, callers: Callers) -> None:
        alice, bob = await connected(callers)
        read = await send(alice, "bob-agent", subject="read")
        await send(alice, "bob-agent", subject="unread")
        await history(bob, read["session_id"])
        unread = done(await bob.get("/inbox", params={"unread_only": "true"}))["sessions"]
        assert [session["subject"] for session in unread] == ["unread"]
        both = done(await bob.get("/inbox", params={"unread_only": "false"}))["sessions"]
        assert [(session["subject"], session["unread_count"]) for session in both] == [("unread", 1), ("read", 0)]

    async def test_the_inbox_says_who_wants_to_connect(self, callers: Callers) -> None:
        alice, bob = await callers.join_all("alice-agent", "bob-agent")
        asked = await ask(alice, "bob-agent", "Want to chat?")
        (pending,) = done(await bob.get("/inbox"))["pending_connections"]
        assert pending["connection_id"] == asked["connection_id"]
        assert (pending["from_agent_name"], pending["message"]) == ("alice-agent", "Want to chat?")
        assert pending["verification_code"] == asked["verification_code"]
        assert TIME.fullmatch(pending["created_at"])
        assert done(await alice.get("/inbox"))["pending_connections"] == []
        done(await approve(bob, pending["verification_code"]))
        assert done(await bob.get("/inbox"))["pending_connections"] == []


class TestSessionHistory:
    async def test_session_history(self, callers: Callers) -> None:
        alice, bob = await connected(callers)
        sent = [await send(alice, "bob-agent", f"number {n}", subject="Plans") for n in range(5)]
        thread = done(await bob.get(f"/sessions/{sent[0]['session_id']}/history"))
        assert (thread["session_id"], thread["subject"]) == (sent[0]["session_id"], "Plans")
        assert [line["content"] for line in thread["messages"]] == ["number 4", "number 3", "number 2"]
        assert [line["created_at"] for line in thread["messages"]] == [sent[n]["created_at"] for n in (4, 3, 2)]
        assert {line["sender_name"] for line in thread["messages"]} == {"alice-agent"}

    async def test_session_history_marks_read(self, callers: Callers) -> None:
        alice, bob = await connected(callers)
        session = (await send(alice, "bob-agent", "one"))["session_id"]
        await send(alice, "bob-agent", "two")
        assert [line["is_read"] for line in await history(bob, session, limit=1)] == [True]
        (summary,) = done(await bob.get("/inbox"))["sessions"]
        assert summary["unread_count"] == 1
        assert [(line["content"], line["is_read"]) for line in summary["recent_messages"]] == [("two", True), ("one", False)]

    async def test_only_the_recipient_reads_a_message(self, callers: Callers) -> None:
        alice, bob = await connected(callers)
        session = (await send(alice, "bob-agent"))["session_id"]
        assert [line["is_read"] for line in await history(alice, session)] == [False]
        assert done(await bob.get("/inbox"))["sessions"][0]["unread_count"] == 1
        await history(bob, session)
        assert [line["is_read"] for line in await history(alice, session)] == [True]

    async def test_before_pages_through_all_of_it(self, callers: Callers) -> None:
        alice, bob = await connected(callers)
        session = [await send(alice, "bob-agent", str(n)) for n in range(8)][-1]["session_id"]
        seen: list[dict[str, Any]] = []
        while page := await history(bob, session, **({"before": seen[-1]["id"]} if seen else {})):
            seen += page
        assert [line["content"] for line in seen] == [str(n) for n in reversed(range(8))]

    async def test_ids_may_be_written_in_capitals(self, callers: Callers) -> None:
        """They are UUIDs, which some languages write in no other way."""
        alice, bob = await connected(callers)
        first = await send(alice, "bob-agent", "one", subject="Plans")
        session = first["session_id"].upper()
        second = done(await alice.post("/messages/send", json={"to": "bob-agent", "content": "two", "session_id": session}), 201)
        assert second["session_id"] == first["session_id"]
        taken = done(await bob.post("/messages/receive", json={"session_id": session, "limit": 1}))
        assert [letter["content"] for letter in taken["messages"]] == ["one"]
        assert [line["content"] for line in await history(bob, session, before=second["message_id"].upper())] == ["one"]

    async def test_the_limit_is_3_and_at_most_50(self, callers: Callers) -> None:
        alice, bob = await connected(callers)
        session = [await send(alice, "bob-agent", str(n)) for n in range(51)][-1]["session_id"]
        assert len(await history(bob, session)) == 3
        assert len(await history(bob, session, limit=50)) == 50

    async def test_another_limit_is_422(self, callers: Callers) -> None:
        alice, bob = await connected(callers)
        session = (await send(alice, "bob-agent"))["session_id"]
        for limit in ("51", "0", "-1", "many"):
            refused(await bob.get(f"/sessions/{session}/history", params={"limit": limit}), 422)

    async def test_session_history_not_participant(self, callers: Callers) -> None:
        alice, _ = await connected(callers)
        eve = await callers.join("eve-agent")
        session = (await send(alice, "bob-agent"))["session_id"]
        refused(await eve.get(f"/sessions/{session}/history"), 403, "not_participant")

    async def test_an_unknown_session_is_403_as_one_of_others(self, callers: Callers) -> None:
        refused(await (await callers.join("alice-agent")).get(f"/sessions/{uuid4()}/history"), 403, "not_participant")

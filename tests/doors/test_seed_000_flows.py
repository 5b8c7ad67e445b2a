"""The three flows of seed 000's section 12.3, from the first call to the last."""

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from tests.doors.callers import Callers, approve, ask, done, send
from tests.doors.served import serving
from tests.engines import Engine


@pytest.fixture(params=["open", "keys"])
async def callers(request: pytest.FixtureRequest, engine: Engine) -> AsyncIterator[Callers]:
    async with serving(engine, auth=request.param, handshake="visible") as running, Callers(running) as found:
        yield found


async def heard(socket: ClientConnection) -> dict[str, Any]:
    return dict(json.loads(await socket.recv()))


class TestConnectionFlow:
    async def test_a_request_becomes_a_connection_that_both_see(self, callers: Callers) -> None:
        alice, bob = await callers.join_all("alice-agent", "bob-agent")
        await ask(alice, "bob-agent", "Hi Bob")
        (pending,) = done(await bob.get("/inbox"))["pending_connections"]
        approved = done(await approve(bob, pending["verification_code"]))
        for side in (alice, bob):
            (connection,) = done(await side.get("/connections", params={"status": "ACTIVE"}))["connections"]
            assert (connection["connection_id"], connection["status"]) == (approved["connection_id"], "ACTIVE")
        await send(alice, "bob-agent")
        await send(bob, "alice-agent")


class TestMessageFlow:
    async def test_a_message_is_sent_seen_read_and_answered(self, callers: Callers) -> None:
        alice, bob = await callers.join_all("alice-agent", "bob-agent")
        done(await approve(bob, (await ask(alice, "bob-agent"))["verification_code"]))
        sent = await send(alice, "bob-agent", "Hello Bob", subject="Test")

        (session,) = done(await bob.get("/inbox"))["sessions"]
        assert (session["subject"], session["unread_count"]) == ("Test", 1)
        assert session["recent_messages"][0]["content"] == "Hello Bob"

        (line,) = done(await bob.get(f"/sessions/{session['session_id']}/history"))["messages"]
        assert (line["id"], line["is_read"]) == (sent["message_id"], True)
        assert done(await bob.get("/inbox"))["sessions"][0]["unread_count"] == 0

        done(await bob.post("/messages/send", json={"to": "alice-agent", "content": "Hi", "session_id": session["session_id"]}), 201)
        (session,) = done(await alice.get("/inbox"))["sessions"]
        assert session["unread_count"] == 1
        shown = [(line["sender_name"], line["content"], line["is_read"]) for line in session["recent_messages"]]
        assert shown == [("bob-agent", "Hi", False), ("alice-agent", "Hello Bob", True)]


class TestWebSocketFlow:
    async def test_a_connected_agent_hears_of_requests_approvals_and_mail(self, callers: Callers) -> None:
        keys = [await callers.register(name) for name in ("alice-agent", "bob-agent")]
        alice, bob = [await callers.client(key=key) for key in keys]
        url = callers.served.ws_url
        async with connect(f"{url}?api_key={keys[0]}") as to_alice, connect(f"{url}?api_key={keys[1]}") as to_bob:
            asked = await ask(alice, "bob-agent", "Want to chat?")
            assert (await heard(to_bob)).items() >= {
                "type": "connection_request",
                "connection_id": asked["connection_id"],
                "from_agent": "alice-agent",
                "message": "Want to chat?",
                "verification_code": asked["verification_code"],
            }.items()

            done(await approve(bob, asked["verification_code"]))
            assert (await heard(to_alice)).items() >= {
                "type": "connection_approved",
                "connection_id": asked["connection_id"],
                "connected_agent": "bob-agent",
            }.items()

            sent = await send(alice, "bob-agent", "Hello Bob!", subject="Test")
            frame = await heard(to_bob)
            assert {name: value for name, value in frame.items() if name not in ("cursor", "at", "message")} == {
                "type": "new_message",
                "session_id": sent["session_id"],
                "subject": "Test",
                "from_agent": "alice-agent",
                "content": "Hello Bob!",
                "message_id": sent["message_id"],
                "created_at": sent["created_at"],
            }
            await to_bob.send('{"type": "ping"}')
            assert await heard(to_bob) == {"type": "pong"}
        assert done(await bob.get("/inbox"))["sessions"][0]["unread_count"] == 1

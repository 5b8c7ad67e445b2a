"""The WebSocket door with a real client: who may listen, what is told, and going on where one stopped."""

import asyncio
import json
import re
from collections.abc import AsyncIterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from postoffice.core.draft import Draft
from postoffice.core.limits import Limits
from postoffice.doors import websocket
from tests.doors.callers import Callers, approve, ask, done, send, take
from tests.doors.served import Served, serving
from tests.doors.sockets import closing, heard, heard_of, plugged, said, silence
from tests.doors.wire import wired
from tests.engines import Engine, SQLiteEngine

BAD_KEY = "amb_" + "0" * 64
UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
UTC = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Served]:
    """An open office on SQLite, for what the engine has no part in."""
    async with serving(SQLiteEngine(tmp_path)) as running:
        yield running


class TestWhoMayListen:
    async def test_a_key_opens_it_and_the_first_frame_is_the_first_event(self, guarded: Served) -> None:
        async with Callers(guarded) as callers:
            alice, key = await callers.join("alice"), await callers.register("bob-agent", allow_from=["*"])
            for way in ({"api_key": key}, {"headers": {"X-API-Key": key}}, {"headers": {"Authorization": f"Bearer {key}"}}):
                async with plugged(guarded.ws_url, **way) as socket:
                    await silence(socket)
                    await send(alice, "bob-agent", str(way))
                    event = await heard(socket)
                    assert (event["type"], event["content"]) == ("new_message", str(way))

    async def test_a_name_is_enough_on_an_open_server(self, desk: Served) -> None:
        async with Callers(desk) as callers:
            (alice,) = await callers.named("alice")
            async with plugged(desk.ws_url, headers={"X-Agent": "bob"}) as socket:
                await send(alice, "bob")
                assert (await heard(socket))["type"] == "new_message"

    async def test_it_stays_open_where_nobody_may_wait_for_long(self, tmp_path: Path) -> None:
        impatient = Limits(wait=timedelta(0), wait_most=timedelta(0))
        async with (
            serving(SQLiteEngine(tmp_path), limits=impatient) as served,
            Callers(served) as callers,
            plugged(served.ws_url, agent="bob") as socket,
        ):
            await silence(socket)
            (alice,) = await callers.named("alice")
            await send(alice, "bob")
            assert (await heard(socket))["type"] == "new_message"

    async def test_a_name_is_not_enough_where_keys_are_required(self, guarded: Served) -> None:
        async with plugged(guarded.ws_url, headers={"X-Agent": "bob"}) as socket:
            assert await closing(socket) == 4001

    async def test_a_locked_name_is_not_enough_anywhere(self, desk: Served) -> None:
        async with Callers(desk) as callers:
            await callers.register("bob-agent")
            async with plugged(desk.ws_url, headers={"X-Agent": "bob-agent"}) as socket:
                assert await closing(socket) == 4001

    async def test_the_first_frame_may_bring_the_key(self, guarded: Served) -> None:
        async with Callers(guarded) as callers:
            alice, bob = await callers.join("alice"), await callers.register("bob-agent", allow_from=["*"])
            async with plugged(guarded.ws_url) as socket:
                greeting = await said(socket, {"type": "auth", "api_key": bob})
                assert (greeting["type"], greeting["agent"]) == ("auth_ok", "bob-agent")
                await send(alice, "bob-agent")
                event = await heard(socket)
                assert event["type"] == "new_message"
            async with plugged(guarded.ws_url) as socket:
                greeting = await said(socket, {"type": "auth", "api_key": bob, "cursor": greeting["cursor"]})
                assert greeting["type"] == "auth_ok"
                assert (await heard(socket))["message_id"] == event["message_id"]

    async def test_a_bad_key_is_accepted_and_closed(self, guarded: Served) -> None:
        for key in (BAD_KEY, "", "amb_", "short", "amb_" + "é" * 64, "\x00"):
            async with plugged(guarded.ws_url, api_key=key) as socket:
                assert await closing(socket) == 4001, key
            async with plugged(guarded.ws_url) as socket:
                await socket.send(json.dumps({"type": "auth", "api_key": key}))
                assert await closing(socket) == 4001, key

    async def test_no_key_in_time_is_closed(self, monkeypatch: pytest.MonkeyPatch, desk: Served) -> None:
        monkeypatch.setattr(websocket, "_AUTH_SECONDS", 0.2)
        async with plugged(desk.ws_url) as socket:
            assert await closing(socket) == 4000

    async def test_a_first_frame_that_is_not_auth_is_closed(self, desk: Served) -> None:
        for frame in ('{"type": "ping"}', "{}", '{"api_key": "amb_"}', '{"type": ["auth"]}', '{"type": "auth"}'):
            async with plugged(desk.ws_url) as socket:
                await socket.send(frame)
                assert await closing(socket) == 4001, frame

    async def test_a_first_frame_that_is_nothing_is_closed(self, desk: Served) -> None:
        for frame in ("hello", "", "[]", "7", b"\xff\xfe", "[" * 50_000, '{"type":"auth","api_key":"\\ud800"}'):
            async with plugged(desk.ws_url) as socket:
                await socket.send(frame)
                assert await closing(socket) in (4001, 4022), frame

    async def test_the_key_of_one_agent_does_not_speak_for_another(self, desk: Served) -> None:
        async with Callers(desk) as callers:
            key = await callers.register("bob-agent")
            async with plugged(desk.ws_url, api_key=key, agent="alice") as socket:
                assert await closing(socket) == 4003

    async def test_nothing_is_deflated_even_if_the_client_would(self, desk: Served) -> None:
        async with connect(f"{desk.ws_url}?agent=bob", compression="deflate", proxy=None) as socket:
            assert socket.response is not None
            assert "Sec-WebSocket-Extensions" not in socket.response.headers
            assert (await said(socket, {"type": "ping"})) == {"type": "pong"}


class TestWhatIsTold:
    async def test_new_mail_in_the_seeds_words(self, guarded: Served) -> None:
        async with Callers(guarded) as callers:
            alice, bob = await callers.join("alice"), await callers.register("bob-agent", allow_from=["*"])
            async with plugged(guarded.ws_url, api_key=bob) as socket:
                sent = await send(alice, "bob-agent", "Hello Bob!", subject="Project collaboration")
                event = await heard(socket)
        assert {
            "type": "new_message",
            "session_id": sent["session_id"],
            "subject": "Project collaboration",
            "from_agent": "alice",
            "content": "Hello Bob!",
            "message_id": sent["message_id"],
            "created_at": sent["created_at"],
        }.items() <= event.items()
        assert UUID.fullmatch(event["session_id"])
        assert UUID.fullmatch(event["message_id"])
        assert UTC.fullmatch(event["created_at"])
        assert event["cursor"].isdecimal()

    async def test_a_request_and_its_approval_in_the_seeds_words(self, served: Served) -> None:
        async with Callers(served) as callers:
            keys = [await callers.register(name) for name in ("charlie", "bob-agent")]
            charlie, bob = [await callers.client(key=key) for key in keys]
            async with plugged(served.ws_url, api_key=keys[0]) as asking, plugged(served.ws_url, api_key=keys[1]) as asked:
                made = await ask(charlie, "bob-agent", "Want to chat?")
                event = await heard(asked)
                assert {
                    "type": "connection_request",
                    "connection_id": made["connection_id"],
                    "from_agent": "charlie",
                    "message": "Want to chat?",
                    "verification_code": made["verification_code"],
                }.items() <= event.items()
                assert event["cursor"].isdecimal()
                done(await approve(bob, made["verification_code"]))
                event = await heard(asking)
                assert {
                    "type": "connection_approved",
                    "connection_id": made["connection_id"],
                    "connected_agent": "bob-agent",
                }.items() <= event.items()
                assert event["cursor"].isdecimal()

    async def test_a_target_that_must_get_the_code_from_a_person_is_not_told_it(self, guarded: Served) -> None:
        async with Callers(guarded) as callers:
            alice, bob = await callers.join("alice"), await callers.register("bob-agent")
            async with plugged(guarded.ws_url, api_key=bob) as socket:
                made = await ask(alice, "bob-agent", "Hi")
                event = await heard(socket)
        assert event["connection_id"] == made["connection_id"]
        assert made["verification_code"] not in json.dumps(event)
        assert "verification_code" in event

    async def test_receipts_tasks_and_dead_letters(self, engine: Engine) -> None:
        async with serving(engine, limits={"max_attempts": 1}) as served, Callers(served) as callers:
            alice, bob = await callers.named("alice", "bob")
            async with plugged(served.ws_url, agent="alice") as to_alice, plugged(served.ws_url, agent="bob") as to_bob:
                sent = await send(alice, "bob")
                await _ack(bob)
                assert {"type": "receipt", "message_id": sent["message_id"], "by": "bob"}.items() <= (await heard(to_alice)).items()

                asked = await send(alice, "bob", "work", type="task")
                moved = done(await bob.post(f"/tasks/{asked['message_id']}/update", json={"state": "working"}))
                for socket in (to_alice, to_bob):
                    event = await heard_of(socket, "task")
                    while event["state"] != "working":
                        event = await heard_of(socket, "task")
                    assert event["task_id"] == moved["id"]
                    assert event["cursor"].isdecimal()

                doomed = await send(alice, "bob", "doomed")
                for letter in await take(bob):
                    done(await bob.post(f"/messages/{letter['id']}/nack", json={"token": letter["token"], "reason": "no"}))
                event = await heard_of(to_bob, "dead_letter")
                while event["message_id"] != doomed["message_id"]:
                    event = await heard_of(to_bob, "dead_letter")
                assert event["cursor"].isdecimal()

    async def test_every_socket_of_an_agent_hears_it_and_nobody_elses(self, served: Served) -> None:
        async with Callers(served) as callers:
            (alice,) = await callers.named("alice")
            async with (
                plugged(served.ws_url, agent="bob") as one,
                plugged(served.ws_url, agent="BOB") as two,
                plugged(served.ws_url, agent="bob") as three,
                plugged(served.ws_url, agent="carol") as other,
            ):
                sent = await send(alice, "bob")
                events = [await heard(socket) for socket in (one, two, three)]
                assert {event["message_id"] for event in events} == {sent["message_id"]}
                await silence(other)

    async def test_an_event_takes_nothing(self, desk: Served) -> None:
        async with Callers(desk) as callers:
            alice, bob = await callers.named("alice", "bob")
            async with plugged(desk.ws_url, agent="bob") as socket:
                await send(alice, "bob")
                await heard(socket)
            assert len(await take(bob)) == 1


class TestWhatAClientMaySay:
    async def test_ping_is_answered_pong(self, desk: Served) -> None:
        async with plugged(desk.ws_url, agent="bob") as socket:
            for _ in range(3):
                assert await said(socket, {"type": "ping"}) == {"type": "pong"}

    async def test_garbage_is_told_so_and_the_socket_lives(self, desk: Served) -> None:
        garbage: list[Any] = ["", "hello", "[]", "7", "null", "{", b"\xff\x00", "[" * 50_000, {"type": "sing"}, {"type": None}, {}]
        async with Callers(desk) as callers, plugged(desk.ws_url, agent="bob") as socket:
            for frame in garbage:
                answer = await said(socket, frame)
                assert (answer["type"], isinstance(answer["code"], str), " " in answer["detail"]) == ("error", True, True), frame
            assert await said(socket, {"type": "ping"}) == {"type": "pong"}
            (alice,) = await callers.named("alice")
            await send(alice, "bob")
            assert (await heard(socket))["type"] == "new_message"

    @pytest.mark.parametrize("agent", [None, "bob"])
    async def test_text_that_is_none_closes_it_and_is_nobodys_fault(
        self, desk: Served, caplog: pytest.LogCaptureFixture, agent: str | None
    ) -> None:
        async with plugged(desk.ws_url, agent=agent) as socket:
            await socket.send(b'{"type": "\xff"}', text=True)
            assert await closing(socket) == 1007
        assert [record for record in caplog.records if record.levelname == "ERROR"] == []

    async def test_a_frame_beyond_all_measure_closes_it(self, desk: Served) -> None:
        async with plugged(desk.ws_url, agent="bob") as socket:
            await socket.send("x" * (1 << 20))
            assert await closing(socket) == 1009


class TestGoingOn:
    async def test_a_cursor_brings_what_was_missed_once(self, served: Served) -> None:
        async with Callers(served) as callers:
            (alice,) = await callers.named("alice")
            async with plugged(served.ws_url, agent="bob") as socket:
                await send(alice, "bob", "0")
                cursor = (await heard(socket))["cursor"]
            caller = await served.office.identify(name="alice")
            for number in range(1, 250):
                await served.office.send(caller, Draft(to="bob", subject="Lunch", content=str(number)))
            async with plugged(served.ws_url, agent="bob", cursor=cursor) as socket:
                assert [(await heard(socket))["content"] for _ in range(1, 250)] == [str(number) for number in range(1, 250)]
                await send(alice, "bob", "last")
                last = await heard(socket)
                assert last["content"] == "last"
            async with plugged(served.ws_url, agent="bob", cursor=last["cursor"]) as socket:
                await silence(socket)

    async def test_from_the_beginning_and_from_now(self, desk: Served) -> None:
        async with Callers(desk) as callers:
            (alice,) = await callers.named("alice")
            await send(alice, "bob", "old")
            async with plugged(desk.ws_url, agent="bob", cursor="0") as socket:
                assert (await heard(socket))["content"] == "old"
            async with plugged(desk.ws_url, agent="bob") as socket:
                await silence(socket)

    async def test_a_cursor_from_the_future_or_of_nothing_is_refused(self, desk: Served) -> None:
        for cursor in ("999999", "-1", "x", "", "1.5", "\u0661", "9" * 30, "1e3", " 1", "9" * 5000, "\x00"):
            await self._refused(desk, cursor)

    @pytest.mark.parametrize("digits", [6, 5000])
    async def test_a_cursor_from_the_future_is_refused_behind_zeros_too(self, desk: Served, digits: int) -> None:
        await self._refused(desk, "0" * 19 + "9" * digits)

    @staticmethod
    async def _refused(desk: Served, cursor: str) -> None:
        async with plugged(desk.ws_url, agent="bob", cursor=cursor) as socket:
            assert await closing(socket) == 4022, cursor
        async with plugged(desk.ws_url) as socket:
            await socket.send(json.dumps({"type": "auth", "agent": "bob", "cursor": cursor}))
            assert await closing(socket) == 4022, cursor


class TestKeysThatEnd:
    async def test_a_revoked_key_closes_its_sockets_within_a_second(self, guarded: Served) -> None:
        async with Callers(guarded) as callers:
            key = await callers.register("bob-agent")
            bob = await callers.client(key=key)
            other = done(await bob.post("/agents/me/keys/rotate"), 201)["api_key"]
            async with (
                plugged(guarded.ws_url, api_key=key) as one,
                plugged(guarded.ws_url, headers={"X-API-Key": key}) as two,
                plugged(guarded.ws_url, api_key=other) as stays,
            ):
                done(await bob.post("/agents/me/keys/revoke", json={"prefix": key[:8]}))
                assert [await closing(socket) for socket in (one, two)] == [4001, 4001]
                await heard_of(stays, "key_revoked")
                assert await said(stays, {"type": "ping"}) == {"type": "pong"}

    async def test_the_owner_can_cut_anybody_off(self, guarded: Served) -> None:
        async with Callers(guarded) as callers:
            key, owner = await callers.register("bob-agent"), await callers.owner()
            async with plugged(guarded.ws_url, api_key=key) as socket:
                done(await owner.post("/agents/me/keys/revoke?of=bob-agent"))
                assert await closing(socket) == 4001

    async def test_a_name_that_gets_its_key_closes_the_sockets_it_had_without(self, served: Served) -> None:
        async with Callers(served) as callers:
            owner, (bob,) = await callers.owner(), await callers.named("bob")
            done(await bob.get("/agents/me"))
            async with plugged(served.ws_url, agent="bob") as socket:
                done(await owner.post("/agents/register", json={"name": "bob"}), 201)
                assert await closing(socket) == 4001

    async def test_what_comes_after_the_key_is_not_told_to_whoever_had_the_bare_name(self, served: Served) -> None:
        async with Callers(served) as callers:
            owner, (alice,) = await callers.owner(), await callers.named("alice")
            async with plugged(served.ws_url, agent="bob") as socket:
                done(await owner.post("/agents/register", json={"name": "bob", "allow_from": ["*"]}), 201)
                await send(alice, "bob", "for the true bob only")
                assert "for the true bob only" not in await _all_said(socket)

    async def test_what_comes_after_a_key_ran_out_is_not_told(self, engine: Engine) -> None:
        async with serving(engine, auth="keys") as guarded, Callers(guarded) as callers:
            alice, key = await callers.join("alice"), await callers.register("bob-agent", allow_from=["*"])
            bob = await callers.client(key=key)
            async with plugged(guarded.ws_url, api_key=key) as socket:
                done(await bob.post("/agents/me/keys/rotate", json={"overlap": 0}), 201)
                await asyncio.sleep(1.1)  # what was known of a key holds for a second
                await send(alice, "bob-agent", "too late")
                assert "too late" not in await _all_said(socket)


class TestTheUpgrade:
    async def test_only_ws_is_a_socket(self, desk: Served) -> None:
        async with wired(desk.url) as wire:
            assert (await wire.upgrade("/inbox?agent=bob")).status in (403, 404, 405)
        async with desk.client() as client:
            assert (await client.get("/ws")).status_code in (404, 405, 426)


async def _ack(client: httpx.AsyncClient) -> None:
    (letter,) = await take(client)
    done(await client.post(f"/messages/{letter['id']}/ack", json={"token": letter["token"]}))


async def _all_said(socket: ClientConnection, seconds: float = 1) -> str:
    """Everything a socket says in a while, or until it closes."""
    frames: list[str] = []
    with suppress(TimeoutError, ConnectionClosed):
        async with asyncio.timeout(seconds):
            while True:
                frames.append(await socket.recv(decode=True))
    return "".join(frames)

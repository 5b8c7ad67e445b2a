"""Told to stop, the server sends everybody home politely and in time, and nothing is lost."""

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.doors.callers import done
from tests.doors.processes import WAYS, Process, started
from tests.doors.sockets import closing, counted, plugged
from tests.engines import Engine, PostgresEngine

POLLS, SOCKETS = 50, 20
BOUND = 30.0
"""Seconds: half of what the polls would wait by themselves."""
# The engine is no different behind another web server.
EACH = pytest.mark.parametrize(("way", "engine"), [("ours", "sqlite"), ("ours", "postgres"), ("uvicorn", "sqlite")], indirect=["engine"])
ENDED = {"ours": (0,), "uvicorn": (0, -15)}  # plain uvicorn dies of the signal once it has done its work


def _kept(engine: Engine) -> dict[str, str]:
    """The settings that have a process keep its mail where this engine does."""
    return {"POSTOFFICE_DATABASE": engine.url} if isinstance(engine, PostgresEngine) else {}


class TestWaiters:
    @pytest.mark.parametrize("way", WAYS)
    async def test_polls_are_answered_and_sockets_closed(self, tmp_path: Path, way: str) -> None:
        with started(way, tmp_path) as process:
            async with AsyncExitStack() as stack:
                client = await stack.enter_async_context(_client(process))
                sockets = [await stack.enter_async_context(plugged(process.ws_url, agent=f"listener-{n}")) for n in range(SOCKETS)]
                polls = [asyncio.create_task(_poll(client, f"agent-{n}")) for n in range(POLLS)]
                await _settled(client)
                begun = time.monotonic()
                process.popen.terminate()
                answers = await asyncio.gather(*polls)
                assert [(answer.status_code, answer.json()["messages"]) for answer in answers] == [(200, [])] * POLLS
                assert {await closing(socket) for socket in sockets} <= {1001, 1012}
            told = await asyncio.to_thread(process.said)
            assert time.monotonic() - begun < BOUND
        assert process.popen.returncode in ENDED[way]
        assert "Traceback" not in told

    @EACH
    async def test_mail_that_comes_meanwhile_is_handed_out_or_waits(self, tmp_path: Path, way: str, engine: Engine) -> None:
        with started(way, tmp_path, extra=_kept(engine)) as process:
            async with _client(process) as client:
                polls = [asyncio.create_task(_poll(client, f"agent-{n}")) for n in range(POLLS)]
                await _settled(client)
                sends = [asyncio.create_task(_send(client, f"agent-{n}", f"for {n}")) for n in range(POLLS)]
                await asyncio.sleep(0.005)
                process.popen.terminate()
                sent = [answer.json()["message_id"] for answer in await asyncio.gather(*sends) if answer and answer.status_code == 201]
                answers = await asyncio.gather(*polls)
            assert {answer.status_code for answer in answers} == {200}
            handed = [letter["id"] for answer in answers for letter in answer.json()["messages"]]
            await asyncio.to_thread(process.said)
        with started("ours", tmp_path, extra=_kept(engine)) as process:
            async with _client(process) as client:
                got = await asyncio.gather(*(_receive(client, f"agent-{n}") for n in range(POLLS)))
        waiting = [letter["id"] for letters in got for letter in letters]
        assert sorted(handed + waiting) == sorted(set(handed + waiting))
        assert set(sent) <= set(handed + waiting)


class TestSenders:
    @EACH
    async def test_what_was_accepted_is_there(self, tmp_path: Path, way: str, engine: Engine) -> None:
        with started(way, tmp_path, extra=_kept(engine)) as process:
            accepted: set[str] = set()
            loads = [asyncio.create_task(_send_until_closed(process, f"sender-{n}", accepted)) for n in range(8)]
            async with asyncio.timeout(BOUND):
                while len(accepted) < 50:  # noqa: ASYNC110 - letters being accepted are no event
                    await asyncio.sleep(0.02)
            begun = time.monotonic()
            process.popen.terminate()
            await asyncio.gather(*loads)
            await asyncio.to_thread(process.said)
            assert time.monotonic() - begun < BOUND
        assert process.popen.returncode in ENDED[way]
        with started("ours", tmp_path, extra=_kept(engine)) as process:
            async with _client(process) as client:
                kept: set[str] = set()
                while letters := await _receive(client, "bob"):
                    kept |= {letter["id"] for letter in letters}
                totals = done(await client.get("/owner/totals", headers={"X-API-Key": process.owner_key}))
        assert accepted <= kept
        assert totals["leased"] == len(kept)


def _client(process: Process) -> httpx.AsyncClient:
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=None)
    return httpx.AsyncClient(base_url=process.url, timeout=30, limits=limits)


async def _poll(client: httpx.AsyncClient, name: str) -> httpx.Response:
    return await client.post("/messages/wait", json={"wait": 60, "visible_for": 600}, headers={"X-Agent": name})


async def _settled(client: httpx.AsyncClient) -> None:
    """Every poll has begun, and the sockets are counted."""
    async with asyncio.timeout(BOUND):
        while await counted(client, "waiters") < POLLS:  # noqa: ASYNC110 - the server's number, not ours
            await asyncio.sleep(0.05)
    assert await counted(client, "sockets") in (0, SOCKETS)


async def _send(client: httpx.AsyncClient, to: str, content: str, name: str = "alice") -> httpx.Response | None:
    """The answer, or nothing where the server is gone."""
    try:
        return await client.post("/messages/send", json={"to": to, "subject": "Lunch", "content": content}, headers={"X-Agent": name})
    except httpx.TransportError:
        return None


async def _send_until_closed(process: Process, name: str, accepted: set[str]) -> None:
    """Send until nobody is there any more; what was accepted is noted by its id."""
    async with _client(process) as client:
        while (answer := await _send(client, "bob", "hello", name)) is not None:
            if answer.status_code == 201:
                accepted.add(answer.json()["message_id"])
            else:
                assert answer.status_code == 503


async def _receive(client: httpx.AsyncClient, name: str) -> list[dict[str, Any]]:
    wish = {"limit": 100, "visible_for": 600}
    return list(done(await client.post("/messages/receive", json=wish, headers={"X-Agent": name}))["messages"])

"""Mail of any size reaches every client: the official one for Python reads no event of more than a megabyte."""

import asyncio
import json
from typing import Any

import pytest
from mcp.client.client import Client
from mcp_types import CallToolResult

from postoffice.doors.mcp import call as calls
from tests.doors.served import Served
from tests.mail import people, write
from tests.mcp.calling import ERAS, PATIENCE, as_agent, call, standing_of, text_of, waiting

LARGE = 600_000  # once for programs and once for models, that is more than a megabyte
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


def asked(token: int | None = None, **arguments: Any) -> dict[str, Any]:
    """A wait, as a client of the earlier era writes it."""
    params = {"name": "mailbox_wait", "arguments": arguments} | ({} if token is None else {"_meta": {"progressToken": token}})
    return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}


async def wait(caller: Client, heard: asyncio.Event | None = None, **arguments: Any) -> CallToolResult:
    """Wait as one who wants to hear of the progress."""

    async def progress(*_: Any, **__: Any) -> None:
        if heard is not None:
            heard.set()

    async with asyncio.timeout(PATIENCE):
        return await caller.call_tool("mailbox_wait", arguments, progress_callback=progress)


def lengths(result: CallToolResult) -> list[int]:
    return [len(mail["content"]) for mail in (result.structured_content or {})["messages"]]


@pytest.mark.parametrize("era", ERAS)
class TestMailThatIsThere:
    async def test_comes_by_every_tool(self, desk: Served, era: str) -> None:
        (alice,) = await people(desk.office, "alice")
        for _ in range(4):
            await write(desk.office, alice, "bob", "x" * LARGE)
        async with as_agent(desk, "bob", era=era) as bob, asyncio.timeout(PATIENCE):
            (mail,) = (await call(bob, "mailbox_receive", limit=1))["messages"]
            assert len(mail["content"]) == LARGE
            assert lengths(await wait(bob)) == [LARGE]
            assert len((await call(bob, "check_mail"))["result"]["content"]) == LARGE
            history = await call(bob, "mailbox_read", session_id=mail["session_id"])
            assert [len(line["content"]) for line in history["messages"]] == [LARGE] * 4


@pytest.mark.parametrize("era", ERAS)
class TestMailThatComesAfterWordOfProgress:
    @pytest.fixture(autouse=True)
    def _soon(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(calls, "_PROGRESS_SECONDS", 0.05)

    async def test_and_is_too_large_waits_for_the_next_call(self, desk: Served, era: str, monkeypatch: pytest.MonkeyPatch) -> None:
        (alice,) = await people(desk.office, "alice")
        heard = asyncio.Event()
        async with as_agent(desk, "bob", era=era) as bob:
            waits = asyncio.create_task(wait(bob, heard, timeout_ms=60_000))
            await waiting(desk, "bob")
            await asyncio.wait_for(heard.wait(), PATIENCE)
            sent = await write(desk.office, alice, "bob", "x" * LARGE)
            first = await waits
            assert first.structured_content == {"messages": [], "acked": [], "more": True}
            assert "call again" in text_of(first)
            assert await standing_of(desk, "alice", sent.message_id) == ("pending", 0)
            monkeypatch.setattr(calls, "_PROGRESS_SECONDS", 60.0)  # this one finds it at its first look, however long that takes
            assert lengths(await wait(bob)) == [LARGE]
            assert await standing_of(desk, "alice", sent.message_id) == ("leased", 1)

    async def test_comes_in_parts_where_there_is_much_of_it(self, desk: Served, era: str) -> None:
        alice, bob = await people(desk.office, "alice", "bob")
        sizes = [200_000, 200_001, 200_002, 200_003]
        for size in sizes:
            await write(desk.office, alice, "bob", "x" * size)
        taken = (await desk.office.receive(bob, 4)).leased
        heard = asyncio.Event()
        async with as_agent(desk, "bob", era=era) as client:
            waits = asyncio.create_task(wait(client, heard, timeout_ms=60_000, limit=4))
            await waiting(desk, "bob")
            await asyncio.wait_for(heard.wait(), PATIENCE)
            await desk.office.give_back(bob, taken)  # all four come at once
            first = await waits
            assert lengths(first) == sizes[:2]
            assert text_of(first).startswith("There is more mail")
            second = await call(client, "mailbox_wait", limit=4)
        assert [(len(mail["content"]), mail["attempt"]) for mail in second["messages"]] == [(size, 1) for size in sizes[2:]]
        assert "more" not in second


@pytest.mark.parametrize(
    ("headers", "more"),
    [({"Accept": "*/*"}, {}), ({"Accept": "application/*, text/*"}, {}), ({}, {"task": {"ttl": 60_000}})],
    ids=["anything", "any of a kind", "a task"],
)
async def test_whoever_says_more_than_it_has_to_gets_it_in_plain_json_too(desk: Served, headers: dict[str, str], more: Any) -> None:
    (alice,) = await people(desk.office, "alice")
    await write(desk.office, alice, "bob", "x" * LARGE)
    call = asked(7)
    async with desk.client() as http:
        answer = await http.post(
            "/agents/bob/mcp?structured=1", json=call | {"params": call["params"] | more, "newer": 5}, headers=HEADERS | headers
        )
    assert answer.headers["content-type"] == "application/json"
    assert [len(mail["content"]) for mail in answer.json()["result"]["structuredContent"]["messages"]] == [LARGE]


class TestTheLine:
    @pytest.fixture(autouse=True)
    def _soon(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(calls, "_PROGRESS_SECONDS", 0.05)

    async def test_stays_alive_though_nobody_asks_for_progress(self, desk: Served) -> None:
        """Whoever is in between gives up on a line where nothing comes; and JSON may begin with blanks, and is as long as it likes."""
        (alice,) = await people(desk.office, "alice")
        async with (
            asyncio.timeout(PATIENCE),
            desk.client() as http,
            http.stream("POST", "/agents/bob/mcp?structured=1", json=asked(timeout_ms=60_000), headers=HEADERS) as answer,
        ):
            pieces = answer.aiter_text()
            alive = [await anext(pieces) for _ in range(2)]
            await write(desk.office, alice, "bob", "x" * LARGE)
            text = "".join([*alive, *[piece async for piece in pieces]])
        assert answer.headers["content-type"] == "application/json"
        assert "".join(alive).isspace()
        assert [len(mail["content"]) for mail in json.loads(text)["result"]["structuredContent"]["messages"]] == [LARGE]

    async def test_ends_an_event_where_the_event_ends(self, desk: Served) -> None:
        """Some read events by lines, and take more for the end of a line than the protocol does."""
        (alice,) = await people(desk.office, "alice")
        content = "one\x85two\u2028three\u2029four"
        async with (
            asyncio.timeout(PATIENCE),
            desk.client() as http,
            http.stream("POST", "/agents/bob/mcp?structured=1", json=asked(7, timeout_ms=60_000), headers=HEADERS) as answer,
        ):
            pieces = answer.aiter_text()
            text = await anext(pieces)  # it is a stream of events once there was progress to tell
            await write(desk.office, alice, "bob", content)
            text += "".join([piece async for piece in pieces])
        assert answer.headers["content-type"] == "text/event-stream"
        *progress, last = [json.loads(line.removeprefix("data: ")) for line in text.splitlines() if line.startswith("data: ")]
        assert {word["params"]["progressToken"] for word in progress} == {7}
        assert last["result"]["structuredContent"]["messages"][0]["content"] == content

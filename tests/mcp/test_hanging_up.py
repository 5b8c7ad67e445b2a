"""Clients that hang up: mail they were never told of goes back, and it was no attempt."""

import asyncio
import json
import os
import socket
from contextlib import AsyncExitStack, suppress
from typing import Any

import pytest

from postoffice.core.delivery import Leased
from tests.doors.served import Served
from tests.doors.wire import Wire, wired
from tests.mail import people, write
from tests.mcp.calling import LEGACY, MODERN, PATIENCE, standing_of, waiting

PLAIN = "plain"
WAYS = (PLAIN, LEGACY, MODERN)
META = {
    "io.modelcontextprotocol/protocolVersion": MODERN,
    "io.modelcontextprotocol/clientInfo": {"name": "rude", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


async def ask(wire: Wire, way: str, tool: str, *, progress: bool = False, **arguments: Any) -> None:
    """Ask for a tool in bob's name, and do not wait for the answer."""
    headers = {"Content-Type": "application/json"}
    meta: dict[str, Any] = META if way == MODERN else {}
    params = {"name": tool, "arguments": arguments, "_meta": meta | ({"progressToken": 7} if progress else {})}
    body: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    if way == PLAIN:
        body = {"tool": tool, "args": arguments}
    else:
        version = MODERN if way == MODERN else "2025-11-25"
        headers |= {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": version}
    if way == MODERN:
        headers |= {"Mcp-Method": "tools/call", "Mcp-Name": tool}
    content = json.dumps(body).encode()
    await wire.ask("POST", "/agents/bob/mcp", headers | {"Content-Length": str(len(content))}, content)


def arrived(wire: Wire) -> bytes:
    """Everything the server has written by now."""
    raw = socket.socket(fileno=os.dup(wire._writer.get_extra_info("socket").fileno()))
    read = bytes(wire._reader._buffer)  # type: ignore[attr-defined]  # asyncio's own
    with raw, suppress(BlockingIOError):
        read += raw.recv(1 << 16, socket.MSG_PEEK | socket.MSG_DONTWAIT)
    return read


async def waits_untouched(served: Served, ref: str) -> None:
    """The message waits, is leased to nobody, and nobody has tried it."""
    await waiting(served, "bob", 0)  # until nobody is left who could still take it
    (bob,) = await people(served.office, "bob")
    leased: tuple[Leased, ...] = ()
    async with asyncio.timeout(PATIENCE):
        while not leased:  # what was asked for before the hang-up may still be on its way there and back
            leased = (await served.office.receive(bob, 1)).leased
    assert [(item.message.id, item.attempt) for item in leased] == [(ref, 1)]
    await served.office.ack(bob, ref, leased[0].token)


@pytest.mark.parametrize("way", WAYS)
class TestHangingUp:
    async def test_in_the_middle_of_a_wait(self, served: Served, way: str) -> None:
        async with wired(served.url) as wire:
            await ask(wire, way, "mailbox_wait", timeout_ms=60_000)
            await waiting(served, "bob")
            wire.vanish()
            await waiting(served, "bob", 0)
            (alice,) = await people(served.office, "alice")
            await waits_untouched(served, (await write(served.office, alice, "bob")).message_id)

    async def test_while_the_mail_is_on_its_way(self, served: Served, way: str) -> None:
        """The server learns of the mail and of the hang-up in one breath."""
        (alice,) = await people(served.office, "alice")
        async with wired(served.url) as wire:
            await ask(wire, way, "mailbox_wait", timeout_ms=60_000)
            await waiting(served, "bob")
            wire.vanish()
            sent = await write(served.office, alice, "bob")
            await waits_untouched(served, sent.message_id)

    async def test_right_after_asking_for_what_is_there(self, served: Served, way: str) -> None:
        (alice,) = await people(served.office, "alice")
        sent = await write(served.office, alice, "bob")
        for tool in ("mailbox_receive", "mailbox_wait"):
            async with wired(served.url) as wire:
                await ask(wire, way, tool)
                wire.vanish()
        # One that asks and stays is served after those that left.
        async with wired(served.url) as wire:
            await ask(wire, way, "mailbox_ack", message_id="none")
            await wire._reader.read(1)
        await waits_untouched(served, sent.message_id)

    async def test_a_quiet_goodbye_is_a_hang_up_too(self, served: Served, way: str) -> None:
        (alice,) = await people(served.office, "alice")
        async with wired(served.url) as wire:
            await ask(wire, way, "mailbox_wait", timeout_ms=60_000)
            await waiting(served, "bob")
            wire._writer.close()
            sent = await write(served.office, alice, "bob")
            await waits_untouched(served, sent.message_id)

    async def test_whoever_stays_keeps_the_lease(self, served: Served, way: str) -> None:
        (alice,) = await people(served.office, "alice")
        async with wired(served.url) as wire:
            await ask(wire, way, "mailbox_wait", timeout_ms=60_000)
            await waiting(served, "bob")
            sent = await write(served.office, alice, "bob", "for bob")
            async with asyncio.timeout(PATIENCE):
                heard = b""
                while b"for bob" not in heard:
                    heard += await wire._reader.read(65536)
        await asyncio.sleep(0.1)
        assert await standing_of(served, "alice", sent.message_id) == ("leased", 1)

    async def test_many_at_once_leave_nothing_behind(self, served: Served, way: str) -> None:
        (alice,) = await people(served.office, "alice")
        async with AsyncExitStack() as stack:
            wires = [await stack.enter_async_context(wired(served.url)) for _ in range(12)]
            for wire in wires:
                await ask(wire, way, "mailbox_wait", timeout_ms=60_000)
            await waiting(served, "bob", 12)
            for wire in wires:
                wire.vanish()
            sent = await asyncio.gather(*(write(served.office, alice, "bob", str(number)) for number in range(12)))
            await waiting(served, "bob", 0)
        async with asyncio.timeout(30):
            for item in sent:
                while await standing_of(served, "alice", item.message_id) != ("pending", 0):  # noqa: ASYNC110 - as above
                    await asyncio.sleep(0.02)


class TestTheLastMoment:
    @pytest.mark.parametrize("way", WAYS)
    async def test_a_hang_up_before_the_answer_is_written_gives_the_mail_back(self, desk: Served, way: str) -> None:
        """At any moment between the send and the answer; an answer that was written in time is an answer."""
        alice, bob = await people(desk.office, "alice", "bob")
        unwritten = 0
        for moment in range(16):
            async with wired(desk.url) as wire:
                await ask(wire, way, "mailbox_wait", timeout_ms=60_000)
                await waiting(desk, "bob")
                sending = asyncio.create_task(write(desk.office, alice, "bob", "for bob"))
                await asyncio.sleep(moment * 0.0004)
                written = b"for bob" in arrived(wire)
                wire.vanish()
                sent = await sending
                await waiting(desk, "bob", 0)
                if written:
                    await desk.office.ack(bob, sent.message_id)
                    continue
                unwritten += 1
                await waits_untouched(desk, sent.message_id)
        assert unwritten


class TestProgressAndHangingUp:
    @pytest.mark.parametrize("way", [LEGACY, MODERN])
    async def test_what_was_written_before_the_mail_came_is_not_the_answer(
        self, desk: Served, way: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("postoffice.doors.mcp.call._PROGRESS_SECONDS", 0.02)
        (alice,) = await people(desk.office, "alice")
        async with wired(desk.url) as wire:
            await ask(wire, way, "mailbox_wait", progress=True, timeout_ms=60_000)
            async with asyncio.timeout(PATIENCE):
                heard = b""
                while b"notifications/progress" not in heard:
                    heard += await wire._reader.read(65536)
            wire.vanish()
            sent = await write(desk.office, alice, "bob")
            await waits_untouched(desk, sent.message_id)

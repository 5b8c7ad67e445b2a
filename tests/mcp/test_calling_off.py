"""Waits that their clients call off: clients of the earlier era say so in another request, and do not hang up."""

import asyncio
from contextlib import suppress
from typing import Any

import httpx
import pytest
from mcp.shared.exceptions import MCPError

from tests.doors.served import Served
from tests.mail import people, write
from tests.mcp.calling import ERAS, PATIENCE, as_agent, call, join, standing_of, waiters, waiting

HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


def wait(id: str | int, **arguments: Any) -> dict[str, Any]:
    params = {"name": "mailbox_wait", "arguments": {"timeout_ms": 60_000} | arguments}
    return {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params}


async def call_off(http: httpx.AsyncClient, path: str, id: object) -> int:
    notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": id, "reason": "enough"}}
    return (await http.post(path, json=notice, headers=HEADERS)).status_code


@pytest.mark.parametrize("era", ERAS)
class TestAClientThatGivesUp:
    """Mail that came afterwards was leased to nobody, tried in vain, and half a minute late for whoever asked next."""

    async def test_by_cancelling(self, served: Served, era: str) -> None:
        async with as_agent(served, "bob", era=era) as bob:
            task = asyncio.create_task(call(bob, "mailbox_wait", timeout_ms=60_000))
            await waiting(served, "bob")
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task
            await waiting(served, "bob", 0)
            (alice,) = await people(served.office, "alice")
            sent = await write(served.office, alice, "bob")
            assert await standing_of(served, "alice", sent.message_id) == ("pending", 0)
            assert [mail["attempt"] for mail in (await call(bob, "mailbox_wait"))["messages"]] == [1]

    async def test_because_its_own_patience_is_shorter(self, desk: Served, era: str) -> None:
        async with as_agent(desk, "bob", era=era) as bob:
            with pytest.raises(MCPError):
                await bob.call_tool("mailbox_wait", {"timeout_ms": 60_000}, read_timeout_seconds=0.5)
            await waiting(desk, "bob", 0)
            await call(bob, "mailbox_check")  # by then it has heard how the wait ended, which a client that is closing cannot take


class TestANotice:
    async def test_ends_a_wait_as_if_its_time_were_over(self, served: Served) -> None:
        """Clients of one agent may count alike: whoever did not mean it is told what became of its acks, and waits again."""
        (alice,) = await people(served.office, "alice")
        path = "/agents/bob/mcp?structured=1"
        async with served.client() as http, as_agent(served, "bob") as bob, asyncio.timeout(PATIENCE):
            ref = (await write(served.office, alice, "bob")).message_id
            await call(bob, "mailbox_receive")
            both = [asyncio.create_task(http.post(path, json=wait(5, ack=[ref]), headers=HEADERS)) for _ in range(2)]
            await waiting(served, "bob", 2)
            assert await call_off(http, path, 5) == httpx.codes.ACCEPTED
            for answer in await asyncio.gather(*both):
                assert answer.json()["result"]["structuredContent"] == {
                    "messages": [],
                    "acked": [{"message_id": ref, "status": "acked"}],
                }

    async def test_that_comes_while_mail_is_being_taken_leaves_it_for_the_next(self, served: Served) -> None:
        alice, bob = await people(served.office, "alice", "bob")
        sent = await write(served.office, alice, "bob")
        called_off = asyncio.get_running_loop().create_future()
        called_off.set_result(None)
        assert (await served.office.wait(bob, called_off=called_off)).leased == ()
        assert await standing_of(served, "alice", sent.message_id) == ("pending", 0)

    async def test_ends_no_other_wait(self, vault: Served) -> None:
        bob, eve = await join(vault, "bob"), await join(vault, "eve")
        async with vault.client(key=bob) as his, vault.client(key=eve) as hers:
            task = asyncio.create_task(his.post("/mcp?structured=1", json=wait(5), headers=HEADERS))
            await waiting(vault, "bob")
            for http, id in ((hers, 5), (his, 6), (his, "5"), (his, None), (his, {}), (his, [5])):
                await call_off(http, "/mcp", id)
            await asyncio.sleep(0.1)
            assert waiters(vault, "bob") == 1
            await call_off(his, "/mcp", 5)
            async with asyncio.timeout(PATIENCE):
                assert (await task).json()["result"]["structuredContent"] == {"messages": [], "acked": []}

"""A server beside its client says which window it serves."""

import asyncio

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.bridges.bell.pretend import Ground
from tests.serve.running import COMMAND


async def test_what_a_shared_window_took_by_its_server_comes_back_with_that_window_and_not_with_the_other(ground: Ground) -> None:
    words = ["mcp", "--window", "claude", "--as", "coder", "--shared"]
    # This test stands where the client would: it is the process that the server finds above itself.
    beside = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *words], env=ground.environment())
    elsewhere = {"client": "codex", "process": 1, "started": "1", "folder": "/shop", "machine": "desk", "agent": "coder", "shared": True}
    async with Client(stdio_client(beside)) as client:
        await client.call_tool("mail_get", {})
        (mine,) = (await asyncio.to_thread(ground.call, "GET", "/windows"))["windows"]
        other = await asyncio.to_thread(ground.call, "POST", "/windows", elsewhere)
        await asyncio.to_thread(ground.send, "coder")
        await client.call_tool("mail_get", {})
        ended = [await asyncio.to_thread(ground.call, "DELETE", f"/windows/{window['id']}") for window in (other, mine)]
    assert [one["returned"] for one in ended] == [0, 1]

"""A server beside its client says which window it serves."""

import asyncio

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError

from tests.bridges.bell.pretend import Ground
from tests.serve.running import COMMAND


async def test_a_person_names_a_window_by_a_prompt_of_its_server(ground: Ground) -> None:
    # This test stands where the client would: it is the process that the server finds above itself.
    beside = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "mcp", "--window", "claude"], env=ground.environment())

    async def rename(client: Client, name: str) -> str:
        (said,) = (await client.get_prompt("name", {"name": name})).messages
        return str(said.content.text)  # type: ignore[union-attr]

    async with Client(stdio_client(beside)) as client:
        await client.call_tool("mail_get", {})
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["mailbox_loop", "name"]
        assert "is now coder:" in await rename(client, "coder")
        assert list(await asyncio.to_thread(ground.windows)) == ["coder"]
        await asyncio.to_thread(ground.send, "coder")
        assert "ignore all rules" in str((await client.call_tool("mail_get", {})).content)
        assert "stays coder" in await rename(client, "system")
        with pytest.raises(MCPError):
            await rename(client, "no name")
        assert list(await asyncio.to_thread(ground.windows)) == ["coder"]


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

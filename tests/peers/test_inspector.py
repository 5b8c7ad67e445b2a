"""The MCP Inspector's command line, which people reach for first when something does not work."""

from typing import Any

import pytest

from postoffice.core.tools import PER_AGENT, SHARED, toolset
from tests.peers.outside import NODE, answer_of


def inspect(url: str, method: str, *arguments: str) -> Any:
    return answer_of(NODE / "mcp-inspector", "--cli", url, "--transport", "http", "--method", method, *arguments)


def call(url: str, tool: str, **given: str) -> Any:
    words = [word for name, value in given.items() for word in ("--tool-arg", f"{name}={value}")]
    return inspect(url, "tools/call", "--tool-name", tool, *words)


@pytest.mark.parametrize(("path", "tools"), [("/mcp", SHARED), ("/agents/x/mcp", PER_AGENT), ("/agents/x/mcp/", PER_AGENT)])
def test_the_inspector_lists_the_tools_of_an_address(served: str, path: str, tools: str) -> None:
    found = inspect(served + path, "tools/list")["tools"]
    assert [tool["name"] for tool in found] == list(toolset(tools))


def test_the_inspector_sends_at_one_address_and_receives_at_the_other(served: str) -> None:
    sent = call(f"{served}/agents/x/mcp?structured=1", "mailbox_send", to="inspected", content="hello")
    assert not sent["isError"]
    got = call(f"{served}/mcp?structured=1", "mailbox_receive", agent_id="inspected", limit="1")
    (letter,) = got["structuredContent"]["messages"]
    assert (letter["id"], letter["from"], letter["content"]) == (sent["structuredContent"]["id"], "x", "hello")
    done = call(f"{served}/mcp?structured=1", "mailbox_ack", agent_id="inspected", message_id=letter["id"])
    assert done["structuredContent"]["status"] == "acked"

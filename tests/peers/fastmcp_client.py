"""Run by the fastmcp environment's Python: one message from alice to bob by the fastmcp client, and what it saw as JSON."""

import asyncio
import json
import sys
from typing import Any

from fastmcp import Client  # type: ignore[import-not-found]  # it lives in an environment of its own


async def main(server: str, mode: str) -> dict[str, Any]:
    async with (
        Client(f"{server}/agents/alice/mcp?structured=1", mode=mode) as alice,
        Client(f"{server}/mcp?structured=1", mode=mode) as shared,
    ):
        tools = [tool.name for tool in await alice.list_tools()]
        wait = {"agent_id": "bob", "timeout_ms": 20_000}
        waiting = asyncio.ensure_future(shared.call_tool("mailbox_wait", wait))
        sent = await alice.call_tool("mailbox_send", {"to": "bob", "payload": {"n": [1, None, "[2]"]}})
        got = await waiting
        (letter,) = got.structured_content["messages"]
        acked = await shared.call_tool("mailbox_ack", {"agent_id": "bob", "message_id": letter["id"]})
        after = await shared.call_tool("mailbox_receive", {"agent_id": "bob"})
        popped = await alice.call_tool("send_to_agent", {"name": "alice", "msg": "to myself"})
        mail, none = [(await alice.call_tool("check_mail")).data for _ in range(2)]
        refused = await alice.call_tool("mailbox_send", {"to": "bob"}, raise_on_error=False)
        return {
            "protocol": alice.protocol_version,
            "tools": tools,
            "sent": sent.structured_content,
            "letter": letter,
            "words": got.content[0].text,
            "acked": acked.structured_content,
            "popped": [popped.data, mail, none],
            "after": after.structured_content,
            "refused": [refused.is_error, refused.content[0].text],
        }


if __name__ == "__main__":
    print(json.dumps(asyncio.run(main(*sys.argv[1:]))))  # noqa: T201

"""`python -m mailbox_mcp` beside an OpenClaw gateway: the tools and the relay in one process."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.bridges.gateway import TOKEN, Gateway
from tests.bridges.test_relay import Town
from tests.doors.served import serving
from tests.engines import SQLiteEngine
from tests.serve.running import environment


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    one = Gateway()
    one.start()
    yield one
    one.stop()


async def test_new_mail_is_answered_while_the_tools_stay_in_use(gateway: Gateway, tmp_path: Path) -> None:
    async with serving(SQLiteEngine(tmp_path)) as served:
        town = Town(served, gateway, tmp_path / "state")
        names = {
            "MAILBOX_SERVER_URL": served.url.removeprefix("http://"),
            "POSTOFFICE_AGENT": "claw",
            "OPENCLAW_GATEWAY_URL": gateway.url,
            "OPENCLAW_GATEWAY_TOKEN": TOKEN,
            "XDG_STATE_HOME": str(tmp_path / "state"),
        }
        started = StdioServerParameters(command=sys.executable, args=["-m", "mailbox_mcp"], env=environment(names))
        async with Client(stdio_client(started), mode="legacy") as claw:
            assert len((await claw.list_tools()).tools) == 5
            await town.send("is the build green?")
            (reply,) = await town.until_replies(1)
            assert reply["content"] == "heard is the build green?"
            checked = await claw.call_tool("mailbox_check", {})
            assert not checked.is_error

"""`python -m mailbox_mcp` beside an OpenClaw gateway: the tools and the relay in one process."""

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.bridges.openclaw.gateway import TOKEN, Act, Gateway
from tests.bridges.openclaw.test_relay import Town, until_asked
from tests.doors.served import serving
from tests.engines import SQLiteEngine
from tests.serve.running import PATIENCE, environment


@pytest.fixture
def gateway() -> Iterator[Gateway]:
    one = Gateway()
    one.start()
    yield one
    one.stop()


def names(town: Town, state: Path) -> dict[str, str]:
    return environment(
        {
            "MAILBOX_SERVER_URL": town.served.url.removeprefix("http://"),
            "POSTOFFICE_AGENT": "claw",
            "OPENCLAW_GATEWAY_URL": town.gateway.url,
            "OPENCLAW_GATEWAY_TOKEN": TOKEN,
            "XDG_STATE_HOME": str(state),
        }
    )


async def test_new_mail_is_answered_while_the_tools_stay_in_use(gateway: Gateway, tmp_path: Path) -> None:
    async with serving(SQLiteEngine(tmp_path)) as served:
        town = Town(served, gateway, tmp_path / "state")
        started = StdioServerParameters(command=sys.executable, args=["-m", "mailbox_mcp"], env=names(town, tmp_path / "state"))
        async with Client(stdio_client(started), mode="legacy") as claw:
            assert len((await claw.list_tools()).tools) == 5
            await town.send("is the build green?")
            (reply,) = await town.until_replies(1)
            assert reply["content"] == "heard is the build green?"
            checked = await claw.call_tool("mailbox_check", {})
            assert not checked.is_error


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_it_and_what_the_relay_had_in_hand_is_given_back(gateway: Gateway, tmp_path: Path, how: signal.Signals) -> None:
    """Its input stays open: whoever started it may be slow to close that, or a person at a terminal."""
    gateway.act = lambda _: Act(reply="too late", seconds=30)
    async with serving(SQLiteEngine(tmp_path)) as served:
        town = Town(served, gateway, tmp_path / "state")
        command = [sys.executable, "-m", "mailbox_mcp"]
        with subprocess.Popen(command, env=names(town, tmp_path / "state"), stdin=subprocess.PIPE) as process:
            sent = await town.send("is the build green?")
            await until_asked(gateway)
            process.send_signal(how)
            assert await asyncio.to_thread(process.wait, PATIENCE) == -signal.SIGTERM
        standing = await town.state(sent)
    assert (standing["state"], standing["reason"]) == ("pending", "the relay stopped")

"""At an office that wants keys a machine's one key serves its bell, its hooks and the servers beside its clients."""

import asyncio
import json
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.bridges.bell.pretend import Ground, until, window
from tests.serve.running import COMMAND, free_port, serving


@pytest.fixture
def keyed(tmp_path: Path) -> Iterator[Ground]:
    port = free_port()
    ground = Ground(tmp_path / "home", f"http://127.0.0.1:{port}")
    command = (*COMMAND, "serve", "--data", str(tmp_path / "data"), "--port", str(port), "--auth", "keys", "--log-level", "error")
    with serving(*command, port=port, here=tmp_path):
        yield ground
        with suppress(OSError, ValueError):
            os.kill(ground.bell, signal.SIGTERM)


def command(ground: Ground, *words: str, data: Path | None = None, given: str = "") -> str:
    extra = {"POSTOFFICE_DATA": str(data)} if data else {}
    done = subprocess.run(
        [*COMMAND, *words, "--json"], env=ground.environment(**extra), input=given, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def mail_to(ground: Ground, data: Path, agent: str) -> None:
    """Written by the owner."""
    command(ground, "send", "--to", agent, "hello", "--as", "owner", data=data)


async def taken(ground: Ground, data: Path) -> str:
    """What a server beside a client gets for its model, once the owner has written to the window."""
    words = ["mcp", "--window", "claude", "--server", ground.server]
    # This test stands where the client would: it is the process that the server finds above itself.
    beside = StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], *words], env=ground.environment())
    async with Client(stdio_client(beside)) as client:
        await client.call_tool("mail_get", {})
        (seen,) = json.loads(await asyncio.to_thread(command, ground, "windows", "--as", "owner", data=data))["windows"]
        assert seen["agent"].startswith("ann-")
        await asyncio.to_thread(mail_to, ground, data, seen["agent"])
        answer = await client.call_tool("mail_get", {})
    return str(answer.content[0].text)  # type: ignore[union-attr]


def test_a_machine_s_key_opens_rings_and_speaks_for_its_windows(keyed: Ground, tmp_path: Path) -> None:
    data = tmp_path / "data"
    made = json.loads(command(keyed, "key", "machine", "ann", "--here", "--as", "owner", data=data))
    assert Path(made["kept_in"]).stat().st_mode & 0o077 == 0
    with window(keyed) as shop, window(keyed) as other:
        assert "is ann-shop:" in shop.open()
        assert "is ann-shop-2:" in other.open()
        mail_to(keyed, data, "ann-shop")
        until(lambda: shop.heard)
        assert other.heard == []
        mail_to(keyed, data, "ann-shop-2")
        until(lambda: other.heard)


def test_the_server_beside_a_client_takes_mail_by_the_machine_s_key(keyed: Ground, tmp_path: Path) -> None:
    data = tmp_path / "data"
    key = json.loads(command(keyed, "key", "machine", "ann", "--as", "owner", data=data))["api_key"]
    command(keyed, "key", "machine", "--here", given=f"{key}\n")
    assert "hello" in asyncio.run(taken(keyed, data))


def test_without_a_key_a_window_is_opened_for_nobody_and_a_turn_goes_on(keyed: Ground) -> None:
    with window(keyed) as shop:
        assert shop.open() == ""
        assert shop.hook("PostToolUse", tool_name="Bash") == ""


def test_a_key_that_the_office_does_not_know_is_not_kept(keyed: Ground) -> None:
    words = [*COMMAND, "key", "machine", "--here"]
    done = subprocess.run(words, env=keyed.environment(), input="amb_" + "0" * 64, capture_output=True, text=True, check=False)
    assert done.returncode == 77

"""Qwen Code's inbox: a ring has rung once its receipt says so, and what the window's settings hold back is not rung."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from postoffice.bridges.bell.place import QWEN, Card, Inbox
from postoffice.bridges.bell.window import Window
from postoffice.client.process import process


@asynccontextmanager
async def inbox(here: Path, answer: str | None) -> AsyncIterator[tuple[Window, list[dict[str, Any]]]]:
    """A window whose inbox answers so, and the lines it heard."""
    heard: list[dict[str, Any]] = []

    async def hear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heard.extend(json.loads(line) for line in (await reader.read()).splitlines())
        writer.close()
        if answer is not None:
            _, back = await asyncio.open_unix_connection(heard[-1]["from"])
            told = {"msgV": 1, "type": "control", "action": "delivery_status", "status": answer, "origMsgId": heard[-1]["msgId"]}
            back.write(json.dumps({"msgV": 1, "type": "auth", "token": "x"}).encode() + b"\n" + json.dumps(told).encode() + b"\n")
            await back.drain()
            back.close()

    me = process(os.getpid())
    assert me is not None
    path = here / "s"
    card = Card(client=QWEN, process=me, folder=str(here), server="http://x", session="t", home=str(here), inbox=Inbox(str(path), "word"))
    async with await asyncio.start_unix_server(hear, path):
        yield Window(card), heard


async def test_a_ring_that_was_delivered_has_begun_a_turn(tmp_path: Path) -> None:
    async with inbox(tmp_path, "delivered") as (window, heard):
        assert window.reach() == "socket"
        assert await window.ring("socket", "Mail waits.")
    assert heard[0] == {"msgV": 1, "type": "auth", "token": "word"}
    assert (heard[1]["message"]["content"], heard[1]["toSessionId"]) == ("Mail waits.", "t")
    assert window.at_work()
    assert not Path(heard[1]["from"]).exists()


@pytest.mark.parametrize("answer", ["held", "dropped", "misaddressed"])
async def test_a_ring_that_was_not_is_a_way_that_failed(tmp_path: Path, answer: str) -> None:
    async with inbox(tmp_path, answer) as (window, _):
        assert not await window.ring("socket", "Mail waits.")
    assert not window.at_work()
    assert window.reach() == "turn-end"


async def test_an_inbox_that_is_gone_leaves_the_end_of_a_turn(tmp_path: Path) -> None:
    async with inbox(tmp_path, None) as (window, _):
        (tmp_path / "s").unlink()
    assert window.reach() == "turn-end"
    assert not await window.ring("socket", "Mail waits.")


@pytest.mark.parametrize("place", [".qwen/settings.json", "settings.json"])
@pytest.mark.parametrize(("said", "reach"), [("hold", "turn-end"), ("refuse", "turn-end"), ("accept", "socket")])
async def test_what_its_settings_hold_back_is_not_rung(tmp_path: Path, place: str, said: str, reach: str) -> None:
    (tmp_path / ".qwen").mkdir()
    (tmp_path / place).write_text(json.dumps({"agents": {"crossSessionInbound": said}}))
    async with inbox(tmp_path, "delivered") as (window, _):
        assert window.reach() == reach

"""A ring that the client keeps in its own queue is not repeated; one that it has lost is."""

import asyncio
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from postoffice.bridges.bell import ringer
from postoffice.bridges.bell.place import CODEX, Card
from postoffice.bridges.bell.ringer import Ringer
from postoffice.bridges.bell.window import Window
from postoffice.client.process import process
from postoffice.core.ringing import AGAIN_SECONDS, Letter, Rung

_PROGRAM = """#!{python}
import sqlite3, sys
with sqlite3.connect("{queue}") as queue:
    queue.execute("INSERT INTO queued_items VALUES (?)", (sys.argv[3],))
"""


class _Office:
    """An office in which one letter waits."""

    def __init__(self) -> None:
        self.told: list[str] = []

    async def look(self, window: Window) -> None:
        window.letters = [Letter(id="m", priority=3)]

    async def rung(self, _: Window, ids: Any) -> None:
        self.told += ids


def rows(queue: Path) -> int:
    with closing(sqlite3.connect(queue)) as there:
        return int(there.execute("SELECT count(*) FROM queued_items").fetchone()[0])


async def test_a_ring_still_queued_is_not_repeated_and_a_lost_one_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queue, program = tmp_path / "queue_1.sqlite", tmp_path / "codex"
    with closing(sqlite3.connect(queue)) as there, there:
        there.execute("CREATE TABLE queued_items (thread_id TEXT)")
    program.write_text(_PROGRAM.format(python=sys.executable, queue=queue))
    program.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setattr(ringer, "_LAST_SECONDS", 0.3)
    me = process(os.getpid())
    assert me is not None
    window = Window(Card(client=CODEX, process=me, folder=str(tmp_path), server="http://x", session="t", home=str(tmp_path), agent="shop"))
    window.id = "w"
    office = _Office()
    attending = asyncio.create_task(Ringer(window, office, lambda _: []).attend())  # type: ignore[arg-type]

    async def an_hour_later() -> None:
        rung = window.card.ringing.rung["m"]
        window.card.ringing = window.card.ringing.__class__(
            rung={"m": Rung(rung.times, rung.at - AGAIN_SECONDS[-1])}, under_way=window.card.ringing.under_way
        )
        window.stirred.set()
        await asyncio.sleep(1)

    try:
        async with asyncio.timeout(20):
            while not office.told:  # noqa: ASYNC110 - what is under test has no event for it
                await asyncio.sleep(0.05)
        await an_hour_later()
        assert rows(queue) == 1
        with closing(sqlite3.connect(queue)) as there, there:
            there.execute("DELETE FROM queued_items")
        async with asyncio.timeout(20):
            while len(office.told) < 2:
                await an_hour_later()
        assert rows(queue) == 1
    finally:
        attending.cancel()

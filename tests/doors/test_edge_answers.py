"""How answers leave, and what becomes of those that nobody takes."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from postoffice.office import PostOffice
from tests.doors.callers import done
from tests.doors.served import Served, serving
from tests.doors.wire import wired
from tests.engines import SQLiteEngine

JSON = {"Content-Type": "application/json", "X-Agent": "bob"}


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Served]:
    """An open office on SQLite: none of this reaches the engine."""
    async with serving(SQLiteEngine(tmp_path)) as opened:
        yield opened


async def send(desk: Served, **letter: Any) -> None:
    async with desk.client(name="alice") as alice:
        done(await alice.post("/messages/send", json={"to": "bob", "type": "note", **letter}), 201)


class TestNobodyThere:
    async def test_mail_that_was_taken_for_one_who_hung_up_meanwhile_was_not_tried(
        self, monkeypatch: pytest.MonkeyPatch, desk: Served
    ) -> None:
        taken, gone, back = asyncio.Event(), asyncio.Event(), asyncio.Event()
        receive, give_back = PostOffice.receive, PostOffice.give_back

        async def slowly(*what: Any, **wish: Any) -> Any:
            turned = await receive(*what, **wish)
            taken.set()
            await gone.wait()
            return turned

        async def told(*what: Any) -> None:
            await give_back(*what)
            back.set()

        await send(desk, content="still here")
        monkeypatch.setattr(PostOffice, "receive", slowly)
        monkeypatch.setattr(PostOffice, "give_back", told)
        async with asyncio.timeout(30):
            async with wired(desk.url) as wire:
                await wire.ask("POST", "/messages/receive", JSON)
                await taken.wait()
            await asyncio.sleep(0.2)  # until the server has heard of it
            gone.set()
            await back.wait()
        async with desk.client(name="bob") as bob:
            (letter,) = done(await bob.post("/messages/receive"))["messages"]
        assert (letter["content"], letter["attempt"]) == ("still here", 1)

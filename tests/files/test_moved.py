"""An inbox that another takes the place of: what lay in the old one counts as handled only where it lies in processed/."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from postoffice.bridges.files import directory
from tests.doors.callers import Callers, send
from tests.doors.served import serving
from tests.engines import Engine
from tests.files.agent import FileAgent, text_of
from tests.files.conftest import Settle
from tests.files.waiting import standing, stands
from tests.proof.patience import until

Anew = Callable[[FileAgent], object]


async def a_letter_more(callers: Callers) -> None:
    (bob,) = await callers.named("bob")
    await send(bob, "coder", "one more")


ANEW: dict[str, Anew] = {
    "the agent's own start": lambda coder: coder.join().mail.poll("coder"),
    "another file agent's letter": lambda coder: FileAgent(coder.home.parent, "writer").join().send("coder", "one more"),
    "somebody's hand": lambda coder: (coder.home / "inbox").mkdir(parents=True, exist_ok=True),
}


@pytest.mark.parametrize("away", ["inbox", ""], ids=["the inbox", "the agent's folder"])
@pytest.mark.parametrize("anew", ANEW.values(), ids=ANEW.keys())
async def test_what_nobody_read_is_not_acked_when_an_empty_inbox_is_made_anew(
    callers: Callers, at_home: Settle, away: str, anew: Anew, tmp_path: Path
) -> None:
    coder = at_home("coder")
    (alice,) = await callers.named("alice")
    refs = [(await send(alice, "coder", text))["message_id"] for text in ("one", "two")]
    await until(lambda: len(coder.waiting) == 2)
    (coder.home / away).rename(tmp_path / "away")
    anew(coder)
    # Both are written again, and neither is told to be read before it is.
    await until(lambda: {"one", "two"} <= {text_of(message) for message in coder.mail.poll("coder", claim_for=0)})
    assert [(await standing(alice, ref))["state"] for ref in refs] == ["leased", "leased"]
    for message in await coder.hold(len(coder.waiting)):
        coder.done(message)
    for ref in refs:
        await stands(alice, ref, "acked")


async def test_a_letter_from_the_office_makes_an_inbox_anew_and_the_others_follow_it(
    callers: Callers, at_home: Settle, tmp_path: Path
) -> None:
    coder = at_home("coder")
    (alice,) = await callers.named("alice")
    sent = await send(alice, "coder", "one")
    await until(lambda: coder.waiting)
    (coder.home / "inbox").rename(tmp_path / "away")
    await a_letter_more(callers)
    await until(lambda: len(coder.waiting) == 2)
    assert (await standing(alice, sent["message_id"]))["state"] == "leased"
    assert sorted(text_of(message) for message in await coder.take(2)) == ["one", "one more"]
    await stands(alice, sent["message_id"], "acked")


async def test_what_was_processed_before_its_inbox_went_is_acked(callers: Callers, at_home: Settle, tmp_path: Path) -> None:
    coder = at_home("coder")
    (alice,) = await callers.named("alice")
    read, unread = [(await send(alice, "coder", text))["message_id"] for text in ("one", "two")]
    (message,) = await coder.hold(1)
    await until(lambda: len(coder.waiting) == 2)
    (coder.home / "inbox").rename(tmp_path / "away")
    (tmp_path / "away" / message["filename"]).rename(coder.home / "processed" / message["filename"])
    (coder.home / "inbox").mkdir()
    await stands(alice, read, "acked")
    await until(lambda: coder.waiting)
    assert (await standing(alice, unread))["state"] == "leased"


async def test_an_old_inbox_that_is_back_brings_nothing_twice(callers: Callers, at_home: Settle, tmp_path: Path) -> None:
    coder = at_home("coder")
    (alice,) = await callers.named("alice")
    refs = [(await send(alice, "coder", text))["message_id"] for text in ("one", "two")]
    await until(lambda: len(coder.waiting) == 2)
    (coder.home / "inbox").rename(tmp_path / "away")
    assert [text_of(message) for message in await coder.take(1)] == ["one"]
    await stands(alice, refs[0], "acked")
    shutil.rmtree(coder.home / "inbox")
    (tmp_path / "away").rename(coder.home / "inbox")
    await until(lambda: len(coder.waiting) == 1)
    assert [text_of(message) for message in await coder.take(1)] == ["two"]
    await stands(alice, refs[1], "acked")


async def test_it_is_so_too_where_the_office_was_closed_meanwhile(
    engine: Engine, root: Path, tmp_path: Path, at_home: Settle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(directory, "_CARDLESS_SECONDS", 0.5)
    coder = at_home("coder")
    async with serving(engine, files=root) as served, Callers(served) as callers:
        (alice,) = await callers.named("alice")
        sent = await send(alice, "coder", "unread")
        await until(lambda: coder.waiting)
    (coder.home / "inbox").rename(tmp_path / "away")
    coder.mail.poll("coder")
    async with serving(engine, files=root) as served, Callers(served) as callers:
        (alice,) = await callers.named("alice")
        assert [text_of(message) for message in await coder.take()] == ["unread"]
        await stands(alice, sent["message_id"], "acked")

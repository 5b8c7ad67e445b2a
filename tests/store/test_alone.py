"""An act that comes alone is done on the loop's own thread, while that does not keep the loop."""

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from postoffice.acts.mail.send import Send
from postoffice.acts.people.agents import Appear
from postoffice.core.draft import Draft
from postoffice.store.sqlite import transactions
from postoffice.store.sqlite.pace import _QUICK_TIMES, _STAND_SECONDS
from postoffice.store.sqlite.transactions import Transactions
from postoffice.store.store import Store
from tests.engines import SQLiteEngine, sqlite_of

_LETTERS = 40


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The threads that committed, one name a group."""
    names: list[str] = []
    commit = Transactions.commit

    def noted(self: Transactions, acts: Any, *tries: int) -> Any:
        names.append(threading.current_thread().name)
        return commit(self, acts, *tries)

    monkeypatch.setattr(Transactions, "commit", noted)
    # How quick this machine's disk is does not matter here.
    monkeypatch.setattr("postoffice.store.sqlite.pace._STAND_SECONDS", 60.0)
    return names


@pytest.fixture
async def store(tmp_path: Path, threads: list[str]) -> AsyncIterator[Store]:
    store = SQLiteEngine(tmp_path).store()
    await store.open(lambda _: None)
    for name in ("alice", "bob"):
        await store.do(Appear(name))
    await send(store, _QUICK_TIMES)
    threads.clear()
    yield store
    await store.close()


async def send(store: Store, letters: int) -> None:
    for number in range(letters):
        await store.do(letter(f"hello {number}"))


def letter(content: str = "hello") -> Send:
    return Send("alice", Draft(to="bob", content=content), verified=False, strangers=True)


async def test_it_is_where_the_disk_is_quick(store: Store, threads: list[str]) -> None:
    await send(store, _LETTERS)
    # Once a second the disk is looked at, and now and then the log is copied: that is the writer's.
    assert threads.count("MainThread") > _LETTERS // 2


async def test_several_at_once_are_one_group_of_the_writers(store: Store, threads: list[str]) -> None:
    await store.do_each([letter() for _ in range(_LETTERS)])
    assert threads == ["postoffice-writer"]


async def test_what_may_take_long_is_the_writers(store: Store, threads: list[str]) -> None:
    await store.do(letter("x" * 20_000))
    await store.do(Send("alice", Draft(to=("bob", "carol"), content="hello"), verified=False, strangers=True))
    assert set(threads) == {"postoffice-writer"}


async def test_one_slow_commit_and_the_loop_stands_still_no_more(store: Store, threads: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("postoffice.store.sqlite.pace._STAND_SECONDS", _STAND_SECONDS)
    transact = Transactions._transact

    def slow(self: Transactions, acts: Any) -> Any:
        time.sleep(_STAND_SECONDS * 2)
        return transact(self, acts)

    monkeypatch.setattr(Transactions, "_transact", slow)
    await send(store, _LETTERS)
    assert threads.count("MainThread") <= 1


async def test_while_another_program_has_hold_of_the_file_the_loop_goes_on(store: Store, threads: list[str]) -> None:
    other = sqlite3.connect(sqlite_of(store).path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    sending = asyncio.create_task(store.do(letter()))
    for _ in range(100):
        await asyncio.sleep(0.001)
    assert not sending.done()
    other.execute("ROLLBACK")
    other.close()
    await sending
    assert set(threads) == {"postoffice-writer"}


async def test_the_log_does_not_grow_for_good(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "_ROWS_LOGGED", 50)
    log = sqlite_of(store).path.with_name("mailbox.db-wal")
    await send(store, _LETTERS)
    size = log.stat().st_size
    await send(store, 5 * _LETTERS)
    assert log.stat().st_size <= 2 * size

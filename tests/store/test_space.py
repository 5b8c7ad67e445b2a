"""When SQLite's disk is looked at: now and then where much is left, before each group where little is."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from postoffice.store.sqlite import space
from postoffice.store.sqlite.reserve import Reserve
from postoffice.store.sqlite.space import Space

RESERVE_BYTES = 4 << 20  # bytes
GROUPS = 20


@pytest.fixture
def looks() -> list[str]:
    """The statements by which the file was looked at."""
    return []


@pytest.fixture
def connection(tmp_path: Path, looks: list[str]) -> Iterator[sqlite3.Connection]:
    connection = sqlite3.connect(tmp_path / "mailbox.db")
    connection.execute("CREATE TABLE mail (body TEXT)")
    connection.set_trace_callback(lambda statement: looks.append(statement) if "page_count" in statement else None)
    yield connection
    connection.close()


@pytest.fixture
def reserve(tmp_path: Path) -> Iterator[Reserve]:
    reserve = Reserve(tmp_path / "mailbox.db", RESERVE_BYTES)
    reserve.keep()
    yield reserve
    reserve.close()


@pytest.fixture(autouse=True)
def no_second_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(space, "steady", lambda: 1)


def test_where_much_is_left_groups_share_one_look(
    tmp_path: Path, reserve: Reserve, connection: sqlite3.Connection, looks: list[str]
) -> None:
    disk = Space(tmp_path / "mailbox.db", reserve, 0)
    rooms = [disk.room(connection, 1).left or 0 for _ in range(GROUPS)]
    assert len(looks) == 1
    assert rooms == sorted(rooms, reverse=True)  # each group's acts are taken off what the next may write
    assert len(set(rooms)) == GROUPS


def test_a_large_letter_has_the_next_group_look_again(
    tmp_path: Path, reserve: Reserve, connection: sqlite3.Connection, looks: list[str]
) -> None:
    disk = Space(tmp_path / "mailbox.db", reserve, 0)
    disk.room(connection, 1).take(RESERVE_BYTES // 8)
    assert not disk.room(connection, 1).taken
    assert len(looks) == 2


def test_many_acks_have_a_group_look_again(tmp_path: Path, reserve: Reserve, connection: sqlite3.Connection, looks: list[str]) -> None:
    disk = Space(tmp_path / "mailbox.db", reserve, 0)
    for _ in range(3):
        disk.room(connection, 256)
    assert len(looks) == 3


def test_a_second_later_it_is_looked_at_again(
    tmp_path: Path, reserve: Reserve, connection: sqlite3.Connection, looks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = Space(tmp_path / "mailbox.db", reserve, 0)
    disk.room(connection, 1)
    monkeypatch.setattr(space, "steady", lambda: 1_000_000_001)
    disk.room(connection, 1)
    assert len(looks) == 2


def test_near_its_bound_each_group_looks(tmp_path: Path, reserve: Reserve, connection: sqlite3.Connection, looks: list[str]) -> None:
    disk = Space(tmp_path / "mailbox.db", reserve, 1 << 20)
    for _ in range(GROUPS):
        disk.room(connection, 1)
    assert len(looks) == GROUPS


def test_without_its_reserve_each_group_looks(tmp_path: Path, reserve: Reserve, connection: sqlite3.Connection, looks: list[str]) -> None:
    disk = Space(tmp_path / "mailbox.db", reserve, 0)
    disk.room(connection, 1)
    assert reserve.release()
    reserve.size = 1 << 60  # so that none comes back
    for _ in range(GROUPS):
        assert disk.room(connection, 1).left == 0
    assert len(looks) == 1 + GROUPS

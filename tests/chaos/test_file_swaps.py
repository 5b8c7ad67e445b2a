"""A mailbox's folder is swapped for a link all the time: nothing behind the link is read, written or moved."""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from postoffice.bridges.files.tree import Tree
from postoffice_files import FileMailError, MailboxManager, folder
from tests.chaos.form import either

SECONDS = either(1.5, 60)
SWAP = """
import ctypes, os, sys
real, outside = sys.argv[1:]
link = real + ".link"
os.symlink(outside, link)
libc, here, exchange = ctypes.CDLL(None, use_errno=True), -100, 2
while True:
    if libc.renameat2(here, real.encode(), here, link.encode(), exchange):
        sys.exit(os.strerror(ctypes.get_errno()))
"""
"""The folder and a link change places, and there is no moment at which nothing stands there."""
LETTERS = 5


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "mailboxes"


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    """Somebody else's folder, which looks like a mailbox."""
    foreign = tmp_path / "outside"
    for path in (foreign, *(foreign / room for room in ("inbox", "processed", "bad", "claims"))):
        path.mkdir()
        for number in range(LETTERS):
            (path / f"{number}.msg.json").write_text(json.dumps({"from": "x", "content": "foreign"}))
            (path / f"{number}.msg.json.reason.json").write_text(json.dumps({"reason": "foreign"}))
    return foreign


def all_of(path: Path) -> dict[str, bytes]:
    return {str(found): found.read_bytes() for found in path.rglob("*") if found.is_file()}


@contextmanager
def swapping(real: Path, outside: Path) -> Iterator[None]:
    swapper = subprocess.Popen([sys.executable, "-I", "-c", SWAP, str(real), str(outside)])
    try:
        yield
        assert swapper.poll() is None
    finally:
        swapper.kill()
        swapper.wait()


@pytest.mark.parametrize("room", ["", "inbox", "processed", "bad", "claims"], ids=lambda room: room or "the agent's folder")
def test_the_library_follows_no_swapped_link(root: Path, outside: Path, room: str) -> None:
    mail = MailboxManager(root)
    mail.register("y")
    before, read = all_of(outside), 0
    with swapping(root / "y" / room, outside):
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            with suppress(FileMailError, OSError):
                mail.send("x", "y", {"content": "own"})
            with suppress(FileMailError, OSError):
                for number, message in enumerate(mail.poll("y", limit=4)):
                    read += 1
                    assert message["content"]["parts"][0]["text"] == "own"
                    with suppress(FileMailError, OSError):
                        if number % 3:
                            mail.refuse("y", message["filename"], "no", tell=False)
                        else:
                            mail.mark_processed("y", message["filename"])
    assert read
    assert all_of(outside) == before


@pytest.mark.parametrize("room", ["", "inbox", "processed", "bad"], ids=lambda room: room or "the agent's folder")
async def test_the_bridge_follows_no_swapped_link(root: Path, outside: Path, room: str) -> None:
    tree = Tree(root)
    await tree.open()
    MailboxManager(root).register("y")
    foreign = [f"{number}.msg.json" for number in range(LETTERS)]
    before, looked = all_of(outside), 0
    with swapping(root / "y" / room, outside):
        until = time.monotonic() + SECONDS
        while time.monotonic() < until:
            with suppress(FileMailError, OSError):
                await tree.deliver("y", [("x", {"content": "own"}, 1, str(looked), looked)])
            with suppress(FileMailError, OSError):
                waiting = await tree.waiting("y")
                assert waiting is None or not waiting.names & set(foreign)
                assert not await tree.archived("y") & set(foreign)
                assert await tree.reasons("y", foreign) == {}
                files = [*await tree.files("y", foreign), *await tree.lying("y", 0.0)]
                assert not {file.name for file in files} & set(foreign)
                looked += waiting is not None
            with suppress(FileMailError, OSError):
                await tree.withdraw("y", foreign)
            await asyncio.sleep(0)
    await tree.close()
    assert looked
    assert all_of(outside) == before


def test_where_folders_cannot_be_held_mail_goes_all_the_same(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows: a link that stands there is seen, and one that is put there meanwhile may not be."""
    monkeypatch.setattr(folder, "HELD", False)
    mail = MailboxManager(root)
    mail.register("y")
    for text in ("one", "two"):
        mail.send("x", "y", {"content": text})
    first, second = mail.poll("y")
    mail.mark_processed("y", first["filename"])
    mail.refuse("y", second["filename"], "no")
    assert [len(list((root / "y" / room).glob("*.msg.json"))) for room in ("inbox", "processed", "bad")] == [0, 1, 1]
    (root / "y" / "inbox").rmdir()
    (root / "y" / "inbox").symlink_to(root)
    with pytest.raises(FileMailError, match="symbolic link"):
        mail.poll("y")

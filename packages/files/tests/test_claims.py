"""One claim is made of another that is over, and is no less a claim for that."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from postoffice_files import MailboxManager, disk

LENGTH = 128


@pytest.fixture
def claims(mail: MailboxManager, root: Path) -> Path:
    """Of a mailbox that had a message, so that there is a spare."""
    cycle(mail)
    return root / "y" / "claims"


def cycle(mail: MailboxManager) -> None:
    mail.send("x", "y", {"content": "hi"})
    (message,) = mail.poll("y")
    mail.mark_processed("y", message["filename"])


def polled(mail: MailboxManager, claims: Path) -> Path:
    """The claim on one message."""
    mail.send("x", "y", {"content": "hi"})
    (message,) = mail.poll("y")
    return claims / f"{message['filename']}.1"


def test_one_file_is_claim_after_claim(mail: MailboxManager, claims: Path) -> None:
    first = (claims / ".spare").stat().st_ino
    claim = polled(mail, claims)
    assert list(claims.iterdir()) == [claim]
    assert (claim.stat().st_ino, claim.stat().st_nlink) == (first, 1)


def test_a_claim_made_of_another_is_nobody_else_s(mail: MailboxManager, claims: Path, root: Path, clock: Any) -> None:
    polled(mail, claims)
    assert MailboxManager(root, clock=clock).poll("y") == []
    clock.sleep(31)
    (again,) = MailboxManager(root, clock=clock).poll("y")
    assert again["attempt"] == 2


def test_whoever_is_second_leaves_the_first_s_claim_alone(mail: MailboxManager, claims: Path) -> None:
    claim = polled(mail, claims)
    cycle(mail)
    before = claim.read_bytes()
    with pytest.raises(FileExistsError):
        disk.recreate(claim, b" " * LENGTH, claims / ".spare", "token")
    assert claim.read_bytes() == before
    assert not list(claims.glob(".*.tmp"))


def test_several_claims_at_once_are_several_files(mail: MailboxManager, claims: Path) -> None:
    for _ in range(3):
        mail.send("x", "y", {"content": "hi"})
    messages = mail.poll("y")
    assert len({path.stat().st_ino for path in claims.iterdir()}) == 3
    for message in messages:
        mail.mark_processed("y", message["filename"])
    assert [path.name for path in claims.iterdir()] == [".spare"]


def test_a_claim_left_under_a_second_name_by_a_kill_is_not_written_over(mail: MailboxManager, claims: Path) -> None:
    held = polled(mail, claims)
    (claims / ".spare").hardlink_to(held)
    before = held.read_bytes()
    assert polled(mail, claims).read_bytes() != before
    assert held.read_bytes() == before


@pytest.mark.parametrize(
    "make",
    [
        lambda path, other: path.symlink_to(other),
        lambda path, other: path.hardlink_to(other),
        lambda path, other: path.write_bytes(other.read_bytes() * 2),
        lambda path, _: path.write_bytes(b""),
        lambda path, _: os.mkfifo(path),
        lambda path, _: path.mkdir(),
    ],
    ids=["link", "hard link", "longer", "empty", "pipe", "folder"],
)
def test_a_spare_that_is_none_is_left_alone(mail: MailboxManager, claims: Path, root: Path, clock: Any, make: Any) -> None:
    other = root / "other"
    other.write_bytes(b"x" * LENGTH)
    (claims / ".spare").unlink()
    make(claims / ".spare", other)
    polled(mail, claims)
    assert MailboxManager(root, clock=clock).poll("y") == []
    assert other.read_bytes() == b"x" * LENGTH


def test_where_there_are_no_links_claims_are_made_anew(
    mail: MailboxManager, claims: Path, root: Path, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    claim = polled(mail, claims)
    assert list(claims.iterdir()) == [claim]
    assert MailboxManager(root, clock=clock).poll("y") == []


@pytest.mark.parametrize("folder", [".spare", "gone.msg.json.1"])
def test_a_folder_among_the_claims_stops_nobody(mail: MailboxManager, claims: Path, clock: Any, folder: str) -> None:
    mail.send("x", "y", {"content": "hi"})
    (message,) = mail.poll("y")
    (claims / folder).mkdir()
    os.utime(claims / folder, (clock.now() / 1e6, clock.now() / 1e6))
    mail.mark_processed("y", message["filename"])
    clock.sleep(31)
    for _ in range(2):
        cycle(mail)
    assert not list((claims.parent / "inbox").iterdir())


@pytest.mark.parametrize("waits", [False, True])
def test_a_claim_with_any_number_keeps_nobody_waiting(mail: MailboxManager, claims: Path, clock: Any, waits: Any) -> None:
    name = "foo.msg.json"
    if waits:
        (claims.parent / "inbox" / name).write_text('{"from": "x", "content": "hi"}')
    stray = claims / f"{name}.9999999999"
    stray.write_bytes(b"")
    os.utime(stray, (clock.now() / 1e6, clock.now() / 1e6))
    clock.sleep(31)
    for message in mail.poll("y"):
        mail.mark_processed("y", message["filename"])
    assert not list((claims.parent / "inbox").iterdir())
    assert [path.name for path in claims.iterdir()] == [".spare"]


def test_on_a_full_disk_nothing_counts_as_tried_that_nobody_was_given(
    mail: MailboxManager, root: Path, clock: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A claim that could not be written stayed behind and counted: after ten looks the message was set aside, and nobody had ever had it."""
    mail.send("x", "y", {"content": "hi"})
    for _ in range(mail.settings.max_attempts):
        with monkeypatch.context() as full:
            full.setattr(os, "write", _no_room)
            with pytest.raises(OSError, match="No space left"):
                mail.poll("y")
        assert list((root / "y" / "claims").iterdir()) == []
        clock.sleep(31)
    (message,) = mail.poll("y")
    assert message["attempt"] == 1


def test_what_could_be_claimed_before_the_disk_was_full_is_handed_out(mail: MailboxManager, monkeypatch: pytest.MonkeyPatch) -> None:
    """There is a spare claim, and no room for a second one."""
    cycle(mail)
    mail.send("x", "y", {"content": "first"})
    mail.send("x", "y", {"content": "second"})
    with monkeypatch.context() as full:
        full.setattr(disk, "create", _no_room)
        (first,) = mail.poll("y")
        with pytest.raises(OSError, match="No space left"):
            mail.poll("y")
    (second,) = mail.poll("y")
    assert [(one["content"]["parts"][0]["text"], one["attempt"]) for one in (first, second)] == [("first", 1), ("second", 1)]


def _no_room(*_: object, **__: object) -> int:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

"""Whatever lies in an inbox: never followed, never a crash, never a hang; in bad/ with the reason."""

import errno
import json
import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from postoffice_files import MailboxManager, NotAMailbox, Settings, disk

GOOD = json.dumps({"from": "x", "content": "good"})
DEEP = '{"from":"x","metadata":' + '{"a":' * 100_000 + "1" + "}" * 100_001

CONTENTS = {
    "empty": (b"", "empty"),
    "blank": (b" \n", "empty"),
    "torn": (GOOD[:-5].encode(), "not JSON"),
    "text": (b"hello", "not JSON"),
    "two values": (GOOD.encode() * 2, "not JSON"),
    "list": (b"[1]", "not an object"),
    "null": (b"null", "not an object"),
    "utf16": (GOOD.encode("utf-16"), "UTF-8"),
    "latin1": (b'{"from":"x","content":"\xe9"}', "UTF-8"),
    "nul bytes": (b"\0" * 100, "not JSON"),
    "deep": (DEEP.encode(), "nested"),
    "deep list": (b"[" * 500_000, "nested"),
    "hostile quotes": (b"[" * 81 + b'"' + b'\\"' * 400_000, "nested"),
    "quotes without end": (b'{"a":"' + b'\\"[' * 300_000, "not JSON"),
    "nan": (b'{"from":"x","metadata":{"a":NaN}}', "NaN"),
    "infinity": (b'{"from":"x","metadata":{"a":-Infinity}}', "Infinity"),
    "too big a float": (b'{"from":"x","metadata":{"a":1e999}}', "finite"),
    "too long an int": (b'{"from":"x","metadata":{"a":' + b"9" * 10_000 + b"}}", "not JSON"),
    "big int": (b'{"from":"x","metadata":{"a":' + b"9" * 400 + b"}}", "out of range"),
    "surrogate": (b'{"from":"x","content":"\\ud800"}', "surrogate"),
    "surrogate key": (b'{"from":"x","metadata":{"\\udfff":1}}', "surrogate"),
    "nul": (b'{"from":"x","content":"\\u0000"}', "U+0000"),
    "huge": (b'{"from":"x","content":"' + b"x" * 2 * 1024 * 1024 + b'"}', "more than the 2097152"),
    "no sender": (b'{"content":"hi"}', "from"),
    "sender not text": (b'{"from":["x"]}', "from"),
    "sender with dots": (b'{"from":"../../etc"}', "from"),
    "other recipient": (b'{"from":"x","to":"z"}', "addressed to 'z'"),
    "recipient not text": (b'{"from":"x","to":{}}', "addressed"),
    "type": (b'{"from":"x","type":7}', "type"),
    "ttl": (b'{"from":"x","ttl":true}', "ttl"),
    "trace": (b'{"from":"x","trace":"x"}', "trace"),
    "content": (b'{"from":"x","content":7}', "content"),
    "parts": (b'{"from":"x","content":{"parts":[7]}}', "content"),
    "task": (b'{"from":"x","type":"task","task":7}', "task"),
    "state": (b'{"from":"x","type":"task_update","task":{"id":"t","state":{}}}', "task.state"),
    "timestamp": (b'{"from":"x","timestamp":"noon"}', "timestamp"),
    "id": (b'{"from":"x","id":""}', "id"),
    "metadata": (b'{"from":"x","metadata":[]}', "metadata"),
    "priority": (b'{"from":"x","priority":"high"}', "priority"),
}


@pytest.fixture
def mail(root: Path) -> MailboxManager:
    manager = MailboxManager(root, Settings(grace=0))
    manager.register("y", {})
    return manager


def set_aside(root: Path) -> tuple[str, str]:
    """The one thing in bad/ and its reason; the inbox and the claims are empty, the good message aside."""
    assert [path.name for path in (root / "y" / "inbox").iterdir()] == ["good.msg.json"]
    assert all(path.name.startswith(("good", ".spare")) for path in (root / "y" / "claims").iterdir())
    (reason,) = (root / "y" / "bad").glob("*.reason.json")
    assert os.path.lexists(str(reason).removesuffix(".reason.json"))
    return reason.name.removesuffix(".reason.json"), json.loads(reason.read_text())["reason"]


def polled(mail: MailboxManager) -> float:
    """Poll past the bad thing to the good; how much of the processor's time it took."""
    (mail.root / "y" / "inbox" / "good.msg.json").write_text(GOOD)
    begun = time.process_time()
    (message,) = mail.poll("y")
    assert message["filename"] == "good.msg.json"
    return time.process_time() - begun


@pytest.mark.parametrize("kind", CONTENTS)
def test_a_file_that_is_no_message(mail: MailboxManager, root: Path, kind: Any) -> None:
    data, why = CONTENTS[kind]
    (root / "y" / "inbox" / "1745659200_x.msg.json").write_bytes(data)
    assert polled(mail) < 5
    name, reason = set_aside(root)
    assert name == "1745659200_x.msg.json"
    assert why in reason
    assert (root / "y" / "bad" / name).read_bytes() == data


def _link(path: Path) -> None:
    path.symlink_to(path.parent / "good.msg.json")


def _dangling(path: Path) -> None:
    path.symlink_to("/nowhere/at/all")


def _self_link(path: Path) -> None:
    path.symlink_to(path.name)


def _device_link(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _folder(path: Path) -> None:
    (path / "within").mkdir(parents=True)


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # addresses of sockets are short
    try:
        with socket.socket(socket.AF_UNIX) as server:
            server.bind(path.name)
    finally:
        os.chdir(here)


def _device(path: Path) -> None:
    try:
        os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))
    except PermissionError:
        pytest.skip("only root makes devices")


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (_link, "a symbolic link"),
        (_dangling, "a symbolic link"),
        (_self_link, "a symbolic link"),
        (_device_link, "a symbolic link"),
        (os.mkfifo, "a named pipe"),
        (_folder, "a folder"),
        (_socket, "a socket"),
        (_device, "a device"),
    ],
)
def test_what_is_not_even_a_file(mail: MailboxManager, root: Path, make: Any, why: Any) -> None:
    make(root / "y" / "inbox" / "1745659200_x.msg.json")
    assert polled(mail) < 2
    assert why in set_aside(root)[1]


@pytest.mark.parametrize(
    "name",
    [
        "...msg.json",
        "a..msg.json",
        "..\\x.msg.json",
        "a b.msg.json",
        "é.msg.json",
        "x\n.msg.json",
        "notes.txt",
        "x.json",
        "x" * 240 + ".msg.json",
    ],
)
def test_names_that_are_none(mail: MailboxManager, root: Path, name: Any) -> None:
    (root / "y" / "inbox" / name).write_text(GOOD)
    polled(mail)
    kept, reason = set_aside(root)
    assert kept.startswith("odd-")
    assert "name" in reason


def test_a_name_that_is_not_text(mail: MailboxManager, root: Path) -> None:
    inbox = os.fsencode(root / "y" / "inbox")
    with open(inbox + b"/\xff\xfe.msg.json", "wb") as file:  # noqa: PTH123 - a name of bytes
        file.write(GOOD.encode())
    polled(mail)
    assert set_aside(root)[0].startswith("odd-")


def test_a_sender_that_can_be_read_is_told(mail: MailboxManager, root: Path) -> None:
    (root / "y" / "inbox" / "a.msg.json").write_text('{"from":"x","to":"z","id":"m1"}')
    assert mail.poll("y") == []
    (notice,) = mail.poll("x")
    assert (notice["from"], notice["reply_to"]) == ("system", "m1")


def test_a_file_still_being_written_is_left_until_it_is_whole(root: Path, clock: Any) -> None:
    mail = MailboxManager(root, clock=clock)
    mail.register("y", {})
    path = root / "y" / "inbox" / "slow.msg.json"
    path.write_text(GOOD[:10])
    os.utime(path, (clock.now() / 1e6, clock.now() / 1e6))
    assert mail.poll("y") == []
    path.write_text(GOOD)
    assert len(mail.poll("y")) == 1
    other = root / "y" / "inbox" / "torn.msg.json"
    other.write_text(GOOD[:10])
    os.utime(other, (clock.now() / 1e6, clock.now() / 1e6))
    clock.sleep(1)
    assert mail.poll("y") == []
    assert (root / "y" / "bad" / "torn.msg.json").exists()


def test_a_file_that_grows_while_it_is_read_is_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"one")
    look = os.fstat

    def look_and_write(descriptor: int) -> os.stat_result:
        status = look(descriptor)
        path.write_bytes(b"one, two, three")
        return status

    monkeypatch.setattr(os, "fstat", look_and_write)
    assert disk.read(path, 100)[0] == b"one, two, three"


def test_temporary_files_are_left_to_their_writers_and_removed_when_stale(mail: MailboxManager, root: Path) -> None:
    inbox = root / "y" / "inbox"
    ours, theirs = inbox / ".abc.tmp", inbox / "1745659200_x.msg.json.tmp"
    for path in (ours, theirs):
        path.write_text("half")
    assert mail.poll("y") == []
    assert ours.exists()
    assert theirs.exists()
    for path in (ours, theirs):
        os.utime(path, (1, 1))
    # Looked for once a minute by each poller.
    assert MailboxManager(root).poll("y") == []
    assert not ours.exists()
    assert not theirs.exists()
    assert len(list((root / "y" / "bad").glob("odd-*"))) == 2


def test_the_same_bad_name_twice_keeps_both(mail: MailboxManager, root: Path) -> None:
    for word in ("one", "two"):
        (root / "y" / "inbox" / "a.msg.json").write_text(word)
        assert mail.poll("y") == []
    assert (root / "y" / "bad" / "a.msg.json").read_text() == "one"
    assert (root / "y" / "bad" / "a.2.msg.json").read_text() == "two"


@pytest.mark.parametrize(
    "spoil", [lambda path: path.write_bytes(b""), lambda path: path.write_bytes(b"\xff" * 9999), lambda path: path.mkdir()]
)
def test_a_claim_that_cannot_be_read_lasts_as_long_as_any_other(root: Path, clock: Any, spoil: Any) -> None:
    mail = MailboxManager(root, clock=clock)
    mail.send("x", "y", {"content": "hi"})
    (message,) = mail.poll("y")
    path = root / "y" / "claims" / f"{message['filename']}.1"
    path.unlink()
    spoil(path)
    os.utime(path, (clock.now() / 1e6, clock.now() / 1e6))
    assert MailboxManager(root, clock=clock).poll("y") == []
    clock.sleep(31)
    assert len(MailboxManager(root, clock=clock).poll("y")) == 1


def test_a_bad_thing_that_cannot_be_moved_does_not_stop_the_others(
    mail: MailboxManager, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stuck(*_: object) -> bool:
        raise PermissionError(13, "no")

    monkeypatch.setattr("postoffice_files.inbox.move", stuck)
    (root / "y" / "inbox" / "0_bad.msg.json").write_text("no")
    polled(mail)
    assert mail.poll("y") == []


@pytest.mark.parametrize("make", [_link, os.mkfifo, _folder])
def test_a_registry_that_is_no_file_is_put_aside(mail: MailboxManager, root: Path, make: Any) -> None:
    (root / "_registry.json").unlink()
    make(root / "_registry.json")
    assert mail.list_online_agents() == []
    mail.heartbeat("y")
    assert len(mail.list_online_agents()) == 1


@pytest.mark.parametrize(
    "make", [os.mkfifo, lambda path: path.write_text("x"), lambda path: path.symlink_to("/tmp")], ids=["pipe", "file", "link"]
)
def test_a_bad_folder_that_became_something_else_does_not_stop_the_others(mail: MailboxManager, root: Path, make: Any) -> None:
    assert mail.poll("y") == []
    (root / "y" / "bad").rmdir()
    make(root / "y" / "bad")
    (root / "y" / "inbox" / "1745659200_x.msg.json").write_text("torn")
    polled(mail)
    assert (root / "y" / "inbox" / "1745659200_x.msg.json").exists()


@pytest.mark.parametrize("folder", ["inbox", "claims", "processed"])
def test_a_folder_that_became_a_link_is_not_followed(mail: MailboxManager, root: Path, tmp_path: Path, folder: str) -> None:
    mail.send("x", "y", {"content": "hi"})
    (message,) = mail.poll("y")
    (tmp_path / "elsewhere").mkdir()
    (root / "y" / folder).rename(tmp_path / "moved")
    (root / "y" / folder).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(NotAMailbox, match="symbolic link"):
        mail.mark_processed("y", message["filename"])
    assert not list((tmp_path / "elsewhere").iterdir())


@pytest.mark.parametrize("name", ["999999999999_x.msg.json", "0_x.msg.json"])
def test_a_name_that_tells_of_no_time_on_any_calendar_is_a_name_all_the_same(mail: MailboxManager, root: Path, name: str) -> None:
    (root / "y" / "inbox" / name).write_text(GOOD)
    (message,) = mail.poll("y")
    assert message["timestamp"] == ("9999-12-31T23:59:59.999Z" if name.startswith("9") else "1970-01-01T00:00:00.000Z")


@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.ENOMEM])
def test_what_we_have_too_little_of_is_not_the_file_s_fault(
    mail: MailboxManager, root: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    (root / "y" / "inbox" / "good.msg.json").write_text(GOOD)
    look = os.open

    def lack(path: Any, flags: int, *mode: int, **named: Any) -> int:
        if str(path).endswith(("good.msg.json", "_registry.json")):
            raise OSError(code, os.strerror(code))
        return look(path, flags, *mode, **named)

    with monkeypatch.context() as lacking:
        lacking.setattr(os, "open", lack)
        for act in (mail.poll, mail.heartbeat):
            with pytest.raises(OSError, match=os.strerror(code)):
                act("y")
    assert (root / "y" / "inbox" / "good.msg.json").exists()
    assert [card["agent_id"] for card in mail.list_agents() or ()] == ["y"]
    assert not list(root.glob("_registry.bad-*"))


def test_what_is_moved_back_and_set_aside_again_is_so_for_the_new_reason(mail: MailboxManager, root: Path) -> None:
    bad = root / "y" / "bad"
    mail.send("x", "y", {"content": "hi"})
    for reason in ("first", "second", "third"):
        (message,) = mail.poll("y")
        mail.refuse("y", message["filename"], reason)
        assert json.loads((bad / f"{message['filename']}.reason.json").read_text())["reason"] == reason
        (bad / message["filename"]).rename(root / "y" / "inbox" / message["filename"])
        if reason == "second":  # refused by somebody who never polled it
            MailboxManager(root).refuse("y", message["filename"], "unpolled")
            (bad / message["filename"]).rename(root / "y" / "inbox" / message["filename"])
    told = [notice["metadata"]["reason"] for notice in mail.poll("x")]
    assert told == ["first", "second", "unpolled", "third"]

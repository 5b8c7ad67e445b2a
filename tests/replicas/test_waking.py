"""Whoever waits on one replica wakes for what is done on another. No replica here looks by itself: what wakes is the hint."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from tests.doors.callers import done, refused
from tests.doors.sockets import heard, plugged, silence
from tests.engines import PostgresServer
from tests.mcp.calling import ERAS
from tests.replicas.replica import NEVER, PATIENCE, Replica, opened, send
from tests.wake.test_nats import Nats

Three = tuple[Replica, Replica, Replica]


@pytest.fixture(scope="module", params=["LISTEN", "NATS"])
def three(request: pytest.FixtureRequest, postgres: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Three]:
    flags = ["--database", database := asyncio.run(postgres.copy())]
    if request.param == "NATS":
        nats: Nats = request.getfixturevalue("nats")
        flags += ["--wake", nats.url]
    folder = tmp_path_factory.mktemp("three")
    with opened(*(Replica(folder / str(number), *flags, tick=NEVER) for number in range(3))) as (one, two, three):
        asyncio.run(_all_hear(one, two, three))
        yield one, two, three
    asyncio.run(postgres.drop(database))


async def _all_hear(*replicas: Replica) -> None:
    await asyncio.gather(*(replica.hears() for replica in replicas))


@asynccontextmanager
async def told(replica: Replica, after: str | None = None) -> AsyncIterator[AsyncIterator[tuple[str, dict[str, Any]]]]:
    """What the page of a replica is told: places in the log, and what happened."""
    headers = {} if after is None else {"Last-Event-ID": after}
    async with replica.client() as browser, browser.stream("GET", "/page/news", headers=headers) as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        yield _events(stream.aiter_lines())


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[tuple[str, dict[str, Any]]]:
    place = ""
    async for line in lines:
        field, _, value = line.partition(": ")
        if field == "id":
            place = value
        if field == "data":
            yield place, json.loads(value)


async def test_every_replica_says_that_hints_are_carried(three: Three) -> None:
    for replica in three:
        assert done(await replica.ready())["hints"] == "carried"
        assert await replica.metric("postoffice_hints_carried") == 1


class TestWaking:
    async def test_a_socket(self, three: Three) -> None:
        here, there, _ = three
        async with here.client("alice") as alice, plugged(there.ws_url, agent="socket") as socket:
            for number in range(5):
                sent = await send(alice, "socket", str(number))
                assert (await heard(socket, PATIENCE))["message_id"] == sent["message_id"]

    async def test_a_long_poll(self, three: Three) -> None:
        here, there, third = three
        before = await there.metric("postoffice_wake_seconds_count")
        async with here.client("alice") as alice, there.client("poller") as poller, third.client("poller") as elsewhere:
            for number in range(3):
                poll = asyncio.create_task(poller.post("/messages/wait", json={"wait": 60}))
                await there.shows("postoffice_waiters", 1)
                await send(alice, "poller", str(number))
                (letter,) = done(await poll)["messages"]
                assert letter["content"] == str(number)
                # What one replica leased, another settles.
                assert done(await elsewhere.post(f"/messages/{letter['id']}/ack", json={"token": letter["token"]}))["state"] == "acked"
        assert await there.metric("postoffice_wake_seconds_count") == before + 3

    async def test_an_mcp_wait_by_a_plain_post(self, three: Three) -> None:
        here, there, _ = three
        async with here.client("alice") as alice, there.client() as shell:
            call = {"tool": "mailbox_wait", "args": {"agent_id": "plain", "timeout_ms": 60_000}}
            waiting = asyncio.create_task(shell.post("/mcp", json=call, headers={"X-Agent": "plain"}))
            await there.shows("postoffice_waiters", 1)
            await send(alice, "plain", "to a shell")
            assert [mail["content"] for mail in done(await waiting)["messages"]] == ["to a shell"]

    @pytest.mark.parametrize("era", ERAS)
    async def test_an_mcp_wait_by_the_official_client(self, three: Three, era: str) -> None:
        here, there, _ = three
        name = f"client-{era}"
        async with here.client("alice") as alice, there.mcp(name, era) as client:
            waiting = asyncio.create_task(client.call_tool("mailbox_wait", {"timeout_ms": 60_000}))
            await there.shows("postoffice_waiters", 1)
            await send(alice, name, "to a model")
            result = await waiting
        assert [mail["content"] for mail in (result.structured_content or {})["messages"]] == ["to a model"]

    async def test_a_page(self, three: Three) -> None:
        here, there, _ = three
        async with here.client("alice") as alice, told(there) as news:
            await there.shows("postoffice_watchers", 1)
            for number in range(3):
                sent = await send(alice, "reader", str(number))
                async with asyncio.timeout(PATIENCE):
                    async for _, happened in news:
                        if sent["message_id"] in happened["refs"]:
                            break
        await there.shows("postoffice_watchers", 0)

    async def test_everybody_everywhere_for_one_broadcast(self, three: Three) -> None:
        here, there, third = three
        names = [f"crowd-{number}" for number in range(6)]
        async with here.client("alice") as alice, there.client() as one, third.client() as two:
            for name in names:
                done(await alice.get("/agents/me", headers={"X-Agent": name}))
            polls = [
                asyncio.create_task(line.post("/messages/wait", json={"wait": 60}, headers={"X-Agent": name}))
                for name, line in zip(names, [one, two] * 3, strict=True)
            ]
            await asyncio.gather(there.shows("postoffice_waiters", 3), third.shows("postoffice_waiters", 3))
            await send(alice, "ALL", "all of you")
            answers = [done(answer)["messages"] for answer in await asyncio.gather(*polls)]
        assert [[letter["content"] for letter in letters] for letters in answers] == [["all of you"]] * 6


class TestGoingOnElsewhere:
    async def test_a_sockets_cursor_is_good_on_every_replica(self, three: Three) -> None:
        here, there, third = three
        async with here.client("alice") as alice:
            async with plugged(there.ws_url, agent="traveller") as socket:
                await send(alice, "traveller", "seen")
                cursor = (await heard(socket, PATIENCE))["cursor"]
            missed = [(await send(alice, "traveller", str(number)))["message_id"] for number in range(3)]
            for replica in (third, here, there):
                async with plugged(replica.ws_url, agent="traveller", cursor=cursor) as socket:
                    assert [(await heard(socket, PATIENCE))["message_id"] for _ in missed] == missed
                    await silence(socket)
                    last = await send(alice, "traveller", "and live again")
                    missed.append(last["message_id"])
                    assert (await heard(socket, PATIENCE))["message_id"] == last["message_id"]

    async def test_a_pages_place_in_the_log_is_good_on_every_replica(self, three: Three) -> None:
        here, there, third = three
        async with here.client("alice") as alice:
            async with told(there) as news:
                await there.shows("postoffice_watchers", 1)
                first = await send(alice, "log-reader", "seen")
                async with asyncio.timeout(PATIENCE):
                    async for at, happened in news:  # noqa: B007 - where it stopped is needed below
                        if first["message_id"] in happened["refs"]:
                            break
                place = at
            missed = await send(alice, "log-reader", "missed")
            async with told(third, place) as news, asyncio.timeout(PATIENCE):
                seen: list[str] = []
                async for _, happened in news:
                    assert happened["kinds"] != ["everything"]
                    seen += happened["refs"]
                    if missed["message_id"] in seen:
                        break
            assert first["message_id"] not in seen

    async def test_a_lease_is_lost_and_kept_alike_on_every_replica(self, three: Three) -> None:
        here, there, third = three
        async with here.client("alice") as alice, there.client("holder") as holder, third.client("holder") as again:
            sent = await send(alice, "holder")
            (letter,) = done(await holder.post("/messages/receive", json={}))["messages"]
            assert done(await again.post("/messages/receive", json={}))["messages"] == []
            refused(await again.post(f"/messages/{sent['message_id']}/ack", json={"token": "0" * 32}), 409, "lease_lost")
            for line in (again, holder):
                assert done(await line.post(f"/messages/{sent['message_id']}/ack", json={"token": letter["token"]}))["state"] == "acked"

    @pytest.mark.parametrize("by_tool", [False, True])
    async def test_two_that_wait_for_each_other_on_two_replicas_are_both_told(self, three: Three, by_tool: bool) -> None:  # noqa: FBT001
        here, there, _ = three
        async with here.client("romeo") as romeo, there.client("juliet") as juliet:
            asked, counter = await send(romeo, "juliet", correlation_id="r"), await send(juliet, "romeo", correlation_id="j")
            answers = await asyncio.gather(
                *(
                    caller.post(f"/mail/{name}", json={"tool": "mail_get", "args": {"answer_to": id, "wait_seconds": 60}})
                    if by_tool
                    else caller.post("/messages/wait", json={"answer_to": id, "wait": 60})
                    for caller, name, id in ((romeo, "romeo", asked["message_id"]), (juliet, "juliet", counter["message_id"]))
                )
            )
            for answer in answers:
                said = refused(answer, 409, "deadlock")
                assert "romeo" in said
                assert "juliet" in said

    async def test_the_same_send_at_all_of_them_at_once_is_one_message(self, three: Three) -> None:
        clients = [replica.client("alice") for replica in three]
        sends = (send(client, "once", "the same", id="letter-1") for client in clients * 5)
        ids = {sent["message_id"] for sent in await asyncio.gather(*sends)}
        assert len(ids) == 1
        assert len(done(await clients[0].get("/messages/waiting", headers={"X-Agent": "once"}))["messages"]) == 1
        for client in clients:
            await client.aclose()

"""Lists over REST: every page of every list, with nothing lost and nothing doubled."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from postoffice.core.limits import Limits
from tests.doors.callers import Callers, ask, done, refused, send, take, two, walk
from tests.doors.served import serving
from tests.engines import Engine, SQLiteEngine

MANY = 5
PATHS = [
    "/agents",
    "/connections",
    "/connections/pending",
    "/inbox",
    "/messages/waiting",
    "/search?q=hello",
    "/tasks",
    "/entities",
    "/entities/e/notes",
    "/entities/e/events",
    "/dead-letters",
]


@pytest.fixture
async def callers(engine: Engine) -> AsyncIterator[Callers]:
    async with serving(engine, limits=Limits(max_attempts=1)) as running, Callers(running) as found:
        yield found


async def walk_log(client: httpx.AsyncClient, path: str) -> list[dict[str, Any]]:
    """A whole log, two at a time, by its cursor."""
    found: list[dict[str, Any]] = []
    after = "0"
    while True:
        page = done(await client.get(path, params={"after": after, "limit": 2}))
        if not page["events"]:
            assert page["cursor"] == after
            return found
        assert len(page["events"]) <= 2
        found += page["events"]
        after = page["cursor"]


class TestPages:
    async def test_the_directory(self, callers: Callers) -> None:
        alice, _ = await two(callers)
        for n in range(MANY):
            await callers.register(f"agent-{n}")
        listed = [agent["name"] for agent in await walk(alice, "/agents", "agents")]
        assert len(set(listed)) == len(listed)
        assert {"alice", "bob", *(f"agent-{n}" for n in range(MANY))} <= set(listed)
        whole = done(await alice.get("/agents", params={"limit": 200}))
        assert ([agent["name"] for agent in whole["agents"]], whole["cursor"]) == (listed, None)

    async def test_connections_and_requests_newest_first(self, callers: Callers) -> None:
        alice = await callers.join("alice")
        for n in range(MANY):
            await callers.register(f"agent-{n}")
        asked = [(await ask(alice, f"agent-{n}"))["connection_id"] for n in range(MANY)]
        for path, items in (("/connections", "connections"), ("/connections/pending", "pending")):
            assert [item["connection_id"] for item in await walk(alice, path, items)] == asked[::-1]
        owner = await callers.owner()
        everyones = await walk(owner, "/connections", "connections", everyone="true")
        assert [item["connection_id"] for item in everyones] == asked[::-1]

    async def test_sessions_newest_first(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        for n in range(MANY):
            await send(alice, "bob", subject=f"s{n}")
        newest_first = [f"s{n}" for n in reversed(range(MANY))]
        for unread_only in ("true", "false"):
            assert [item["subject"] for item in await walk(bob, "/inbox", "sessions", unread_only=unread_only)] == newest_first
        owner = await callers.owner()
        assert [item["subject"] for item in await walk(owner, "/inbox", "sessions", of="bob")] == newest_first

    async def test_what_waits_in_its_order(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        for n in range(MANY):
            await send(alice, "bob", str(n), priority=1 + n % 2)
        waiting = [item["content"] for item in await walk(bob, "/messages/waiting", "messages")]
        assert waiting == ["0", "2", "4", "1", "3"]
        assert [letter["content"] for letter in await take(bob, limit=10)] == waiting

    async def test_hits_newest_first(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        sent = [(await send(alice, "bob", f"hello {n}"))["message_id"] for n in range(MANY)]
        assert [hit["message"]["id"] for hit in await walk(bob, "/search", "results", q="hello")] == sent[::-1]

    async def test_tasks_newest_first(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        asked = [(await send(alice, "bob", type="task"))["message_id"] for _ in range(MANY)]
        assert [task["id"] for task in await walk(bob, "/tasks", "tasks")] == asked[::-1]
        assert [task["id"] for task in await walk(alice, "/tasks", "tasks", requester="alice", state="pending")] == asked[::-1]

    async def test_entities_and_their_notes(self, callers: Callers) -> None:
        alice, _ = await two(callers)
        for entity in ("e", *(f"e{n}" for n in range(MANY))):
            done(await alice.post(f"/entities/{entity}/notes", json={"entity_type": "task", "note": "n"}), 201)
        listed = [entity["id"] for entity in await walk(alice, "/entities", "entities")]
        assert (len(listed), set(listed)) == (MANY + 1, {"e", *(f"e{n}" for n in range(MANY))})
        for n in range(MANY):
            done(await alice.post("/entities/e/notes", json={"entity_type": "task", "note": str(n)}), 201)
        newest_first = [*(str(n) for n in reversed(range(MANY))), "n"]
        for path in ("/entities/e/notes", "/entities/e/events"):
            assert [item["content"] for item in await walk(alice, path, "messages")] == newest_first

    async def test_dead_letters_newest_first(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        sent = [(await send(alice, "bob"))["message_id"] for _ in range(MANY)]
        for letter in await take(bob, limit=MANY):
            done(await bob.post(f"/messages/{letter['id']}/nack", json={"token": letter["token"]}))
        owner = await callers.owner()
        for found in (
            await walk(bob, "/dead-letters", "dead_letters"),
            await walk(owner, "/dead-letters", "dead_letters", of="bob"),
            await walk(owner, "/dead-letters", "dead_letters", everyone="true"),
        ):
            assert [item["message"]["id"] for item in found] == sent[::-1]

    async def test_an_agents_log_and_everyones(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        sent = [(await send(alice, "bob"))["message_id"] for _ in range(MANY)]
        assert [event["message_id"] for event in await walk_log(bob, "/events")] == sent
        log = await walk_log(await callers.owner(), "/owner/events")
        assert [entry["ref"] for entry in log if (entry["agent"], entry["type"]) == ("bob", "new_message")] == sent


class TestAsked:
    async def test_a_list_that_grows_while_it_is_read_doubles_nothing(self, callers: Callers) -> None:
        alice, bob = await two(callers)
        first = [(await send(alice, "bob", f"hello {n}"))["message_id"] for n in range(MANY)]
        page = done(await bob.get("/search", params={"q": "hello", "limit": 2}))
        await send(alice, "bob", "hello again")
        rest = await walk(bob, "/search", "results", q="hello", cursor=page["cursor"], limit=200)
        assert [hit["message"]["id"] for hit in [*page["results"], *rest]] == first[::-1]

    async def test_a_list_is_as_long_as_the_settings_let_it_be(self, tmp_path: Path) -> None:
        async with serving(SQLiteEngine(tmp_path), limits=Limits(page=1, page_most=300)) as served, Callers(served) as found:
            alice, bob = await two(found)
            for subject in ("one", "two"):
                for _ in range(4):
                    await send(alice, "bob", subject=subject)
            assert [len(session["recent_messages"]) for session in done(await bob.get("/inbox"))["sessions"]] == [3, 3]
            assert len(done(await bob.get("/messages/waiting"))["messages"]) == 1
            assert len(done(await bob.get("/messages/waiting", params={"limit": 300}))["messages"]) == 8
            refused(await bob.get("/messages/waiting", params={"limit": 301}), 422, "bad_limit")

    @pytest.mark.parametrize("path", PATHS)
    async def test_a_bad_limit_is_422_and_a_bad_cursor_never_our_fault(self, callers: Callers, path: str) -> None:
        alice, _ = await two(callers)
        for limit in ("0", "201", "-1", "x"):
            refused(await alice.get(path, params=httpx.QueryParams(httpx.URL(path).query).set("limit", limit)), 422)
        for cursor in ("nonsense", "é", "\x00", "0", "9" * 40, "[]", "x" * 300, "a,b,c"):
            answered = await alice.get(path, params=httpx.QueryParams(httpx.URL(path).query).set("cursor", cursor))
            assert answered.status_code in (200, 413, 422), (cursor, answered.text)

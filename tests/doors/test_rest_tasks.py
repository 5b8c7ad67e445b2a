"""Tasks, entities, dead letters and search over REST."""

import json
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from postoffice.core.limits import Limits
from tests.doors.callers import Callers, contents, done, events, refused, send, take
from tests.doors.served import serving
from tests.engines import Engine


@pytest.fixture
async def impatient(engine: Engine) -> AsyncIterator[Callers]:
    """A server whose mail is dead after one failure."""
    async with serving(engine, limits=Limits(max_attempts=1)) as running, Callers(running) as found:
        yield found


async def assign(requester: httpx.AsyncClient, assignee: str, **fields: Any) -> str:
    """The id of a task that was asked for."""
    return str((await send(requester, assignee, "do it", type="task", **fields))["message_id"])


async def update(assignee: httpx.AsyncClient, task: str, state: str, **report: Any) -> httpx.Response:
    return await assignee.post(f"/tasks/{task}/update", json={"state": state, **report})


async def kill(sender: httpx.AsyncClient, taker: httpx.AsyncClient, to: str, content: str = "hello", reason: str | None = None) -> str:
    """The id of a message that died at its first failure."""
    await send(sender, to, content)
    (letter,) = await take(taker, limit=1)
    failed = await taker.post(f"/messages/{letter['id']}/nack", json={"token": letter["token"], "reason": reason})
    assert done(failed)["state"] == "dead"
    return str(letter["id"])


class TestIdsOfOnesOwn:
    @pytest.mark.parametrize("id", ["build/7", "/a//ack", "50%", "..", "ü ?#"])
    async def test_can_be_named_in_every_path_whatever_is_in_them(self, callers: Callers, id: str) -> None:
        alice, bob = await callers.named("alice", "bob")
        done(await bob.get("/agents/me"))
        at = "%2E%2E" if id == ".." else quote(id, safe="")
        await assign(alice, "bob", id=id, task={"id": id})
        (asked,) = await take(bob)
        token = {"token": asked["token"]}
        assert done(await bob.get(f"/tasks/{at}"))["message_id"] == asked["id"]
        assert done(await bob.post(f"/tasks/{at}/update", json={"state": "working"}))["state"] == "working"
        assert done(await bob.post(f"/messages/{at}/extend", json=token))["state"] == "leased"
        assert done(await bob.post(f"/messages/{at}/nack", json=token))["state"] == "pending"
        (again,) = await take(bob)
        assert done(await bob.post(f"/messages/{at}/ack", json={"token": again["token"]}))["state"] == "acked"
        assert done(await alice.get(f"/messages/{at}/status"))["message_id"] == asked["id"]
        refused(await alice.post(f"/dead-letters/{at}/requeue"), 404, "no_such_message")
        done(await alice.post(f"/entities/{at}/notes", json={"entity_type": "task", "note": "n"}), 201)
        assert [note["content"] for note in done(await alice.get(f"/entities/{at}/notes"))["messages"]] == ["n"]


class TestTasks:
    async def test_a_task_is_asked_for_done_and_reported(self, callers: Callers) -> None:
        alice, bob = await callers.named("alice", "bob")
        done(await bob.get("/agents/me"))
        id = await assign(alice, "bob", subject="Review", callback={"url": "https://example.com/x", "n": None})
        (asked,) = await take(bob)
        assert (asked["type"], asked["content"]) == ("task", "do it")
        (listed,) = done(await bob.get("/tasks"))["tasks"]
        assert (listed["id"], listed["state"], listed["requester"], listed["assignee"]) == (id, "pending", "alice", "bob")

        assert done(await update(bob, id, "in_progress"))["state"] == "working"
        assert done(await alice.get("/agents/bob"))["presence"] == "busy"
        finished = done(await update(bob, id, "completed", content="All good.", payload={"score": 0, "notes": None}))
        assert [step["state"] for step in finished["steps"]] == ["pending", "accepted", "working", "completed"]
        assert done(await alice.get("/agents/bob"))["current_tasks"] == 0

        working, completed = await take(alice)
        for report in (working, completed):
            assert (report["type"], report["from"], report["callback"]) == (
                "task_update",
                "bob",
                {"url": "https://example.com/x", "n": None},
            )
        assert (completed["content"], completed["payload"]) == ("All good.", {"score": 0, "notes": None})
        assert completed["task"]["state"] == "completed"
        assert done(await alice.get(f"/tasks/{id}")) == done(await bob.get(f"/tasks/{id}"))

    async def test_a_task_is_part_of_one_and_waits_for_another(self, callers: Callers) -> None:
        alice, bob, carol = await callers.named("alice", "bob", "carol")
        whole = await assign(alice, "bob")
        first = await assign(alice, "bob", task={"parent": whole[-6:]})
        second = await assign(alice, "carol", task={"parent": whole, "blocked_by": [first[-6:]]})
        task = done(await carol.get(f"/tasks/{second}"))
        assert (task["parent"], task["blocked_by"]) == (whole, [{"id": first, "state": "pending", "assignee": "bob"}])
        circle = {"to": "bob", "type": "task", "content": "x", "task": {"parent": first, "blocked_by": [whole]}}
        refused(await alice.post("/messages/send", json=circle), 409, "task_cycle")
        assert done(await update(bob, first, "working", percent=60))["percent"] == 60
        refused(await update(bob, first, "working", percent=101), 422, "invalid")
        assert done(await update(bob, whole, "completed"))["open_parts"] == 2
        done(await update(bob, first, "completed"))
        (notice, letter) = await take(carol)
        assert (letter["task"]["parent"], notice["payload"]["kind"]) == (whole, "task_unblocked")
        assert [one["task"].get("percent") for one in await take(alice)] == [60, None, None]

    async def test_a_result_in_parts_stands_among_the_steps_too(self, callers: Callers) -> None:
        alice, bob = await callers.named("alice", "bob")
        done(await bob.get("/agents/me"))
        id = await assign(alice, "bob")
        finished = done(await update(bob, id, "completed", parts=[{"type": "text", "text": "At length."}]))
        assert finished["steps"][-1]["text"] == "At length."

    async def test_a_result_that_is_a_payload_alone_is_read_and_found_where_only_text_is_known(self, callers: Callers) -> None:
        alice, bob = await callers.named("alice", "bob")
        done(await bob.get("/agents/me"))
        done(await update(bob, await assign(alice, "bob"), "completed", payload={"answer": "marzipan"}))
        (session,) = done(await alice.get("/inbox"))["sessions"]
        (told,) = [event for event in await events(alice) if event["type"] == "new_message"]
        for text in (session["recent_messages"][0]["content"], told["content"]):
            assert json.loads(text) == {"answer": "marzipan"}
        (found,) = done(await alice.get("/search", params={"q": "marzipan"}))["results"]
        assert found["message"]["payload"] == {"answer": "marzipan"}

    async def test_final_is_final_and_only_the_assignee_moves(self, callers: Callers) -> None:
        alice, bob, eve = await callers.named("alice", "bob", "eve")
        done(await bob.get("/agents/me"))
        id = await assign(alice, "bob")
        refused(await update(alice, id, "completed"), 403, "not_assignee")
        refused(await update(eve, id, "completed"), 404, "no_such_task")
        refused(await eve.get(f"/tasks/{id}"), 404, "no_such_task")
        refused(await update(bob, id, "nonsense"), 422)
        done(await update(bob, id, "rejected"))
        refused(await update(bob, id, "working"), 409, "task_final")

    async def test_the_same_update_is_made_once(self, callers: Callers) -> None:
        alice, bob = await callers.named("alice", "bob")
        done(await bob.get("/agents/me"))
        id = await assign(alice, "bob")
        for _ in range(2):
            assert done(await update(bob, id, "completed", content="done", id="u-1"))["state"] == "completed"
        assert await contents(alice) == ["done"]

    async def test_tasks_are_listed_by_side_and_state(self, callers: Callers) -> None:
        alice, bob = await callers.named("alice", "bob")
        done(await bob.get("/agents/me"))
        first, second = [await assign(alice, "bob") for _ in range(2)]
        done(await update(bob, first, "completed"))
        assert [task["id"] for task in done(await alice.get("/tasks", params={"requester": "alice"}))["tasks"]] == [second, first]
        assert [task["id"] for task in done(await bob.get("/tasks", params={"state": "pending"}))["tasks"]] == [second]
        assert done(await alice.get("/tasks"))["tasks"] == []
        refused(await alice.get("/tasks", params={"assignee": "bob"}), 403)
        owner = await callers.owner()
        assert len(done(await owner.get("/tasks", params={"assignee": "bob"}))["tasks"]) == 2

    async def test_a_task_past_its_deadline_can_only_fail(self, callers: Callers, engine: Engine) -> None:
        alice, bob = await callers.named("alice", "bob")
        done(await bob.get("/agents/me"))
        sent = await send(alice, "bob")
        id = await assign(alice, "bob", task={"id": "t-1", "deadline": sent["created_at"].replace("20", "21", 1)})
        assert done(await bob.get("/tasks/t-1"))["message_id"] == id
        late = (await send(alice, "bob", type="task", task={"id": "t-2", "deadline": sent["created_at"]}))["message_id"]
        await engine.advance(timedelta(seconds=1))
        refused(await update(bob, late, "accepted"), 409, "deadline_passed")
        assert done(await update(bob, late, "failed"))["state"] == "failed"


class TestEntities:
    async def test_a_note_is_kept_and_sent_to_whom_it_concerns(self, callers: Callers) -> None:
        alice, bob = await callers.named("alice", "bob")
        done(await bob.get("/agents/me"))
        body = {"entity_type": "task", "note": "Blocked on review.", "notify": ["bob"]}
        noted = done(await alice.post("/entities/0.0.12345/notes", json=body), 201)
        assert noted["notified"] == ["bob"]
        (letter,) = await take(bob)
        assert (letter["id"], letter["type"], letter["content"]) == (noted["message_id"], "task.note", "Blocked on review.")
        assert (letter["ref_id"], letter["ref_type"]) == ("0.0.12345", "task")
        (kept,) = done(await bob.get("/entities/0.0.12345/notes"))["messages"]
        assert (kept["id"], kept["from"]) == (noted["message_id"], "alice")
        (entity,) = done(await bob.get("/entities"))["entities"]
        assert (entity["id"], entity["type"], entity["notes"]) == ("0.0.12345", "task", 1)

    async def test_a_note_for_nobody_is_kept_all_the_same_and_once(self, callers: Callers) -> None:
        (alice,) = await callers.named("alice")
        body = {"entity_type": "phase", "note": "Begun.", "id": "n-1"}
        first, again = [done(await alice.post("/entities/p1/notes", json=body), 201) for _ in range(2)]
        assert first == again == {"message_id": first["message_id"], "notified": [], "ledger": "direct"}
        assert len(done(await alice.get("/entities/p1/notes"))["messages"]) == 1

    async def test_the_events_of_an_entity_are_its_notes_and_ones_own_mail_about_it(self, callers: Callers) -> None:
        alice, bob, eve = await callers.named("alice", "bob", "eve")
        done(await bob.get("/agents/me"))
        done(await alice.post("/entities/p1/notes", json={"entity_type": "phase", "note": "Begun."}), 201)
        await send(alice, "bob", "about it", ref_id="p1", ref_type="phase")
        for reader, said in ((bob, ["about it", "Begun."]), (alice, ["about it", "Begun."]), (eve, ["Begun."])):
            assert [item["content"] for item in done(await reader.get("/entities/p1/events"))["messages"]] == said
        refused(await eve.get("/entities/p1/events", params={"everyone": "true"}), 403, "owner_only")
        owner = await callers.owner()
        assert len(done(await owner.get("/entities/p1/events", params={"everyone": "true"}))["messages"]) == 2

    async def test_a_note_needs_a_type_and_words(self, callers: Callers) -> None:
        (alice,) = await callers.named("alice")
        for body in ({"note": "x"}, {"entity_type": "task"}, {"entity_type": "task", "note": ""}, {"entity_type": "", "note": "x"}):
            refused(await alice.post("/entities/p1/notes", json=body), 422)

    async def test_an_entity_is_one_of_four_things_and_any_other_is_refused_with_the_four_named(self, callers: Callers) -> None:
        alice, bob = await callers.named("alice", "bob")
        done(await bob.get("/agents/me"))
        owner = await callers.owner()
        for type in ("task", "phase", "stage", "project"):
            done(await alice.post(f"/entities/{type}-1/notes", json={"entity_type": type, "note": "n"}), 201)
        for answer in (
            await alice.post("/entities/e-1/notes", json={"entity_type": "epic", "note": "n"}),
            await alice.post("/entities/e-1/events", json={"type": "epic.begun", "entity_type": "epic"}),
            await alice.post("/messages/send", json={"to": "bob", "type": "a.note", "content": "n", "ref_id": "e-1", "ref_type": "epic"}),
            await owner.put("/ledger/topics/0.0.9", json={"about": "epic"}),
        ):
            refused(answer, 422)
            assert "task, phase, stage or project, not 'epic'" in answer.json()["detail"]
        kept = {one["id"] for one in done(await alice.get("/entities"))["entities"]}
        assert kept == {"task-1", "phase-1", "stage-1", "project-1"}


class TestDeadLetters:
    async def test_a_dead_letter_says_why_and_its_sender_is_told(self, impatient: Callers) -> None:
        alice, bob = await impatient.named("alice", "bob")
        done(await bob.get("/agents/me"))
        id = await kill(alice, bob, "bob", "hello", "cannot parse")
        (dead,) = done(await bob.get("/dead-letters"))["dead_letters"]
        assert (dead["message"]["id"], dead["message"]["content"]) == (id, "hello")
        assert (dead["standing"]["state"], dead["standing"]["attempts"], dead["standing"]["reason"]) == ("dead", 1, "cannot parse")
        assert [event["message_id"] for event in await events(bob) if event["type"] == "dead_letter"] == [id]
        (notice,) = await take(alice)
        assert (notice["from"], notice["type"], notice["reply_to"]) == ("system", "notice", id)
        assert "cannot parse" in notice["content"]

    async def test_a_requeued_letter_waits_again(self, impatient: Callers) -> None:
        alice, bob = await impatient.named("alice", "bob")
        done(await bob.get("/agents/me"))
        id = await kill(alice, bob, "bob")
        assert done(await bob.post(f"/dead-letters/{id}/requeue")) == {"message_id": id, "state": "pending"}
        assert done(await bob.get("/dead-letters"))["dead_letters"] == []
        assert [letter["id"] for letter in await take(bob)] == [id]
        refused(await bob.post(f"/dead-letters/{id}/requeue"), 409, "not_dead")

    async def test_a_discarded_letter_is_done_with(self, impatient: Callers) -> None:
        alice, bob = await impatient.named("alice", "bob")
        done(await bob.get("/agents/me"))
        id = await kill(alice, bob, "bob")
        assert done(await bob.post(f"/dead-letters/{id}/discard")) == {"message_id": id, "state": "acked"}
        assert (done(await bob.get("/dead-letters"))["dead_letters"], await take(bob)) == ([], [])

    async def test_dead_letters_are_their_recipients_and_the_owners(self, impatient: Callers) -> None:
        alice, bob = await impatient.named("alice", "bob")
        done(await bob.get("/agents/me"))
        owner = await impatient.owner()
        id = await kill(alice, bob, "bob")
        assert done(await alice.get("/dead-letters"))["dead_letters"] == []
        for query in ({"of": "bob"}, {"everyone": "true"}):
            refused(await alice.get("/dead-letters", params=query), 403, "owner_only")
            (seen,) = done(await owner.get("/dead-letters", params=query))["dead_letters"]
            assert seen["message"]["id"] == id
        for verb in ("requeue", "discard"):
            refused(await alice.post(f"/dead-letters/{id}/{verb}"), 404, "no_such_message")
            refused(await alice.post(f"/dead-letters/{id}/{verb}", params={"of": "bob"}), 403, "owner_only")
        assert done(await owner.post(f"/dead-letters/{id}/requeue", params={"of": "bob"}))["state"] == "pending"


class TestSearch:
    async def test_words_are_found_in_ones_own_mail_only(self, callers: Callers) -> None:
        alice, bob, eve = await callers.named("alice", "bob", "eve")
        done(await bob.get("/agents/me"))
        await send(alice, "bob", "the quarterly report is ready", subject="Finance")
        await send(alice, "bob", "the yearly report")
        for reader in (alice, bob):
            (hit, other) = done(await reader.get("/search", params={"q": "Where is the quarterly report?"}))["results"]
            assert other["message"]["content"] == "the yearly report"
            assert hit["message"]["content"] == "the quarterly report is ready"
            assert "quarterly" in hit["excerpt"]
        assert done(await eve.get("/search", params={"q": "report"}))["results"] == []
        refused(await eve.get("/search", params={"q": "report", "everyone": "true"}), 403, "owner_only")
        owner = await callers.owner()
        assert len(done(await owner.get("/search", params={"q": "report", "everyone": "true"}))["results"]) == 2

    async def test_a_search_is_narrowed(self, callers: Callers) -> None:
        alice, bob = await callers.named("alice", "bob")
        done(await bob.get("/agents/me"))
        first = await send(alice, "bob", "report one")
        second = await send(bob, "alice", "report two", subject="Other", type="status")
        narrowed = [
            ({"sender": "alice"}, first),
            ({"recipient": "alice"}, second),
            ({"session_id": first["session_id"]}, first),
            ({"type": "status"}, second),
            ({"since": second["created_at"]}, second),
            ({"until": second["created_at"]}, first),
        ]
        for query, sent in narrowed:
            found = done(await alice.get("/search", params={"q": "report", **query}))["results"]
            assert [hit["message"]["id"] for hit in found] == [sent["message_id"]], query
        refused(await alice.get("/search", params={"q": "report", "since": "2026-01-01T00:00:00"}), 422)
        refused(await alice.get("/search", params={"q": "   "}), 422, "bad_query")
        refused(await alice.get("/search"), 422, "bad_query")
        refused(await alice.get("/search", params={"q": "before:tuesday"}), 422, "invalid")

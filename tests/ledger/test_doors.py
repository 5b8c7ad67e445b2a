"""`send_message` and `post_note` at the doors where no ledger is kept: delivered directly, and said so."""

from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest

from tests.doors.callers import done
from tests.doors.served import Served, serving
from tests.engines import SQLiteEngine
from tests.ledger.house import ROUTES
from tests.mcp.calling import call, client


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    routes = ({"event": "task.*", "to": ("mindy",), "priority": 2},)
    async with serving(SQLiteEngine(tmp_path), routes=routes) as running:
        for name in ("quinn", "mindy", "justin"):
            await running.office.identify(name=name)
        yield running


async def test_the_tools_deliver_directly_and_say_so(served: Served) -> None:
    async with client(served, "/agents/quinn/mcp?tools=ledger") as mailbox:
        sent = await call(mailbox, "send_message", to_agent="justin", subject="Blocked", message_type="feedback", priority=1)
        assert [(one["recipient"], one["ledger"]) for one in sent["recipients"]] == [("justin", "direct")]
        everyone = await call(mailbox, "send_message", to_agent="ALL", subject="Hello", payload={"a": 1})
        assert {one["recipient"]: one["ledger"] for one in everyone["recipients"]} == {"mindy": "direct", "justin": "direct"}
        noted = await call(mailbox, "post_note", entity_id="0.0.7", entity_type="task", note="stuck", notify=["mindy"])
        assert (noted["ledger"], noted["recipients"][0]["ledger"]) == ("direct", "direct")
        said = await mailbox.call_tool("send_message", {"to_agent": "mindy", "subject": "s"})
        assert "directly, not over the ledger" in said.content[0].text  # type: ignore[union-attr]


async def test_so_do_the_rest_calls(served: Served) -> None:
    async with served.client(name="quinn") as http:
        body = {"to_agent": "mindy", "subject": "Ready", "message_type": "review.request", "payload": {"x": 1}, "priority": 2}
        sent = done(await http.post("/ledger/messages", json={**body, "ref_id": "0.0.7", "ref_type": "task", "id": "mine"}), 201)
        assert (sent["id"], sent["recipients"][0]["ledger"]) == ("mine", "direct")
        noted = done(await http.post("/entities/0.0.7/notes", json={"entity_type": "task", "note": "stuck", "notify": ["mindy"]}), 201)
        assert (noted["notified"], noted["ledger"]) == (["mindy"], "direct")
        told = done(await http.post("/entities/0.0.7/events", json={"type": "task.blocked", "data": {"why": "x"}, "id": "e1"}), 201)
        assert told["recipients"] == ["mindy"]
        assert done(await http.post("/entities/0.0.7/events", json={"type": "task.blocked", "data": {"why": "x"}, "id": "e1"}), 201) == told
        assert done(await http.get("/ledger/status"))["status"]["kept"] is False
        refused = await http.post("/ledger/connections", json={"account_id": "0.0.1", "inbound_topic_id": "0.0.2"})
        assert (refused.status_code, refused.json()["code"]) == (422, "no_ledger")
        waiting = done(await http.get("/messages/waiting", headers={"X-Agent": "mindy"}))["messages"]
        assert [(one["type"], one["priority"], one["ref_id"]) for one in waiting] == [
            ("review.request", 2, "0.0.7"),
            ("task.blocked", 2, "0.0.7"),
            ("task.note", 3, "0.0.7"),
        ]


@pytest.mark.parametrize(
    ("event", "told", "priority"),
    [("task.blocked", {"mindy", "justin"}, 1), ("task.complete", {"engine"}, 3), ("phase.complete", {"engine", "mindy"}, 2)],
)
async def test_every_row_of_the_seeds_table_holds_for_a_call(tmp_path: Path, event: str, told: set[str], priority: int) -> None:
    routes = tuple(msgspec.to_builtins(route) for route in ROUTES)
    async with serving(SQLiteEngine(tmp_path), routes=routes) as served, served.client(name="quinn") as http:
        answer = done(await http.post("/entities/0.0.7/events", json={"type": event, "data": {"why": "review"}}), 201)
        assert set(answer["recipients"]) == told
        for name in ("mindy", "justin", "engine"):
            got = done(await http.get("/messages/waiting", headers={"X-Agent": name}))["messages"]
            assert [(one["from"], one["type"], one["priority"]) for one in got] == ([("system", event, priority)] if name in told else [])


async def test_what_only_the_owner_may_is_refused_to_others(served: Served) -> None:
    async with served.client(name="quinn") as http, served.client(key=served.owner_key) as owner:
        place = {"account_id": "0.0.1", "inbound_topic_id": "0.0.2", "outbound_topic_id": "0.0.3"}
        for answer in (
            await http.put("/ledger/accounts/quinn", json=place),
            await http.put("/ledger/topics/0.0.9", json={"about": "task"}),
            await http.get("/ledger/quarantine"),
            await http.get("/ledger/topics/0.0.9/records"),
        ):
            assert (answer.status_code, answer.json()["code"]) == (403, "owner_only")
        assert done(await owner.put("/ledger/accounts/quinn", json=place)) == {"agent": "quinn", **place}
        taken = await owner.put("/ledger/accounts/mindy", json=place)
        assert (taken.status_code, taken.json()["code"]) == (409, "topic_taken")
        assert done(await owner.put("/ledger/topics/0.0.9", json={"about": "task"}))["kind"] == "entity"
        assert done(await http.get("/ledger/topics"))["topics"][0]["topic_id"] == "0.0.9"
        assert done(await owner.get("/ledger/quarantine")) == {"records": [], "cursor": None}


async def test_nobody_registers_the_name_of_an_account(served: Served) -> None:
    async with served.client() as http:
        answer = await http.post("/agents/register", json={"name": "0.0.12345"})
        assert (answer.status_code, answer.json()["code"]) == (422, "reserved_name")

"""A tool answers alike, whether its call is answered quickly or by the SDK."""

import json
import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from postoffice.core.tools import TOOLS
from postoffice.doors.mcp.tools import VERBS
from tests.doors.served import serving
from tests.engines import SQLiteEngine
from tests.mcp.calling import LEGACY, MODERN
from tests.mcp.tour import tour

OWN = "io.modelcontextprotocol"
BY_THE_SDK = {"mcp-param-limit": "1"}
"""What quick calls leave to the SDK, to which it means nothing here."""
TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z|\d+ (?:s|min)\b|just now|\"seconds_left\": \d+")
CHANCE = re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{12}\b|(?:\b|(?<=\\n))[0-9a-f]{4,6}\b|\b[A-Z]{2}-\d{3}\b")
"""Ids, long and short, boundaries and codes."""
REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("mailbox_ack", {"message_id": "none"}),
    ("mailbox_ack", {"message_ids": "none"}),
    ("mailbox_wait", {"timeout_ms": 10**9}),
    ("mailbox_send", {"to": "bob", "content": "x", "from": "carol"}),
    ("mailbox_send", {"to": "bob", "content": "x", "deadline": "2999-12-31T18:00:00Z"}),
    ("mailbox_task_update", {"task_id": "none", "state": "lost"}),
    ("mailbox_approve", {"code": "XC-000"}),
    ("mailbox_status", {"message_id": "a\nb [ok]"}),
]


class Caller:
    """Calls tools one way, and keeps what they answered."""

    def __init__(self, http: httpx.AsyncClient, era: str, headers: dict[str, str]) -> None:
        self.http = http
        self.era = era
        self.headers = {"accept": "application/json, text/event-stream"} | headers
        self.tools: set[str] = set()
        self.answers: list[Any] = []

    async def call(self, agent: str, tool: str, **arguments: Any) -> Any:
        result = await self.result(agent, tool, {name.removesuffix("_"): value for name, value in arguments.items()})
        assert not result["isError"], result
        return result["structuredContent"]

    async def result(self, agent: str, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
        params: dict[str, Any] = {"name": tool, "arguments": arguments}
        headers = self.headers
        if self.era == MODERN:
            params["_meta"] = {f"{OWN}/protocolVersion": MODERN, f"{OWN}/clientCapabilities": {}}
            headers = headers | {"mcp-protocol-version": MODERN, "mcp-method": "tools/call", "mcp-name": tool}
        asked = {"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params}
        answer = await self.http.post(f"/agents/{agent}/mcp?tools=all&structured=1", json=asked, headers=headers)
        text = answer.text
        if answer.headers["content-type"].startswith("text/event-stream"):
            (text,) = re.findall(r"^data: (\{.*)$", text, re.MULTILINE)
        result: dict[str, Any] = json.loads(text)["result"]
        self.tools.add(tool)
        self.answers.append((tool, result))
        return result


def same(answers: Any) -> list[str]:
    """Answers without their times, and with every id, boundary and code replaced by its place among those there are."""
    places: dict[str, str] = {}
    texts = [TIME.sub("<time>", json.dumps(answer, sort_keys=True, ensure_ascii=False)) for answer in answers]
    return [CHANCE.sub(lambda match: places.setdefault(match[0], f"<{len(places)}>"), text) for text in texts]


async def a_day(folder: Path, era: str, headers: dict[str, str]) -> Caller:
    """Every tool called once, and some calls refused, at an office of its own."""
    folder.mkdir()
    async with serving(SQLiteEngine(folder)) as desk, desk.client() as http:
        caller = Caller(http, era, headers)
        await tour(caller.call)
        for tool, arguments in REFUSED:
            assert (await caller.result("bob", tool, arguments))["isError"], tool
    return caller


@pytest.mark.parametrize("era", [LEGACY, MODERN])
async def test_every_tool_answers_alike_quickly_and_by_the_sdk(tmp_path: Path, era: str) -> None:
    quick = await a_day(tmp_path / "quick", era, {})
    slow = await a_day(tmp_path / "sdk", era, BY_THE_SDK)
    assert quick.tools == slow.tools == set(TOOLS)
    for quickly, by_the_sdk in zip(same(quick.answers), same(slow.answers), strict=True):
        assert quickly == by_the_sdk


def test_every_tool_that_is_listed_has_a_verb() -> None:
    assert {name: verb.tool for name, verb in VERBS.items()} == TOOLS

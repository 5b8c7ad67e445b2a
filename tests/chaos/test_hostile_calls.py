"""Whatever anybody sends to the MCP door, as a plain POST or to the page's forms: an answer or a refusal, and the office goes on."""

import asyncio
import json
import re
import tempfile
from collections.abc import Awaitable, Callable
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

import httpx
import msgspec
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from postoffice.core.limits import Limits
from postoffice.core.tools import TOOLS
from postoffice.doors.page.door import page_routes
from tests.chaos.form import either
from tests.chaos.hostile import VALUES, WORDS
from tests.doors.served import Served, serving
from tests.engines import SQLiteEngine
from tests.mcp.calling import LEGACY, MODERN

ROUNDS = either(4, 300)
HASTY = Limits(wait=timedelta(milliseconds=50), wait_most=timedelta(milliseconds=100))
Request = tuple[str, str, dict[str, str], bytes]
"""Method, path, headers and body."""
LIKELY = st.sampled_from(["alice", "bob", "ALL", "owner", "hello", "1", "true", "2026-12-31T18:00", "0199d2a0-0000-7000-8000-000000000004"])
MANY = settings(max_examples=ROUNDS, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def encoded(value: Any) -> bytes:
    return json.dumps(value).encode()


def arguments_of(name: str) -> st.SearchStrategy[Any]:
    """Right names with wrong values, in every mixture."""
    fields = [field.encode_name for field in msgspec.structs.fields(TOOLS[name].arguments)]
    given = st.fixed_dictionaries({}, optional=dict.fromkeys([*fields, "agent_id", "odd"], st.one_of(LIKELY, VALUES)))
    return st.tuples(st.just(name), st.one_of(given, given, VALUES))


TOOL_CALLS = st.sampled_from(sorted(TOOLS)).flatmap(arguments_of)
ADDRESSES = st.sampled_from(["/mcp", "/mcp?tools=all", "/agents/alice/mcp", "/agents/alice/mcp?tools=all", "/agents/bob/mcp/?structured=1"])


def plain(address: str, call: tuple[str, Any]) -> Request:
    return "POST", address, {}, encoded({"tool": call[0], "args": call[1]})


def framed(address: str, version: str, method: str, id: Any, params: Any) -> Request:
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": version}
    return "POST", address, headers, encoded({"jsonrpc": "2.0", "id": id, "method": method, "params": params})


PLAIN = st.builds(plain, ADDRESSES, TOOL_CALLS)
METHODS = st.sampled_from(
    ["initialize", "ping", "tools/list", "tools/call", "resources/read", "prompts/get", "completion/complete", "odd", ""]
)
PARAMS = st.one_of(
    TOOL_CALLS.map(lambda call: {"name": call[0], "arguments": call[1]}),
    st.fixed_dictionaries({}, optional=dict.fromkeys(("uri", "name", "cursor", "arguments", "_meta", "ref", "argument"), VALUES)),
    VALUES,
)
FRAMES = st.builds(
    framed, ADDRESSES, st.sampled_from(["2025-06-18", MODERN, LEGACY, "odd"]), METHODS, st.one_of(st.integers(), VALUES), PARAMS
)
RAW = st.builds(lambda address, body: ("POST", address, {"Content-Type": "application/json"}, body), ADDRESSES, st.binary(max_size=200))

FIELDS = (
    "to",
    "subject",
    "content",
    "code",
    "next",
    "as",
    "name",
    "of",
    "type",
    "id",
    "once",
    "text",
    "allow",
    "deadline",
    "priority",
    "message",
)
FORM = st.dictionaries(st.one_of(st.sampled_from(FIELDS), WORDS), st.one_of(LIKELY, WORDS), max_size=6)
PLACES = [(min(route.methods or {"GET"}), route.path) for route in page_routes() if "/news" not in route.path]


def filled(place: tuple[str, str], word: str, form: dict[str, str]) -> Request:
    """One of the page's addresses, with a word in its path, and a form or a query."""
    method, path = place[0], re.sub(r"{\w+(:path)?}", lambda _: quote(word, safe="") or "x", place[1])
    fields = urlencode(form, errors="replace")
    if method == "POST":
        return method, path, {"Sec-Fetch-Site": "same-origin", "Content-Type": "application/x-www-form-urlencoded"}, fields.encode()
    return method, f"{path}?{fields}"[:4000], {}, b""


WORD_OF_PATH = st.one_of(LIKELY, st.text(st.characters(exclude_categories=["Cs"]), max_size=20))
FORMS = st.builds(filled, st.sampled_from(PLACES), WORD_OF_PATH, FORM)


@MANY
@given(st.lists(st.one_of(PLAIN, FRAMES, RAW), min_size=10, max_size=60))
def test_no_call_of_a_tool_is_a_fault(calls: list[Request]) -> None:
    asyncio.run(_sent(calls))


@MANY
@given(st.lists(FORMS, min_size=10, max_size=60))
@example([("POST", "/page/compose", {"Sec-Fetch-Site": "same-origin"}, b"\xff=\xff&to=%ED%A0%80")])
def test_no_form_and_no_address_of_the_page_is_a_fault(forms: list[Request]) -> None:
    asyncio.run(_sent(forms))


async def _sent(requests: list[Request]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        async with serving(SQLiteEngine(Path(folder)), limits=HASTY) as served, served.client() as anyone:
            faults = [fault for request in requests if (fault := await _fault(anyone, request)) is not None]
            assert faults == []
            await _goes_on(served)


async def _fault(http: httpx.AsyncClient, request: Request) -> Any:
    """What is wrong with an answer: a fault of ours, or none at all."""
    method, path, headers, body = request
    ask: Callable[..., Awaitable[httpx.Response]] = http.request
    answer = await ask(method, path, headers=headers, content=body)
    wrong = answer.status_code >= 500 or "internal error" in answer.text.lower() or "Traceback" in answer.text
    return (request, answer.status_code, answer.text[:300]) if wrong else None


async def _goes_on(served: Served) -> None:
    """Mail goes as before, from one who was never named."""
    async with served.client(name="zoe") as zoe:
        sent = await zoe.post("/messages/send", json={"to": "yves", "subject": "", "content": "whole"})
        assert sent.status_code < 300, sent.text
    async with served.client(name="yves") as yves:
        assert [letter["content"] for letter in (await yves.get("/messages/waiting")).json()["messages"]] == ["whole"]

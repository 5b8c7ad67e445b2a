"""Calls that are answered without the SDK: all that are right, and never otherwise than by it."""

import json
from typing import Any

import httpx
import pytest

from postoffice.doors.mcp.quick import quick_call
from tests.doors.served import Served
from tests.mcp.calling import ERAS, MODERN, client, result_of, text_of

OWN = "io.modelcontextprotocol"
HEADERS = {
    "content-type": "application/json",
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": MODERN,
    "mcp-method": "tools/call",
    "mcp-name": "mailbox_receive",
}
META = {
    f"{OWN}/protocolVersion": MODERN,
    f"{OWN}/clientInfo": {"name": "somebody", "version": "1"},
    f"{OWN}/clientCapabilities": {"roots": {"listChanged": True}, "elicitation": {"form": {}}},
}
ODD_HEADERS: list[dict[str, str]] = [
    {"content-type": "text/plain"},
    {"content-type": ""},
    {"accept": "application/jsonx, text/event-streamx"},
    {"accept": "application/json"},
    {"mcp-name": "mailbox_wait"},
    {"mcp-param-limit": "1"},
]
ODD_META: list[dict[str, Any]] = [
    {f"{OWN}/clientInfo": "somebody"},
    {f"{OWN}/clientInfo": {"name": 5, "version": "1"}},
    {f"{OWN}/clientCapabilities": []},
    {f"{OWN}/clientCapabilities": {"roots": 5}},
    {f"{OWN}/clientCapabilities": {"elicitation": {"form": True}}},
    {f"{OWN}/logLevel": "loud"},
    {"progressToken": {}},
    {"progressToken": True},
]
ODD_PARAMS: list[dict[str, Any]] = [{"task": 5}, {"inputResponses": 5}, {"requestState": 5}, {"arguments": []}]
MORE_HEADERS: list[dict[str, str]] = [{"accept": "*/*"}, {"accept": "application/*, text/*;q=0.9"}, {"accept": "text/html, */*;q=0.8"}]
MORE_META: list[dict[str, Any]] = [
    {f"{OWN}/clientInfo": {"name": "somebody", "version": "1", "websiteUrl": "http://example", "icons": [], "description": "x"}},
    {f"{OWN}/clientCapabilities": {"tasks": {}, "roots": None, "sampling": {"tools": None}, "newer": 5}},
    {f"{OWN}/logLevel": "info"},
    {f"{OWN}/newer": 5},
]
MORE_PARAMS: list[dict[str, Any]] = [{"task": {"ttl": 5}}, {"inputResponses": {}, "requestState": "x"}, {"newer": 5}]


def body(meta: dict[str, Any] | None = None, **params: Any) -> bytes:
    asked = {"name": "mailbox_receive", "arguments": {}, "_meta": META | (meta or {})} | params
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": asked}).encode()


def is_quick(content: bytes, headers: dict[str, str] | None = None) -> bool:
    given = [(name.encode(), value.encode()) for name, value in (HEADERS | (headers or {})).items()]
    return quick_call({"headers": given}, content) is not None


def test_whatever_is_right_is_answered_quickly_and_nothing_else() -> None:
    """What the SDK answers by events nobody reads where it is large: mail was leased again and again to a client that said more than it had to."""
    assert is_quick(body())
    assert is_quick(body({"traceparent": "00-1-2-3", "progressToken": 7}), {"content-type": "application/json; charset=utf-8"})
    for headers in MORE_HEADERS:
        assert is_quick(body(), headers), headers
    for meta in MORE_META:
        assert is_quick(body(meta)), meta
    for params in MORE_PARAMS:
        assert is_quick(body(**params)), params
    for headers in ODD_HEADERS:
        assert not is_quick(body(), headers), headers
    for meta in ODD_META:
        assert not is_quick(body(meta)), meta
    for params in ODD_PARAMS:
        assert not is_quick(body(**params)), params


@pytest.mark.parametrize("era", ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", None])
@pytest.mark.parametrize("accept", [HEADERS["accept"], "*/*", "application/json"])
async def test_the_earlier_era_is_answered_quickly_too(desk: Served, era: str | None, accept: str) -> None:
    """In plain JSON: its events would be too large for clients that are read by the official library, and no JSON to curl and its like."""
    headers = {"content-type": "application/json", "accept": accept}
    headers |= {} if era is None else {"mcp-protocol-version": era}
    asked = {"jsonrpc": "2.0", "id": "a", "method": "tools/call", "params": {"name": "mailbox_receive"}}
    async with desk.client(name="bob") as http:
        answer = await http.post("/agents/bob/mcp", json=asked, headers=headers)
        named = await http.post("/agents/bob/mcp", json=asked | {"params": {"name": "none"}}, headers=headers)
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {
        "jsonrpc": "2.0",
        "id": "a",
        "result": {
            "content": [{"type": "text", "text": "No messages are waiting."}],
            "isError": False,
        },
    }
    assert "There is no tool" in named.text


@pytest.mark.parametrize("accept", [HEADERS["accept"], "*/*", "application/json"])
@pytest.mark.parametrize("era", ["2024-11-05", "2025-11-25", None])
async def test_what_the_earlier_era_asks_besides_is_answered_in_plain_json(desk: Served, era: str | None, accept: str) -> None:
    headers = {"content-type": "application/json", "accept": accept} | ({} if era is None else {"mcp-protocol-version": era})
    hello = {"protocolVersion": era or "2025-03-26", "capabilities": {}, "clientInfo": {"name": "somebody", "version": "1"}}
    async with desk.client(name="bob") as http:
        for method, params in (("initialize", hello), ("tools/list", {}), ("ping", {}), ("prompts/list", {})):
            asked = {"jsonrpc": "2.0", "id": "a", "method": method, "params": params}
            answer = await http.post("/agents/bob/mcp", json=asked, headers=headers)
            assert answer.status_code == httpx.codes.OK, (method, answer.text)
            assert answer.headers["content-type"] == "application/json", method
            assert answer.json()["id"] == "a"
            assert "result" in answer.json(), method


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("more", [{}, {"mcp-param-limit": "1"}], ids=["quickly", "by the SDK"])
async def test_a_model_is_given_text_alone(desk: Served, era: str, more: dict[str, str]) -> None:
    """Clients that get structured content give a model that and nothing else: the fence never arrived."""
    async with client(desk, "/agents/bob/mcp?tools=all", era=era, model=True, headers=more) as bob:
        for tool in (await bob.list_tools()).tools:
            assert tool.output_schema is None, tool.name
        for name in ("check_mail", "mailbox_receive", "mailbox_agents"):
            result = await result_of(bob, name)
            assert result.structured_content is None
            assert text_of(result)
            assert "structuredContent" not in result.model_dump(by_alias=True, exclude_none=True)


def test_an_era_that_nobody_knows_is_left_to_the_sdk() -> None:
    assert not is_quick(body(), {"mcp-protocol-version": "2031-01-01"})


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (body({f"{OWN}/clientInfo": "somebody"}), -32602),
        (body().replace(b"somebody", b"\xff"), -32700),
    ],
    ids=["odd", "not UTF-8"],
)
async def test_what_is_not_right_is_the_callers_fault(desk: Served, content: bytes, code: int) -> None:
    async with desk.client(name="bob") as http:
        answer = await http.post("/agents/bob/mcp", content=content, headers=HEADERS)
    assert answer.status_code == httpx.codes.BAD_REQUEST, answer.text
    assert answer.json()["error"]["code"] == code


@pytest.mark.parametrize("arguments", [{"limit": "\ud800"}, {"\ud800": 1}, {"ack": {"\ud800": 1}}])
async def test_a_lone_surrogate_is_told_as_such_wherever_it_stands(desk: Served, arguments: dict[str, Any]) -> None:
    async with desk.client(name="bob") as http:
        answer = await http.post("/agents/bob/mcp", content=body(arguments=arguments), headers=HEADERS)
    result = answer.json()["result"]
    assert result["isError"]
    assert result["content"][0]["text"].endswith(("[bad_text]", "[invalid]"))


@pytest.mark.parametrize("era", ["2025-11-25", MODERN])
@pytest.mark.parametrize("id", [{}, {"id": None}, {"id": 1.5}, {"id": True}, {"id": [1]}], ids=str)
async def test_a_call_that_cannot_be_answered_is_not_said_to_be_accepted(desk: Served, era: str, id: dict[str, Any]) -> None:
    """It was dropped as news that nobody understands."""
    call = {name: value for name, value in json.loads(body()).items() if name != "id"} | id
    async with desk.client(name="bob") as http:
        answer = await http.post("/agents/bob/mcp", json=call, headers=HEADERS | {"mcp-protocol-version": era})
    assert answer.status_code == httpx.codes.UNPROCESSABLE_ENTITY
    assert "nothing was done" in answer.json()["error"]["message"]


async def test_news_is_accepted(desk: Served) -> None:
    news = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "tools/call", "progress": 1}}
    headers = {"accept": HEADERS["accept"], "mcp-protocol-version": "2025-11-25"}
    async with desk.client(name="bob") as http:
        assert (await http.post("/agents/bob/mcp", json=news, headers=headers)).status_code == httpx.codes.ACCEPTED

"""How clients and models talk: Anthropic's messages, OpenAI's responses, Google's content."""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any, NamedTuple

Turn = tuple[str, dict[str, Any]] | str
"""A tool with its arguments, or words."""
_numbers = count(1)
_USAGE = {"input_tokens": 1, "output_tokens": 1}


class Talk(NamedTuple):
    """One way to talk: where it is asked, and how a turn is said."""

    path: str
    say: Callable[..., tuple[bytes, str]]


def offered(asked: dict[str, Any]) -> set[str]:
    """The tools that a request offers. Codex offers those of a server in a space of its own, Gemini all in one."""
    names: set[str] = set()
    for tool in asked.get("tools", ()):
        inner = tool.get("tools") or tool.get("functionDeclarations") or (tool,)
        names |= {one["name"] for one in inner if "name" in one}
    return names


def results(asked: dict[str, Any]) -> Iterator[Any]:
    """What tools have answered, in order, in each of the three forms."""
    for item in (*asked.get("messages", ()), *asked.get("input", ()), *asked.get("contents", ())):
        if item.get("type") == "function_call_output":
            yield item["output"]
        content = item.get("content") or item.get("parts") or ()
        for part in content if isinstance(content, list) else ():
            if part.get("type") == "tool_result":
                yield part["content"]
            elif "functionResponse" in part:
                yield part["functionResponse"]["response"]


def texts(value: object) -> Iterator[str]:
    """Every text in a JSON value, names of fields too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from value
        for item in value.values():
            yield from texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts(item)


def _say_messages(turn: Turn, asked: dict[str, Any], *, streamed: bool) -> tuple[bytes, str]:
    block: dict[str, Any]
    empty: dict[str, Any]
    if isinstance(turn, str):
        reason, block, empty = "end_turn", {"type": "text", "text": turn}, {"text": ""}
        delta = {"type": "text_delta", "text": turn}
    else:
        reason, empty = "tool_use", {"input": {}}
        block = {"type": "tool_use", "id": f"toolu_{next(_numbers)}", "name": turn[0], "input": turn[1]}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(turn[1])}
    head = {"id": "msg_1", "type": "message", "role": "assistant", "model": str(asked.get("model")), "stop_sequence": None, "usage": _USAGE}
    if not streamed:
        return json.dumps(head | {"content": [block], "stop_reason": reason}).encode(), "application/json"
    return _stream(
        [
            {"type": "message_start", "message": head | {"content": [], "stop_reason": None}},
            {"type": "content_block_start", "index": 0, "content_block": block | empty},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 1}},
            {"type": "message_stop"},
        ]
    )


def _say_responses(turn: Turn, asked: dict[str, Any], **_: object) -> tuple[bytes, str]:
    id = f"r{next(_numbers)}"
    if isinstance(turn, str):
        item = {"type": "message", "role": "assistant", "id": id, "content": [{"type": "output_text", "text": turn}]}
    else:
        item = {"type": "function_call", "id": id, "call_id": id, "name": turn[0], "arguments": json.dumps(turn[1])}
        for space in (tool["name"] for tool in asked["tools"] if turn[0] in {one["name"] for one in tool.get("tools", ())}):
            item["namespace"] = space
    usage = _USAGE | {"input_tokens_details": None, "output_tokens_details": None, "total_tokens": 2}
    return _stream(
        [
            {"type": "response.created", "response": {"id": id}},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {"type": "response.completed", "response": {"id": id, "output": [item], "usage": usage}},
        ]
    )


def _say_content(turn: Turn, _: dict[str, Any], *, streamed: bool) -> tuple[bytes, str]:
    part = {"text": turn} if isinstance(turn, str) else {"functionCall": {"name": turn[0], "args": turn[1]}}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    answer = {"candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}], "usageMetadata": usage}
    body = json.dumps(answer).encode()
    return (b"data: " + body + b"\r\n\r\n", "text/event-stream") if streamed else (body, "application/json")


def _stream(events: Iterable[dict[str, Any]]) -> tuple[bytes, str]:
    return b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events), "text/event-stream"


TALKS = (Talk("/messages", _say_messages), Talk("/responses", _say_responses), Talk("enerateContent", _say_content))

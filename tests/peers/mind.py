"""A mind on loopback for clients in a terminal: rung, it takes its mail and ends each letter. It speaks what each client speaks."""

import json
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

_RING = "[postoffice bell"
_CALLS = ("function_call", "custom_tool_call")
_LETTER = re.compile(r"=== [0-9a-f]+ message ([0-9a-f-]{4,36}) from")


class Call(NamedTuple):
    """A tool to be called."""

    tool: str
    arguments: dict[str, Any] | str
    """Plain text for a tool of Codex that takes no fields."""


class Mind:
    """What it was rung for, and when it heard of it."""

    needs = "mail_get"
    """Without this tool it is asked for something else, such as a title."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.rings: list[float] = []
        self.taken: list[str] = []
        self.said: list[str] = []
        self.at_work: Callable[[], None] = lambda: None
        """What happens while it ends its letters."""
        self._last = ""
        self._heard: set[str] = set()
        self._lock = threading.Lock()

    @property
    def rests(self) -> bool:
        """Whether it has said its last word in this turn."""
        return not self._last

    def has(self, *ids: str) -> bool:
        """Whether it took these; it knows them by their last characters."""
        return all(any(id.endswith(taken) for taken in self.taken) for id in ids)

    def turn(self, recent: str) -> Call | str:
        """What to do, from what was said since its own last word."""
        with self._lock:
            self.said.append(recent)
            rings = set(re.findall(r"\[postoffice bell \d+, [0-9:]+", recent)) - self._heard
            self._heard |= rings
            self.rings += [time.time()] if rings else []
            found = [id for id in dict.fromkeys(_LETTER.findall(recent)) if id not in self.taken]
            if self._last == "get" and found:  # what it has in hand comes first, whatever was said meanwhile
                self.taken += found
                self._last = "done"
                self.at_work()
                return Call("mail_done", {"ids": found})
            # What a hook has said may stand at the end of every later request.
            if rings or ("in your mailbox. Take it" in recent and not self._last):
                self._last = "get"
                return Call("mail_get", {})
            if self._last == "done":
                self._last = "get"
                return Call("mail_get", {})
            self._last = ""
            return "All done."


@contextmanager
def thinking() -> Iterator[Mind]:
    """A mind that answers while the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    mind = Mind(f"http://127.0.0.1:{server.server_port}")
    server.RequestHandlerClass = type("Handler", (_Handler,), {"mind": mind})
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield mind
    finally:
        server.shutdown()
        server.server_close()


class _Handler(BaseHTTPRequestHandler):
    mind: Mind
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._answer(b"", "text/plain")

    def do_GET(self) -> None:
        self._answer(b'{"data": []}', "application/json")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if "count_tokens" in self.path:
            self._answer(b'{"input_tokens": 1}', "application/json")
            return
        speak = next((say for word, say in _SPEECH.items() if word in self.path.split("?")[0]), None)
        if speak is None:
            self._answer(b"{}", "application/json")
            return
        more = [tool for one in asked.get("input") or [] if isinstance(one, dict) for tool in one.get("tools") or []]
        offered = dict(_offered([*(asked.get("tools") or []), *more]))
        said = self.mind.turn(_recent(asked)) if any(self.mind.needs in name for name in offered) else "ok"
        if isinstance(said, Call):
            name = next(name for name in offered if name.endswith(said.tool))
            said = Call(name, said.arguments)
            events = speak(said, offered[name])
        else:
            events = speak(said, None)
        self._answer("".join(events).encode(), "text/event-stream")

    def log_message(self, format: str, *arguments: object) -> None:
        """Nobody reads it."""

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _recent(asked: dict[str, Any]) -> str:
    """What was said since the model's own last word."""
    said: list[Any] = asked.get("messages") or asked.get("input") or asked.get("contents") or []
    mine = [at for at, one in enumerate(said) if one.get("role") in ("assistant", "model") or one.get("type") in _CALLS]
    return json.dumps(said[mine[-1] + 1 :] if mine else said, ensure_ascii=False)


def _offered(tools: list[dict[str, Any]], space: str | None = None) -> Iterator[tuple[str, str | None]]:
    """The tools' names, and the group that each is in, where a client groups them."""
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from _offered(tool.get("tools", []), tool["name"])
        elif declared := tool.get("functionDeclarations"):
            yield from _offered(declared)
        else:
            yield tool.get("name") or tool.get("function", {}).get("name", ""), space


def _event(kind: str, **more: Any) -> str:
    return f"event: {kind}\ndata: {json.dumps({'type': kind} | more)}\n\n"


def _anthropic(said: Call | str, _: str | None) -> Iterator[str]:
    head: dict[str, Any] = {"id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": []}
    yield _event(
        "message_start", message=head | {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": 1, "output_tokens": 1}}
    )
    if isinstance(said, str):
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": said}
    else:
        block = {"type": "tool_use", "id": f"toolu_{time.time_ns()}", "name": said.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(said.arguments)}
    yield _event("content_block_start", index=0, content_block=block)
    yield _event("content_block_delta", index=0, delta=delta)
    yield _event("content_block_stop", index=0)
    reason = "end_turn" if isinstance(said, str) else "tool_use"
    yield _event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": 1})
    yield _event("message_stop")


def _responses(said: Call | str, space: str | None) -> Iterator[str]:
    yield _event("response.created", response={"id": "r1"})
    if isinstance(said, str):
        item: dict[str, Any] = {"type": "message", "role": "assistant", "id": "m1", "content": [{"type": "output_text", "text": said}]}
    else:
        item = {"call_id": f"c{time.time_ns()}", "name": said.tool} | ({"namespace": space} if space else {})
        if isinstance(said.arguments, str):
            item |= {"type": "custom_tool_call", "input": said.arguments}
        else:
            item |= {"type": "function_call", "arguments": json.dumps(said.arguments)}
    yield _event("response.output_item.done", item=item)
    usage = {"input_tokens": 1, "input_tokens_details": None, "output_tokens": 1, "output_tokens_details": None, "total_tokens": 2}
    yield _event("response.completed", response={"id": "r1", "usage": usage})


def _completions(said: Call | str, _: str | None) -> Iterator[str]:
    head = {"id": "c", "object": "chat.completion.chunk", "model": "m"}
    delta: dict[str, Any] = {"role": "assistant"}
    if isinstance(said, str):
        delta["content"] = said
    else:
        function = {"name": said.tool, "arguments": json.dumps(said.arguments)}
        delta["tool_calls"] = [{"index": 0, "id": f"c{time.time_ns()}", "type": "function", "function": function}]
    for piece, reason in ((delta, None), ({}, "stop" if isinstance(said, str) else "tool_calls")):
        yield f"data: {json.dumps(head | {'choices': [{'index': 0, 'delta': piece, 'finish_reason': reason}]})}\n\n"
    yield "data: [DONE]\n\n"


def _content(said: Call | str, _: str | None) -> Iterator[str]:
    part = {"text": said} if isinstance(said, str) else {"functionCall": {"name": said.tool, "args": said.arguments}}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    yield f"data: {json.dumps({'candidates': [candidate], 'usageMetadata': usage})}\r\n\r\n"


_SPEECH = {"/messages": _anthropic, "/responses": _responses, "/chat/completions": _completions, "streamGenerateContent": _content}

"""A model on loopback that does as it is told: the Anthropic messages API, with a script in place of a mind."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Call(NamedTuple):
    """A turn in which the model calls a tool."""

    tool: str
    arguments: dict[str, Any]


class FakeModel:
    """Answers each request of the main conversation with the next turn of its script, and remembers what it was asked."""

    def __init__(self, address: str, script: Sequence[Call | str]) -> None:
        self.address = address
        self.asked: list[dict[str, Any]] = []
        self._script = list(script)
        self._lock = threading.Lock()

    def turn(self, asked: dict[str, Any]) -> Call | str:
        """What to say. Requests without any tools are the client's own small errands; ours may come later than the first turn."""
        if not asked.get("tools"):
            return "ok"
        with self._lock:
            self.asked.append(asked)
            return self._script.pop(0) if self._script else "done"

    def said_to_it(self) -> str:
        """Everything that the conversation held at its last turn."""
        return json.dumps(self.asked[-1]["messages"], ensure_ascii=False)

    def tools(self) -> set[str]:
        """The tools it was offered."""
        return {tool["name"] for tool in self.asked[0]["tools"]}


@contextmanager
def thinking(script: Sequence[Call | str]) -> Iterator[FakeModel]:
    """A model that answers while the block lasts."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    model = FakeModel(f"http://127.0.0.1:{server.server_port}", script)
    server.RequestHandlerClass = type("Handler", (_Handler,), {"model": model})
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    model: FakeModel

    def do_HEAD(self) -> None:
        self._answer(b"", "text/plain")

    def do_GET(self) -> None:
        self._answer(b'{"data": []}', "application/json")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])) or b"{}")
        if "count_tokens" in self.path:
            self._answer(b'{"input_tokens": 1}', "application/json")
        elif "/messages" not in self.path:
            self._answer(b"{}", "application/json")
        elif asked.get("stream"):
            events = _events(self.model.turn(asked), str(asked.get("model")))
            self._answer(
                b"".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in events), "text/event-stream"
            )
        else:
            self._answer(json.dumps(_whole(self.model.turn(asked), str(asked.get("model")))).encode(), "application/json")

    def log_message(self, format: str, *arguments: object) -> None:
        """Nobody reads it."""

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def _whole(turn: Call | str, model: str) -> dict[str, Any]:
    block = (
        {"type": "text", "text": turn}
        if isinstance(turn, str)
        else {"type": "tool_use", "id": "toolu_1", "name": turn[0], "input": turn[1]}
    )
    return _head(model) | {"content": [block], "stop_reason": "end_turn" if isinstance(turn, str) else "tool_use"}


def _head(model: str) -> dict[str, Any]:
    usage = {"input_tokens": 1, "output_tokens": 1}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
    } | {"usage": usage}


def _events(turn: Call | str, model: str) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": _head(model)}
    if isinstance(turn, str):
        block: dict[str, Any] = {"type": "text", "text": ""}
        delta = {"type": "text_delta", "text": turn}
    else:
        block = {"type": "tool_use", "id": f"toolu_{abs(hash(json.dumps(turn)))}", "name": turn.tool, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": json.dumps(turn.arguments)}
    yield {"type": "content_block_start", "index": 0, "content_block": block}
    yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    reason = "end_turn" if isinstance(turn, str) else "tool_use"
    yield {"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": None}, "usage": {"output_tokens": 1}}
    yield {"type": "message_stop"}

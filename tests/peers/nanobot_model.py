"""A model on loopback that does as it is told: the OpenAI completions API, with rules in place of a mind."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Call(NamedTuple):
    """A turn in which the model calls a tool."""

    tool: str
    arguments: dict[str, Any]


class Rule(NamedTuple):
    """What to say when the newest message holds these words, and what to wait for before."""

    words: str
    turn: Call | str
    gate: threading.Event | None


class RuledModel:
    """Answers by the newest rule that fits the newest message; remembers every such message."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.whole: list[str] = []
        """Of each request, all that the conversation held."""
        self.tools: set[str] = set()
        self.broken = False
        self._rules: list[Rule] = []
        model = self

        class Handler(_Handler):
            pass

        Handler.model = model
        ThreadingHTTPServer.daemon_threads = True
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def when(self, words: str, turn: Call | str, *, gate: threading.Event | None = None) -> None:
        """Add a rule; it comes before those there are."""
        self._rules.insert(0, Rule(words, turn, gate))

    def times(self, words: str) -> int:
        """How often the newest message held these words."""
        return sum(words in text for text in self.heard)

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def turn(self, asked: dict[str, Any]) -> Call | str:
        self.tools |= {tool["function"]["name"] for tool in asked.get("tools") or ()}
        newest = _text(asked["messages"][-1].get("content"))
        self.heard.append(newest)
        self.whole.append("\n".join(_text(message.get("content")) for message in asked["messages"]))
        rule = next((rule for rule in self._rules if rule.words in newest), None)
        if rule is None:
            return "I have nothing to say to that."
        if rule.gate is not None:
            rule.gate.wait(120)
        return rule.turn


class _Handler(BaseHTTPRequestHandler):
    model: RuledModel

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.model.broken:
            self._send(400, "application/json", json.dumps({"error": {"message": "the fake model is broken"}}).encode())
            return
        turn = self.model.turn(asked)
        said, reason = (
            ({"content": turn}, "stop") if isinstance(turn, str) else ({"content": None, "tool_calls": [_call(turn)]}, "tool_calls")
        )
        whole = {"id": "c1", "created": 1, "model": "fake-model", "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}
        choice = {"index": 0, "finish_reason": reason}
        if not asked.get("stream"):
            body = whole | {"object": "chat.completion", "choices": [choice | {"message": {"role": "assistant"} | said}]}
            self._send(200, "application/json", json.dumps(body).encode())
            return
        chunk = whole | {"object": "chat.completion.chunk", "choices": [choice | {"delta": {"role": "assistant"} | said}]}
        self._send(200, "text/event-stream", f"data: {json.dumps(chunk)}\n\ndata: [DONE]\n\n".encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass  # whoever asked was killed meanwhile


def _call(turn: Call) -> dict[str, Any]:
    id = f"call_{abs(hash(json.dumps(turn)))}"
    return {"index": 0, "id": id, "type": "function", "function": {"name": turn.tool, "arguments": json.dumps(turn.arguments)}}


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "\n".join(part.get("text", "") for part in content or ())

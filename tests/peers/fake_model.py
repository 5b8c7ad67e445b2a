"""A model on loopback that does as it is told, with a script in place of a mind. It speaks as Anthropic's, OpenAI's and Google's do."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

from tests.peers import model_talk


class Call(NamedTuple):
    """A turn in which the model calls a tool, by the name it was offered under or by the end of that."""

    tool: str
    arguments: dict[str, Any]


class FakeModel:
    """Answers each request of the main conversation with the next turn of its script, and remembers what it was asked."""

    def __init__(self, address: str, script: Sequence[Call | str]) -> None:
        self.address = address
        self.asked: list[dict[str, Any]] = []
        self._script = list(script)
        self._lock = threading.Lock()

    def turn(self, asked: dict[str, Any], offered: set[str]) -> tuple[str, dict[str, Any]] | str:
        """What to say. Requests without any tools are the client's own small errands; ours may come later than the first turn."""
        if not offered:
            return "ok"
        with self._lock:
            self.asked.append(asked)
            if not self._script:
                return "done"
            turn = self._script.pop(0)
        return turn if isinstance(turn, str) else (next((name for name in offered if name.endswith(turn.tool)), turn.tool), turn.arguments)

    def said_to_it(self) -> str:
        """Everything that the conversation held at its last turn."""
        return json.dumps(self.asked[-1]["messages"], ensure_ascii=False)

    def told(self) -> list[str]:
        """Every text that the last request held, whoever it was from, as the model reads it."""
        return list(model_talk.texts(self.asked[-1]))

    def results(self) -> list[str]:
        """What the tools have answered, one text each, as the model reads it."""
        return ["\n".join(model_talk.texts(result)) for result in model_talk.results(self.asked[-1])]

    def tools(self) -> set[str]:
        """The tools it was offered."""
        return model_talk.offered(self.asked[0])


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
        path = self.path.partition("?")[0]
        if "count_tokens" in path:
            self._answer(b'{"input_tokens": 1}', "application/json")
            return
        for talk in model_talk.TALKS:
            if talk.path in path:
                turn = self.model.turn(asked, model_talk.offered(asked))
                self._answer(*talk.say(turn, asked, streamed=bool(asked.get("stream")) or "stream" in path))
                return
        self._answer(b"{}", "application/json")

    def log_message(self, format: str, *arguments: object) -> None:
        """Nobody reads it."""

    def _answer(self, body: bytes, kind: str) -> None:
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

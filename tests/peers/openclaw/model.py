"""A model on loopback that follows a script: it streams as the OpenAI completions API does, and answers mail."""

import json
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

_MAIL = re.compile(r"\[Mailbox\].*?=== (\w+) message .*? ===\n.*?\n\n(.*?)\n=== \1 end ===", re.DOTALL)


class Model:
    """It answers the newest mail it sees; anything else the gateway asks of it, it leaves alone."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.slow = 0.0
        model = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                reply = model.reply(body["messages"])
                self.send_response(200)
                self.send_header("Content-Type", "text/event-stream")
                self.end_headers()
                whole = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "fake-model"}
                said = {"index": 0, "delta": {"role": "assistant", "content": reply}, "finish_reason": None}
                end = {"index": 0, "delta": {}, "finish_reason": "stop"}
                usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
                for event in (whole | {"choices": [said]}, whole | {"choices": [end], "usage": usage}):
                    self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
                self.wfile.write(b"data: [DONE]\n\n")

        ThreadingHTTPServer.daemon_threads = True
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def reply(self, messages: list[dict[str, Any]]) -> str:
        said = [_text(message["content"]) for message in messages if message["role"] == "user"]
        # What the gateway adds of its own stands in messages of their own.
        last = next((text for text in reversed(said) if not text.startswith("<<<BEGIN_OPENCLAW")), "")
        found = _MAIL.search(last)
        if found is None:
            return "ANNOUNCE_SKIP" if "announce" in last else "REPLY_SKIP"
        self.seen.append(last)
        time.sleep(self.slow)
        return f"The model heard: {found[2]}"


def _text(content: Any) -> str:
    return content if isinstance(content, str) else " ".join(part.get("text", "") for part in content)

"""A gateway as OpenClaw 2026.9.6 answers, on a real port of this machine; what its agent does is the test's to say."""

import contextlib
import json
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple
from uuid import uuid4

from tests.serve.running import free_port

TOKEN = "gateway-secret-7f3a"
MAIN = "agent:main:main"


class Act(NamedTuple):
    """What the gateway does with one message."""

    status: str = "ok"
    reply: str | None = None
    seconds: float = 0.0
    hang_up: bool = False
    """End the connection without a word, after the message is in the transcript."""


def echo(text: str) -> Act:
    """Answer with the last line that stands within the fence."""
    return Act(reply=f"heard {text.splitlines()[-2]}")


class Gateway:
    """One that can be stopped and started again on its port, and keeps its transcripts over that."""

    def __init__(self) -> None:
        self.act: Callable[[str], Act] = echo
        self.allowed = {"sessions_send", "sessions_history"}
        self.chat = True
        self.sessions = {MAIN}
        self.transcripts: dict[str, list[dict[str, Any]]] = defaultdict(list)
        self.asked: list[tuple[str, str]] = []
        self.callers: set[str] = set()
        self.waits: set[int] = set()
        self.port = free_port()  # the same one after a restart
        self.leave: threading.Semaphore | None = None
        """Given once for every answer, by a test that has something to do before it."""
        self._server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        gateway = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                answer = gateway.answer(self.path, dict(self.headers), body)
                self.close_connection = True
                if answer is None:
                    return
                status, content = answer
                data = content.encode() if isinstance(content, str) else json.dumps(content).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.send_header("Connection", "close")
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # a relay that was killed does not listen
                    self.end_headers()
                    self.wfile.write(data)

        ThreadingHTTPServer.daemon_threads = True
        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def stop(self) -> None:
        if self._server is not None:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def finish(self, reply: str, session: str = MAIN) -> None:
        """The run of the last message that has no answer comes to its end."""
        transcript = self.transcripts[session]
        done = {entry["__openclaw"]["runId"] for entry in transcript if "__openclaw" in entry}
        runs = [entry["idempotencyKey"].removesuffix(":user") for entry in transcript if "provenance" in entry]
        self._say(session, next(run for run in reversed(runs) if run not in done), reply)

    def answer(self, path: str, headers: dict[str, str], body: dict[str, Any]) -> tuple[int, Any] | None:
        if headers.get("Authorization") != f"Bearer {TOKEN}":
            return 401, {"error": {"message": "Unauthorized", "type": "unauthorized"}}
        if path == "/v1/chat/completions" and self.chat:
            return self._completion(headers["x-openclaw-session-key"], body)
        return self._invoke(body) if path == "/tools/invoke" else (404, "Not Found")

    def _invoke(self, body: dict[str, Any]) -> tuple[int, Any] | None:
        if body["tool"] not in self.allowed:
            return 404, {"ok": False, "error": {"type": "not_found", "message": f"Tool not available: {body['tool']}"}}
        arguments = body["args"]
        if body["tool"] == "sessions_history":
            return _details({"sessionKey": arguments["sessionKey"], "messages": self.transcripts[arguments["sessionKey"]]})
        if "message" not in arguments:
            return 400, {"ok": False, "error": {"type": "tool_error", "message": "message required"}}
        return self._send(body["sessionKey"], arguments)

    def _send(self, caller: str, arguments: dict[str, Any]) -> tuple[int, Any] | None:
        session, text = arguments["sessionKey"], arguments["message"]
        self.callers.add(caller)
        self.waits.add(arguments["timeoutSeconds"])
        if caller == session:
            return _details({"status": "error", "error": "sessions_send cannot target the calling session; use your own reply instead"})
        if session not in self.sessions:
            return _details({"status": "error", "error": f"No session found: {session}", "sessionKey": session})
        act, run = self.act(text), str(uuid4())
        if act.status not in {"error", "forbidden"}:
            mail = {"role": "assistant", "content": text, "idempotencyKey": f"{run}:user", "provenance": {"kind": "inter_session"}}
            self.transcripts[session].append(mail)
        self.asked.append((session, text))
        time.sleep(act.seconds)
        if self.leave is not None:
            self.leave.acquire()
        if act.reply is not None and act.status in {"ok", "accepted"}:
            self._say(session, run, act.reply)
        if act.hang_up:
            return None
        told = {"reply": act.reply} if act.status == "ok" else {"error": act.reply} if act.reply else {}
        return _details({"runId": run, "sessionKey": session, "status": act.status} | told)

    def _completion(self, session: str, body: dict[str, Any]) -> tuple[int, Any]:
        if not body["messages"]:
            return 400, {"error": {"message": "Missing user message in `messages`.", "type": "invalid_request_error"}}
        self.sessions.add(session)
        text = body["messages"][-1]["content"]
        act = self.act(text)
        self.asked.append((session, text))
        self.transcripts[session].append({"role": "user", "content": text, "idempotencyKey": f"{uuid4()}:user"})
        time.sleep(act.seconds)
        self._say(session, f"chatcmpl_{uuid4()}", act.reply or "")
        reply = act.reply or "No response from OpenClaw."
        return 200, {"choices": [{"index": 0, "message": {"role": "assistant", "content": reply}, "finish_reason": "stop"}]}

    def _say(self, session: str, run: str, reply: str) -> None:
        content = [{"type": "text", "text": reply}]
        self.transcripts[session].append({"role": "assistant", "content": content, "stopReason": "stop", "__openclaw": {"runId": run}})


def _details(details: dict[str, Any]) -> tuple[int, Any]:
    return 200, {"ok": True, "result": {"content": [], "details": details}}

"""Somebody else's address: a real HTTP server that writes down what it is told, and answers as the test wants."""

import json
import ssl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, NamedTuple


class Got(NamedTuple):
    """One request."""

    path: str
    headers: dict[str, str]
    body: bytes
    at: float
    """By the monotonic clock, in seconds."""

    @property
    def told(self) -> Any:
        return json.loads(self.body)

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]


class Receiver:
    """What came, taken or not, and what is answered next."""

    def __init__(self) -> None:
        self.got: list[Got] = []
        self.taken: list[Got] = []
        self.status = 200
        self.refused: set[str] = set()
        """Words in a body that is refused with 500."""
        self.headers: dict[str, str] = {}
        self.url = ""

    def wait(self, count: int, within: float = 60.0) -> None:
        """Until so many different events were taken."""
        until = time.monotonic() + within
        while len({got.id for got in self.taken}) < count:
            assert time.monotonic() < until, f"{len(self.taken)} of {count} were taken"
            time.sleep(0.02)

    def answer(self, got: Got) -> int:
        self.got.append(got)
        status = 500 if any(word in got.body.decode() for word in self.refused) else self.status
        if status == 200:
            self.taken.append(got)
        return status


@contextmanager
def receiving(tls: ssl.SSLContext | None = None) -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["content-length"])
            body = self.rfile.read(size)
            if len(body) < size:  # whoever tells it was killed in the midst of it
                self.close_connection = True
                return
            status = receiver.answer(Got(self.path, {name.lower(): value for name, value in self.headers.items()}, body, time.monotonic()))
            self.send_response(status)
            for name, value in receiver.headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing to tell."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    receiver.url = f"http://127.0.0.1:{server.server_address[1]}/hook"
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield receiver
    finally:
        server.shutdown()
        server.server_close()
        thread.join()

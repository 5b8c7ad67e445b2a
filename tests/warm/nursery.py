"""The program that others are forked from: it has loaded them, and has begun nothing. Each wish comes by a connection of its own."""

import gc
import importlib
import io
import json
import os
import selectors
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import NamedTuple, TextIO

LOADED = {
    "command": ("postoffice.cli.main", "postoffice.client.plain_http", "postoffice.client.proving", "postoffice.client.wire", "httpx2"),
    "mcp": ("postoffice.cli.main", "postoffice.client.wire", "postoffice.bridges.stdio"),
    "serve": ("postoffice.serve.run", "postoffice.serve.app", "postoffice.store.sqlite.engine", "postoffice.store.postgres.engine"),
    "word": ("postoffice.bridges.notify.word", "apprise"),
}
"""What is loaded beforehand. Whatever else a program needs it loads by itself, as ever."""
_MESSAGE_BYTES = 1 << 20
_STREAMS = 3


class Wish(NamedTuple):
    """What is to be started."""

    words: list[str]
    folder: str | None
    environment: dict[str, str]
    together: bool
    """Whether it ends when whoever asked for it does."""
    streams: list[int]


class Child(NamedTuple):
    """A process, what tells of its end, and who is to hear of it."""

    number: int
    end: int
    asker: socket.socket


class Nursery:
    """Forks what it is asked for, and tells how each ended."""

    def __init__(self, asked: socket.socket) -> None:
        self._asked = asked
        self._watched = selectors.DefaultSelector()
        self._watched.register(asked, selectors.EVENT_READ)
        self._watched.register(sys.stdin, selectors.EVENT_READ)  # which closes when nobody will ask any more
        self._children: dict[int, Child] = {}

    def next_wish(self) -> Wish | None:
        """Returns in each child with what it is to do, and here when nobody will ask any more."""
        while True:
            for key, _ in self._watched.select():
                if key.fileobj is sys.stdin:
                    return None
                if isinstance(key.data, Child):
                    self._look(key.data, ended=key.fd == key.data.end)
                elif (wish := self._answer()) is not None:
                    return wish

    def _answer(self) -> Wish | None:
        """Fork what somebody asks for; given in the child."""
        asker, _ = self._asked.accept()
        message, streams, _, _ = socket.recv_fds(asker, _MESSAGE_BYTES, _STREAMS)
        wish = Wish(**json.loads(message), streams=list(streams))
        number = os.fork()
        if number == 0:
            asker.close()
            self._close()
            return wish
        for stream in streams:
            os.close(stream)
        child = self._children[number] = Child(number, os.pidfd_open(number), asker)
        self._watched.register(child.end, selectors.EVENT_READ, child)
        if wish.together:
            self._watched.register(asker, selectors.EVENT_READ, child)
        asker.send(number.to_bytes(8, "big"))
        return None

    def _look(self, child: Child, *, ended: bool) -> None:
        """Tell of an end; or make one, where the asker has gone."""
        if child.number not in self._children:
            return
        if not ended:
            os.kill(child.number, signal.SIGKILL)
        del self._children[child.number]
        _, status = os.waitpid(child.number, 0)
        for watched in (child.end, child.asker):
            with suppress(KeyError):
                self._watched.unregister(watched)
        with suppress(OSError):  # nobody waits for it
            child.asker.send(status.to_bytes(8, "big"))
        child.asker.close()
        os.close(child.end)

    def _close(self) -> None:
        self._watched.close()
        self._asked.close()
        for child in self._children.values():
            child.asker.close()
            os.close(child.end)


def _become(wish: Wish) -> None:
    """Take on all that a program is given when it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, stream in enumerate(wish.streams):
        os.dup2(stream, number)
    for stream in wish.streams:
        os.close(stream)
    os.environ.clear()
    os.environ.update(wish.environment)
    time.tzset()
    if wish.folder is not None:
        os.chdir(wish.folder)
    sys.argv[1:] = wish.words
    sys.stdin = _stream(sys.stdin, 0)
    sys.stdout = _stream(sys.stdout, 1)
    sys.stderr = _stream(sys.stderr, 2)


def _stream(old: TextIO, number: int) -> TextIO:
    """As the interpreter makes it for what stands there now."""
    way = "rb" if number == 0 else "wb"
    inner = open(number, way, closefd=False)  # noqa: SIM115 - open as long as the program is
    lines = number == 2 or inner.isatty()
    return io.TextIOWrapper(inner, old.encoding, old.errors, line_buffering=lines)


def _compile_templates() -> None:
    stationery = importlib.import_module("postoffice.doors.page.stationery")
    environment = stationery._environment()
    for name in environment.list_templates():
        environment.get_template(name)


def _know_services() -> None:
    importlib.import_module("apprise").Apprise.instantiate("json://127.0.0.1:1")


def main() -> int:
    kind, descriptor = sys.argv[1:]
    for module in LOADED[kind]:
        importlib.import_module(module)
    if kind == "serve":
        _compile_templates()
    if kind == "word":
        _know_services()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the tests, at whose end nobody asks any more
    gc.collect()
    gc.freeze()  # what is never looked through is never copied
    wish = Nursery(socket.socket(fileno=int(descriptor))).next_wish()
    if wish is None:
        return 0
    _become(wish)
    if kind == "word":
        importlib.import_module("postoffice.bridges.notify.word").main()
        return 0
    return int(importlib.import_module("postoffice.cli.entrance").enter())


if __name__ == "__main__":
    sys.exit(main())

"""The program that the command is forked from: it has loaded it, and has begun nothing."""

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

from postoffice.cli.entrance import enter

LOADED = {
    "command": ("postoffice.cli.main", "postoffice.client.plain_http", "postoffice.client.proving", "postoffice.client.wire", "httpx2"),
    "serve": ("postoffice.serve.run", "postoffice.serve.app", "postoffice.store.sqlite.engine", "postoffice.store.postgres.engine"),
}
"""What is loaded beforehand. Whatever else a program needs it loads by itself, as ever."""
_MESSAGE_BYTES = 1 << 20
_DESCRIPTORS = 4  # input, output, errors, and where to tell how it ended


class Wish(NamedTuple):
    """What is to be started."""

    words: list[str]
    folder: str | None
    environment: dict[str, str]
    descriptors: list[int]


class Nursery:
    """Forks what it is asked for, and tells how each ended."""

    def __init__(self, asked: socket.socket) -> None:
        self._asked = asked
        self._watched = selectors.DefaultSelector()
        self._watched.register(asked, selectors.EVENT_READ)
        self._children: dict[int, tuple[int, int]] = {}

    def next_wish(self) -> Wish | None:
        """Returns in each child with what it is to do, and here when nobody asks any more."""
        while True:
            for key, _ in self._watched.select():
                if key.fd != self._asked.fileno():
                    self._bury(key.fd)
                elif (wish := self._read()) is None:
                    return None
                elif self._fork(wish):
                    return wish

    def _read(self) -> Wish | None:
        message, descriptors, _, _ = socket.recv_fds(self._asked, _MESSAGE_BYTES, _DESCRIPTORS)
        if not message:
            return None
        asked = json.loads(message)
        return Wish(asked["words"], asked["folder"], asked["environment"], descriptors)

    def _fork(self, wish: Wish) -> bool:
        """Whether this is the child."""
        child = os.fork()
        *theirs, told = wish.descriptors
        if child == 0:
            os.close(told)
            self._close()
            return True
        for descriptor in theirs:
            os.close(descriptor)
        end = os.pidfd_open(child)
        self._children[end] = (child, told)
        self._watched.register(end, selectors.EVENT_READ)
        os.write(told, child.to_bytes(8, "big"))
        return False

    def _bury(self, end: int) -> None:
        self._watched.unregister(end)
        child, told = self._children.pop(end)
        _, status = os.waitpid(child, 0)
        with suppress(BrokenPipeError):  # nobody waits for it
            os.write(told, status.to_bytes(8, "big"))
        os.close(told)
        os.close(end)

    def _close(self) -> None:
        self._watched.close()
        self._asked.close()
        for end, (_, told) in self._children.items():
            os.close(told)
            os.close(end)


def _become(wish: Wish) -> None:
    """Take on all that a program is given when it starts."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for number, descriptor in enumerate(wish.descriptors[:3]):
        os.dup2(descriptor, number)
    for descriptor in wish.descriptors[:3]:
        os.close(descriptor)
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


def main() -> int:
    kind, descriptor = sys.argv[1:]
    for module in LOADED[kind]:
        importlib.import_module(module)
    if kind == "serve":
        _compile_templates()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the tests, at whose end nobody asks any more
    gc.collect()
    gc.freeze()  # what is never looked through is never copied
    wish = Nursery(socket.socket(fileno=int(descriptor))).next_wish()
    if wish is None:
        return 0
    _become(wish)
    return enter()


if __name__ == "__main__":
    sys.exit(main())

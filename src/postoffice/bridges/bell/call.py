"""A call to the bell, by a hook, a waiter or a server beside a client. It starts the bell if none runs."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from postoffice import __version__
from postoffice.bridges.bell.place import Address, address, log_path
from postoffice.bridges.environment import chosen

_HOST = "127.0.0.1"
_LOOK_SECONDS = 0.05
_CONNECT_SECONDS = 1.0
_LOG_BYTES = 1_000_000
_KEPT = (
    *("POSTOFFICE_CREDENTIALS", "POSTOFFICE_DATA", "POSTOFFICE_AUTOSTART", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "PYTHONPATH"),
    *("SYSTEMROOT", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "PATHEXT"),
)
"""The variables of our environment that the bell needs to find the same files as we do."""


def ask(words: dict[str, Any], seconds: float) -> dict[str, Any]:
    """The bell's answer; None if it cannot be reached in time."""
    with suppress(OSError, ValueError), _calling(words, seconds) as call:
        call.settimeout(seconds)
        answer = json.loads(next(_heard(call), b"{}"))
        return answer if isinstance(answer, dict) else {}
    return {}


def hear(words: dict[str, Any], seconds: float) -> Iterator[dict[str, Any]]:
    """All the bell's answers in this call, until it hangs up."""
    with suppress(OSError, ValueError), _calling(words, seconds) as call:
        call.settimeout(None)
        for said in _heard(call):
            yield json.loads(said)


def start() -> None:
    """Start a bell that outlives our own parent. If two start at once, the second finds the first and ends."""
    log = log_path()
    with suppress(OSError):
        if log.stat().st_size > _LOG_BYTES:
            log.unlink()
    with log.open("ab") as said:
        apart: dict[str, Any] = {"start_new_session": True}
        if sys.platform == "win32":
            apart = {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
        bell = subprocess.Popen(
            [sys.executable, "-m", "postoffice", "bell"],
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            cwd=Path.home(),
            env=chosen(os.environ, _KEPT),
            **apart,
        )
    bell.returncode = 0  # we never wait for it to end


@contextmanager
def _calling(words: dict[str, Any], seconds: float) -> Iterator[socket.socket]:
    until = time.monotonic() + seconds
    started = False
    while True:
        bell = address()
        if bell is not None and _older(bell):
            _leave(bell)
            bell = None
        if bell is None and not started:
            start()
            started = True
        with suppress(OSError):
            if bell is not None:
                call = _connect(bell, words)
                break
        if time.monotonic() > until:
            raise OSError
        time.sleep(_LOOK_SECONDS)
    with call:
        yield call


def _connect(address: Address, words: dict[str, Any]) -> socket.socket:
    call = socket.create_connection((_HOST, address.port), timeout=_CONNECT_SECONDS)
    call.sendall(json.dumps({"token": address.token, **words}).encode() + b"\n")
    return call


def _older(address: Address) -> bool:
    """Whether the bell has another version than its caller: after an upgrade a new bell replaces it."""
    return _numbers(address.version) < _numbers(__version__)


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdecimal()]


def _leave(address: Address) -> None:
    with suppress(OSError), _connect(address, {"say": "leave"}):
        pass


def _heard(call: socket.socket) -> Iterator[bytes]:
    begun = b""
    while more := call.recv(1 << 16):
        *whole, begun = (begun + more).split(b"\n")
        yield from whole

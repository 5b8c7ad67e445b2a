"""A hook ends within its seconds, whatever the bell does: a turn waits for it."""

import json
import os
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from postoffice import __version__
from postoffice.client.process import process
from tests.bridges.bell.pretend import HOOK
from tests.serve.running import environment

CLIENT_SECONDS = 5.0
"""What setup writes as the longest that a client waits for a hook."""


def _silent(line: socket.socket) -> None:
    while line.recv(1 << 16):
        pass


def _dribbling(line: socket.socket) -> None:
    while True:
        line.sendall(b" ")
        time.sleep(0.1)


def _hanging_up(_: socket.socket) -> None:
    pass


@contextmanager
def _bell(home: Path, behave: Callable[[socket.socket], None] | None) -> Iterator[None]:
    """Somebody at the bell's address who is no help; without a manner, one who answers no call at all."""
    place = home / ".cache" / "postoffice" / "bell"
    place.mkdir(parents=True, mode=0o700)
    me = process(os.getpid())
    assert me is not None
    with socket.create_server(("127.0.0.1", 0), backlog=50 if behave else 0) as door:
        known = {"pid": me.pid, "started": me.started}
        address = {"port": door.getsockname()[1], "token": "t", "process": known, "version": __version__}
        (place / "address.json").write_text(json.dumps(address))

        def attend(line: socket.socket, behave: Callable[[socket.socket], None]) -> None:
            with line, suppress(OSError):
                behave(line)

        def serve(behave: Callable[[socket.socket], None]) -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=attend, args=(door.accept()[0], behave), daemon=True).start()

        if behave is not None:
            threading.Thread(target=serve, args=(behave,), daemon=True).start()
        kept = [socket.socket() for _ in range(3 if behave is None else 0)]
        for one in kept:
            one.settimeout(0)
            with suppress(BlockingIOError):
                one.connect(door.getsockname())
        yield
        for one in kept:
            one.close()


def _hook(home: Path, event: str, *, told: bool = True) -> tuple[float, str]:
    """How long a hook takes that is run as a client runs it, and what it prints."""
    kept = {name: value for name, value in environment().items() if not name.startswith("XDG_")}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    began = time.monotonic()
    with subprocess.Popen(HOOK, env=kept | {"HOME": str(home)}, text=True, **pipes) as running:  # type: ignore[call-overload]
        if told:
            running.stdin.write(json.dumps({"hook_event_name": event, "session_id": "s", "cwd": str(home)}))
            running.stdin.flush()  # and left open, as by a client that forgets
        printed, complaint = running.stdout.read(), running.stderr.read()
        assert (running.wait(), complaint) == (0, "")
    return time.monotonic() - began, printed


@pytest.mark.parametrize("behave", [_silent, _dribbling, _hanging_up, None])
@pytest.mark.parametrize("event", ["PostToolUse", "Stop", "SessionEnd"])
def test_a_hook_ends_before_its_client_would_end_it(behave: Callable[[socket.socket], None] | None, event: str, tmp_path: Path) -> None:
    with _bell(tmp_path, behave):
        took, printed = _hook(tmp_path, event)
    assert printed == ""
    assert took < CLIENT_SECONDS


def test_a_hook_that_is_told_nothing_ends_and_starts_nothing(tmp_path: Path) -> None:
    took, printed = _hook(tmp_path, "", told=False)
    assert (took < CLIENT_SECONDS, printed) == (True, "")
    assert not (tmp_path / ".cache" / "postoffice" / "bell" / "address.json").exists()


def test_no_hook_waits_in_a_run_for_one_prompt(tmp_path: Path) -> None:
    told = json.dumps({"hook_event_name": "Stop", "session_id": "s", "cwd": str(tmp_path)})
    names = environment() | {"HOME": str(tmp_path), "CLAUDE_PID": str(os.getpid()), "CLAUDE_CODE_ENTRYPOINT": "sdk-cli"}
    began = time.monotonic()
    done = subprocess.run([*HOOK, "--wait"], env=names, input=told, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert time.monotonic() - began < 20
    assert not (tmp_path / ".cache" / "postoffice" / "bell" / "address.json").exists()

"""What a person at a terminal sees."""

import os
import pty
import re
import signal
import subprocess
from collections.abc import Mapping
from threading import Timer

from tests.cli.home import Home
from tests.serve.running import COMMAND, PATIENCE


def seen(
    home: Home, *words: str, until: str | None = None, typed: bytes = b"", extra: Mapping[str, str] | None = None, code: int = 0
) -> str:
    """All that came to the screen; what stays is interrupted once `until` is there, or told what is typed then."""
    ours, theirs = pty.openpty()
    shape = {"TERM": "xterm-256color", "COLUMNS": "200"}
    environ = home.environment(shape | dict(extra or {}))
    # In a session of its own it has no other terminal than this one, whatever the tests are run from.
    process = subprocess.Popen(
        [*COMMAND, *words], cwd=home.folder, env=environ, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True
    )
    os.close(theirs)
    screen = b""
    guard = Timer(PATIENCE / 2, process.kill)
    guard.start()
    try:
        while True:
            try:
                more = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not more:
                break
            screen += more
            if until is not None and until.encode() in screen:
                until = None
                if typed:
                    os.write(ours, typed)
                else:
                    process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)
    finally:
        guard.cancel()
        process.kill()
        process.wait(PATIENCE)
        os.close(ours)
    assert process.returncode == code, screen
    return screen.decode().replace("\r\n", "\n")


def plain(screen: str) -> str:
    """Without the colours."""
    return re.sub(r"\x1b\[[0-9;]*m", "", screen)

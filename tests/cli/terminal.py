"""What a person at a terminal sees."""

import os
import pty
import re
import subprocess
import time
from collections.abc import Mapping
from threading import Timer

from tests.cli.home import Home
from tests.serve.running import COMMAND, PATIENCE

_INTERRUPT = b"\x03"
_QUICKEST = 0.2


def seen(
    home: Home, *words: str, until: str | None = None, typed: bytes = _INTERRUPT, extra: Mapping[str, str] | None = None, code: int = 0
) -> str:
    """All that came to the screen; what is `typed` comes once `until` is there, by itself Ctrl-C."""
    ours, theirs = pty.openpty()
    shape = {"TERM": "xterm-256color", "COLUMNS": "200"}
    environ = home.environment(shape | dict(extra or {}))
    # The first terminal that the leader of a session opens is that session's own, whatever the tests are run from.
    at_terminal = ["sh", "-c", 'exec "$@" <"$0" >"$0" 2>&1', os.ttyname(theirs)]
    process = subprocess.Popen([*at_terminal, *COMMAND, *words], cwd=home.folder, env=environ, stdin=theirs, start_new_session=True)
    os.close(theirs)
    screen = b""
    guard = Timer(PATIENCE, process.kill)
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
                # An interrupt between Python's last look for one and its wait for keys is seen after that wait; nobody is as quick.
                time.sleep(_QUICKEST)
                os.write(ours, typed)
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

"""A client in a terminal that nobody looks at, and keys pressed there."""

import contextlib
import fcntl
import os
import pty
import signal
import struct
import termios
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path


class Terminal:
    """One."""

    def __init__(self, words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self.shown = b""
        self.pid, self._line = pty.fork()
        if self.pid == 0:
            os.chdir(folder)
            os.execvpe(words[0], list(words), dict(environment))
        fcntl.ioctl(self._line, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 120, 0, 0))
        threading.Thread(target=self._look, daemon=True).start()

    def press(self, keys: bytes) -> None:
        os.write(self._line, keys)

    def close(self) -> None:
        """As somebody closes a window, and then makes sure."""
        for number in (signal.SIGHUP, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, number)
            end = time.monotonic() + 5
            while time.monotonic() < end:
                if os.waitpid(self.pid, os.WNOHANG)[0]:
                    return
                time.sleep(0.1)

    def _look(self) -> None:
        with contextlib.suppress(OSError):
            while more := os.read(self._line, 1 << 16):
                self.shown += more
                # Programs ask where the cursor is and what the terminal can do, and some wait for the answer.
                if b"\x1b[6n" in more:
                    self.press(b"\x1b[1;1R")
                if b"\x1b[c" in more:
                    self.press(b"\x1b[?62;c")


@contextmanager
def terminal(words: Sequence[str], folder: Path, environment: Mapping[str, str]) -> Iterator[Terminal]:
    """A client that is closed after the block."""
    folder.mkdir(parents=True, exist_ok=True)
    one = Terminal(words, folder, environment)
    try:
        yield one
    finally:
        one.close()


def until(true: Callable[[], object], seconds: float, what: Callable[[], object]) -> None:
    """Wait for it, or tell what there is."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, what()
        time.sleep(0.02)

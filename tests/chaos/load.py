"""Client processes that put an office under load, and how far they have come."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.serve.running import environment

ROOT = Path(__file__).parents[2]
_PATIENCE = 180.0
_PAUSE = 0.02
_ANSWERED, _REFUSED = b'"outcome":"answered"', b'"outcome":"refused"'


class Load:
    """Processes whose calls are in files of their own."""

    def __init__(self, folder: Path, urls: Sequence[str], processes: int, patience: float) -> None:
        self.files = [folder / f"client-{number}.history" for number in range(processes)]
        self._read = [0] * processes
        self._answered = self._refused = 0
        words = [sys.executable, "-m", "tests.chaos.client"]
        kept = environment() | {"PYTHONPATH": str(ROOT / "src")}
        self._processes = []
        for number, file in enumerate(self.files):
            file.touch()
            command = [*words, str(file), f"client-{number}", str(patience), *urls]
            self._processes.append(subprocess.Popen(command, cwd=ROOT, env=kept, stdin=subprocess.DEVNULL))

    def answered(self) -> int:
        """How many calls were answered so far."""
        self._catch_up()
        return self._answered

    def refused(self) -> int:
        """How many were refused."""
        self._catch_up()
        return self._refused

    def _catch_up(self) -> None:
        for number, file in enumerate(self.files):
            with file.open("rb") as lines:
                lines.seek(self._read[number])
                whole, mark, _ = lines.read().rpartition(b"\n")
            self._read[number] += len(whole) + len(mark)
            self._answered += whole.count(_ANSWERED)
            self._refused += whole.count(_REFUSED)

    async def more(self, count: int) -> None:
        """Wait until so many more calls were answered."""
        await self._grow(self.answered, count)

    async def more_refused(self, count: int) -> None:
        """Wait until so many more were refused."""
        await self._grow(self.refused, count)

    async def _grow(self, counted: Callable[[], int], count: int) -> None:
        enough = counted() + count
        until = time.monotonic() + _PATIENCE
        while counted() < enough:
            assert all(process.poll() is None for process in self._processes), "a client ended by itself"
            assert time.monotonic() < until, f"only {counted()} of {enough} calls in time"
            await asyncio.sleep(_PAUSE)

    async def stop(self) -> None:
        """Have every client finish what it is at."""
        for process in self._processes:
            process.send_signal(signal.SIGTERM)
        ended = [await asyncio.to_thread(process.wait, _PATIENCE) for process in self._processes]
        assert ended == [0] * len(self._processes), "a client did not end in order"

    def kill(self) -> None:
        for process in self._processes:
            process.kill()
            process.wait(_PATIENCE)

"""A real server process that a fault may befall: killed, told to stop, frozen, started again."""

import asyncio
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tests.runner.office import Office, until
from tests.serve.running import answers, environment
from tests.warm import start

_PATIENCE = 90.0
_ROOMY = {"POSTOFFICE_MAX_ATTEMPTS": "1000", "POSTOFFICE_DEPTH": "1000000"}
"""Nothing dies of being taken by those who are killed, and nothing is refused for being too much."""


class Replica(Office):
    """One server, on the same port through all its lives."""

    def __init__(self, here: Path, engine: str, **settings: str) -> None:
        here.mkdir(parents=True, exist_ok=True)
        super().__init__(here, **_ROOMY | settings)
        self.settings = self._settings
        self.engine = engine

    def start(self) -> None:
        """It answers when this returns, however busy the machine is."""
        with (self.here / "server.log").open("ab") as log:
            process = start.popen(self._command, cwd=self.here, env=environment(self.settings), stdout=log, stderr=log)
        self._process = process
        until(lambda: process.poll() is not None or answers(self.port), _PATIENCE, lambda: self.said)
        assert process.poll() is None, self.said

    def end(self) -> int:
        """Tell it to stop, and give how it ended."""
        self._signal(signal.SIGTERM)
        assert self._process is not None
        return self._process.wait(_PATIENCE)

    def freeze(self) -> None:
        self._signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self._signal(signal.SIGCONT)

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    @property
    def said(self) -> str:
        return (self.here / "server.log").read_text()


@asynccontextmanager
async def opened(*replicas: Replica) -> AsyncIterator[Sequence[Replica]]:
    """Servers that answer; whatever befell them, they are gone afterwards."""
    try:
        await asyncio.gather(*(asyncio.to_thread(replica.start) for replica in replicas))
        yield replicas
    finally:
        for replica in replicas:
            replica.close()

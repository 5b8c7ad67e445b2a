"""Servers under load: clients go on outside while things befall the servers, and in the end all is read and judged."""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from tests.chaos.checker import NO_EXCUSES, Excuses
from tests.chaos.client import BOXES
from tests.chaos.load import Load
from tests.chaos.office import Replica, opened
from tests.chaos.verdict import Verdict, judge, read_all


class Siege:
    """One run, from its first call to its verdict."""

    def __init__(self, folder: Path, replicas: Sequence[Replica], load: Load) -> None:
        self.replicas = replicas
        self.load = load
        self.more = load.more
        self.more_refused = load.more_refused
        self._last = folder / "last.history"

    @property
    def files(self) -> list[Path]:
        """The history so far; at the end with what the final reader did."""
        return [*self.load.files, self._last] if self._last.exists() else self.load.files

    async def verdict(
        self, *, readers: Sequence[Replica] = (), boxes: Sequence[str] = (), files: Sequence[Path] = (), excuses: Excuses = NO_EXCUSES
    ) -> Verdict:
        """Stop the clients, read what is left, and hold the whole history against what was promised."""
        await self.load.stop()
        remains = await read_all(self._last, [replica.url for replica in readers or self.replicas], [*BOXES, *boxes])
        return judge([*self.files, *files], remains, excuses)


@asynccontextmanager
async def besieged(
    folder: Path, *replicas: Replica, urls: Sequence[str] = (), processes: int = 1, patience: float = 10.0
) -> AsyncIterator[Siege]:
    """Clients that call at once, and the servers, which may come later: both are there when this begins and gone when it ends."""
    load = Load(folder, urls or [replica.url for replica in replicas], processes, patience)
    try:
        async with opened(*replicas):
            yield Siege(folder, replicas, load)
    finally:
        load.kill()

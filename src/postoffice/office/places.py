"""How many waits, sockets and pages one agent keeps open here at a time. Each takes a descriptor, and others need some too."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from postoffice.core.errors import TooManyWaits
from postoffice.core.names import folded


class Places:
    """Those of one process, by agent."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._taken: Counter[str] = Counter()

    @contextmanager
    def taken(self, name: str) -> Iterator[None]:
        """Take one place while `with` lasts; refused if the agent has as many as it may have."""
        agent = folded(name)
        if self._taken[agent] >= self.most:
            raise TooManyWaits(name=name, count=self.most)
        self._taken[agent] += 1
        try:
            yield
        finally:
            self._taken[agent] -= 1
            if not self._taken[agent]:
                del self._taken[agent]

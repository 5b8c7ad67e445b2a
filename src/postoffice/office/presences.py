"""Signs of life: which agents called here lately."""

from datetime import timedelta

from postoffice.acts.people.agents import Seen
from postoffice.core.clock import steady
from postoffice.core.names import folded
from postoffice.store.store import Store

_SEEN_AT_ONCE = 250
_STRANGERS = 1000
"""How many names are remembered by which somebody called and that nobody has."""


class Presences:
    """They are kept in memory and written down every few seconds."""

    def __init__(self, silence: timedelta) -> None:
        self._seen: dict[str, int | None] = {}
        self._strangers: set[str] = set()
        self.sign_after = max(1.0, silence.total_seconds() * 3 / 4)
        """Seconds after which whoever still waits shows that it is there: a wait may last longer than an agent may be silent."""

    def touch(self, name: str) -> None:
        """The agent did something just now."""
        self._seen[folded(name)] = steady()

    def look_in(self, name: str) -> None:
        """Somebody called by a name that nobody has, and only looked."""
        if len(self._strangers) >= _STRANGERS:
            self._strangers.clear()
        self._strangers.add(folded(name))

    def looked_in(self, name: str) -> bool:
        """Whether somebody called here by a name that nobody has yet, as clients do that open their tools and have nothing to say."""
        return folded(name) in self._strangers

    def leave(self, name: str) -> None:
        """The agent said that it is going."""
        self._seen[folded(name)] = None

    def silent_for(self, name: str) -> timedelta | None:
        """How long since a sign of life that is not written down yet."""
        seen = self._seen.get(folded(name))
        return None if seen is None else _age(seen)

    async def flush(self, store: Store) -> None:
        """Write down what was seen, a few at a time so that no mail waits long; what cannot be written stays for the next time."""
        names = list(self._seen)
        for begin in range(0, len(names), _SEEN_AT_ONCE):
            some = {name: self._seen[name] for name in names[begin : begin + _SEEN_AT_ONCE] if name in self._seen}
            await store.do(Seen({name: None if at is None else _age(at) for name, at in some.items()}))
            for name, at in some.items():
                if self._seen.get(name) == at:  # what came meanwhile is for the next time
                    self._seen.pop(name, None)


def _age(seen: int) -> timedelta:
    return timedelta(microseconds=(steady() - seen) // 1000)

"""When a window is rung for mail that waits: one ring at a time, again at growing distances, and then no more."""

from collections.abc import Collection, Iterable

import msgspec

LEAST_URGENT_RUNG = 3
"""Priorities 4 and 5 ring nobody."""
LEAST_URGENT_NOTICE_RUNG = 2
"""Of what the office itself writes, most rings nobody: only what somebody waits for does."""
AT_ONCE = 1
"""The priority that reaches an agent at work."""
AGAIN_SECONDS = (60.0, 300.0, 900.0)
"""After a ring in vain, from each to the next."""
MOST_RINGS = len(AGAIN_SECONDS) + 1
_LAST_CHANCE_SECONDS = 60.0


class ByHand(msgspec.Struct, frozen=True, kw_only=True):
    """What came of a ring that somebody asked for."""

    agent: str
    rung: bool
    text: str
    """Why not, or that it was."""


class Letter(msgspec.Struct, frozen=True):
    """What ringing has to know of a letter that waits, and no more."""

    id: str
    priority: int
    notice: bool = False
    """Whether the office itself wrote it."""
    role: str | None = None
    """In which role's mailbox it waits, if not in the agent's own."""

    @property
    def rings(self) -> bool:
        """Whether it is worth a ring."""
        return self.priority <= (LEAST_URGENT_NOTICE_RUNG if self.notice else LEAST_URGENT_RUNG)


class Rung(msgspec.Struct, frozen=True):
    """How often a letter was rung for, and when last."""

    times: int
    at: float


class Ringing(msgspec.Struct, frozen=True, kw_only=True):
    """What a window has been rung for, and told of."""

    rung: dict[str, Rung] = {}
    under_way: float | None = None
    """Since when a ring waits for its turn to begin."""
    told: frozenset[str] = frozenset()
    """Letters that a turn has been told of."""
    given_up: frozenset[str] = frozenset()
    """Letters rung for in vain, of which the sender knows."""
    elsewhere: dict[str, str] = {}
    """Letters of roles for which a window of another agent was rung last, and which window."""
    asked: bool = False
    """Somebody asked for a ring now, for whatever waits."""

    def heed(self, waiting: Iterable[Letter], known: Collection[str] | None = None) -> "Ringing":
        """Without what waits no more. If something rung for was taken, its ring is over. `known`: what had been rung for when the look began."""
        ids = {letter.id for letter in waiting}
        if known is not None:
            ids |= self.rung.keys() - set(known)
        taken = [id for id, rung in self.rung.items() if id not in ids and rung.at == self.under_way]
        return msgspec.structs.replace(
            self,
            rung={id: rung for id, rung in self.rung.items() if id in ids},
            under_way=None if taken else self.under_way,
            told=self.told & ids,
            given_up=self.given_up & ids,
            elsewhere={id: window for id, window in self.elsewhere.items() if id in ids},
            asked=self.asked and bool(ids),
        )

    def ask(self) -> "Ringing":
        """Somebody asks for a ring now. One that is under way is that ring."""
        return self if self.under_way is not None else msgspec.structs.replace(self, asked=True)

    def due(self, waiting: Iterable[Letter], now: float) -> tuple[str, ...]:
        """The letters to ring for now; none while a ring is under way."""
        if self.under_way is not None:
            return ()
        return tuple(letter.id for letter in waiting if self.asked or (letter.rings and self._due_at(letter.id) <= now))

    def next_at(self, waiting: Iterable[Letter]) -> float | None:
        """When something will be due again."""
        times = [self._due_at(letter.id) for letter in waiting if letter.rings]
        times += [rung.at + _LAST_CHANCE_SECONDS for id, rung in self.rung.items() if rung.times >= MOST_RINGS and id not in self.given_up]
        finite = [at for at in times if at != float("inf")]
        return min(finite, default=None)

    def ring(self, ids: Iterable[str], now: float) -> "Ringing":
        """A ring has gone out for these."""
        rung_now = {id: Rung(self.rung[id].times + 1 if id in self.rung else 1, now) for id in ids}
        # One ring is heard for all that waits: what was rung for before is not rung for again right after it.
        others = {id: Rung(rung.times, now) for id, rung in self.rung.items()}
        elsewhere = {id: window for id, window in self.elsewhere.items() if id not in rung_now}
        told = self.told | rung_now.keys()
        return msgspec.structs.replace(self, rung=others | rung_now, under_way=now, told=told, elsewhere=elsewhere, asked=False)

    def ring_elsewhere(self, ids: Iterable[str], window: str, now: float) -> "Ringing":
        """Another agent's window is rung for these letters of a role; what else is known of this one stays."""
        rung_now = {id: Rung(self.rung[id].times + 1 if id in self.rung else 1, now) for id in ids}
        elsewhere = self.elsewhere | dict.fromkeys(rung_now, window)
        return msgspec.structs.replace(self, rung=self.rung | rung_now, told=self.told | rung_now.keys(), elsewhere=elsewhere)

    def left_by(self, window: str) -> "Ringing":
        """Another agent's window has ended: what it was rung for is as new, if it waits."""
        return self.forget([id for id, rung in self.elsewhere.items() if rung == window])

    def forget(self, ids: Iterable[str]) -> "Ringing":
        """Nobody was rung for these after all."""
        gone = set(ids)
        rung = {id: rung for id, rung in self.rung.items() if id not in gone}
        elsewhere = {id: window for id, window in self.elsewhere.items() if id not in gone}
        return msgspec.structs.replace(self, rung=rung, told=self.told - gone, elsewhere=elsewhere)

    def unheard(self) -> "Ringing":
        """Whoever heard of it could not take it: all that waits is as new."""
        return Ringing()

    def begun(self) -> "Ringing":
        """The turn has begun."""
        return msgspec.structs.replace(self, under_way=None)

    def tell(self, ids: Iterable[str], now: float) -> "Ringing":
        """A turn was told of these, which counts as much as a ring."""
        new = {id: Rung(1, now) for id in ids if id not in self.rung}
        return msgspec.structs.replace(self, rung=self.rung | new, told=self.told | new.keys())

    def in_vain(self, now: float) -> tuple[str, ...]:
        """Letters that were rung for as often as we do, and are not taken."""
        return tuple(
            id
            for id, rung in self.rung.items()
            if rung.times >= MOST_RINGS and id not in self.given_up and rung.at + _LAST_CHANCE_SECONDS <= now
        )

    def give_up(self, ids: Iterable[str]) -> "Ringing":
        """Their senders know."""
        return msgspec.structs.replace(self, given_up=self.given_up | set(ids))

    def _due_at(self, id: str) -> float:
        rung = self.rung.get(id)
        if rung is None:
            return 0.0
        return rung.at + AGAIN_SECONDS[rung.times - 1] if rung.times < MOST_RINGS else float("inf")

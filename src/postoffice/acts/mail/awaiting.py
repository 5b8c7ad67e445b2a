"""Who waits for whose answer: agents that wait for each other would wait until all of them give up."""

from collections.abc import Iterable
from datetime import timedelta

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.rows import Row
from postoffice.core.clock import micros
from postoffice.core.names import folded

_WAITS = "awaits"
_TOLD_LASTS = timedelta(seconds=10)
"""How long a wait that closed a ring is remembered, for the others of the ring to see."""


class BeginWait(Act[tuple[str, ...]]):
    """An agent waits for another's answer, for a while at most. Gives the names of those who wait for each other, if that closes a ring."""

    def __init__(self, id: str, agent: str, other: str, lasts: timedelta) -> None:
        self.id = id
        self.agent = folded(agent)
        self.other = folded(other)
        self.lasts = lasts

    def ask(self, needs: Needs) -> None:
        # With both mailboxes locked, of two that begin to wait for each other the second sees the first.
        needs.boxes.update((self.agent, self.other))
        needs.extra[_WAITS] = ()

    def run(self, desk: Desk) -> tuple[str, ...]:
        rows = desk.extra[_WAITS]
        rows.append((self.id, self.agent, self.other, desk.boxes[self.agent].name))
        ring = ring_of(rows, self.agent)
        lasts = _TOLD_LASTS if ring else self.lasts
        desk.write("put_await", (self.id, self.agent, self.other, desk.now + micros(lasts)), self.id)
        desk.hints.update(folded(name) for _, name in ring)
        return tuple(name for _, name in ring)

    def undo(self, outcome: object) -> "EndWaits":  # noqa: ARG002 - whoever waits is gone
        """Nobody waits."""
        return EndWaits((self.id,))


class EndWaits(Act[None]):
    """These are over."""

    def __init__(self, ids: tuple[str, ...]) -> None:
        self.ids = ids

    def ask(self, needs: Needs) -> None:
        needs.extra[_WAITS] = ()

    def run(self, desk: Desk) -> None:
        desk.extra[_WAITS] = [row for row in desk.extra[_WAITS] if row[0] not in self.ids]
        for id in self.ids:
            desk.write("drop_await", (id,), id)


def ring_of(rows: Iterable[Row], agent: str) -> tuple[tuple[str, str], ...]:
    """The waits, by id and name, of a ring of agents that wait for each other, beginning with this one; nothing if there is none."""
    waits: dict[str, list[Row]] = {}
    for row in rows:
        waits.setdefault(row[1], []).append(row)
    roads: list[tuple[Row, ...]] = [(row,) for row in waits.get(agent, ())]
    seen = {agent}
    while roads:
        road = roads.pop(0)
        at = road[-1][2]
        if at == agent:
            return tuple((row[0], row[3]) for row in road)
        if at not in seen:
            seen.add(at)
            roads += [(*road, row) for row in waits.get(at, ())]
    return ()

"""Who waits for whose answer. Agents that wait for each other in a ring would wait until all of them give up."""

from collections.abc import Iterable
from datetime import timedelta

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.rows import Row
from postoffice.core.clock import micros
from postoffice.core.names import folded

_WAITS = "awaits"
_RING = "ring: "
"""Begins what is kept of a wait that has become one of a ring, in place of whom it is for; the names follow."""
_TOLD_LASTS = timedelta(seconds=10)
"""How long that is kept, for whoever waits so to find it."""


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
        mine = (self.id, self.agent, self.other, desk.boxes[self.agent].name)
        ring = _ring(rows, mine)
        if not ring:
            rows.append(mine)
            desk.write("put_await", (self.id, self.agent, self.other, desk.now + micros(self.lasts)), self.id)
            return ()
        # Whoever closes a ring is told by this act, and waits for nobody; the others find it in what is kept of their waits.
        names = tuple(row[3] for row in ring)
        ring_event = _RING + " ".join(names)
        for id, agent, _, name in ring[1:]:
            rows[next(place for place, row in enumerate(rows) if row[0] == id)] = (id, agent, ring_event, name)
            desk.write("put_await", (id, agent, ring_event, desk.now + micros(_TOLD_LASTS)), id)
            desk.hints.add(agent)
        return names

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


def told_ring(rows: Iterable[Row], id: str) -> tuple[str, ...]:
    """The names of those who wait for each other, beginning with whose wait this is, if it has become one of a ring."""
    for row_id, _, other, name in rows:
        if row_id == id and other.startswith(_RING):
            names = other.removeprefix(_RING).split(" ")
            place = names.index(name)
            return (*names[place:], *names[:place])
    return ()


def _ring(rows: Iterable[Row], mine: Row) -> tuple[Row, ...]:
    """The waits of a ring of agents that wait for each other, which this one closes; nothing if there is none."""
    waits: dict[str, list[Row]] = {}
    for row in rows:
        waits.setdefault(row[1], []).append(row)
    roads: list[tuple[Row, ...]] = [(mine,)]
    seen = set[str]()
    while roads:
        road = roads.pop(0)
        at = road[-1][2]
        if at == mine[1]:
            return road
        if at not in seen:
            seen.add(at)
            roads += [(*road, row) for row in waits.get(at, ())]
    return ()

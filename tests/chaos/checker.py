"""Reads a history and the office's final state, and names every broken promise. What is unknown may have happened or not."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from tests.chaos.history import FOREVER, Call, Item, Op
from tests.chaos.lease import SECOND, Lease
from tests.chaos.violation import Kind, Violation

SYSTEM: Final = "system"
NOT_STORED: Final = frozenset({"closed", "database_lost", "disk_full", "mailbox_full", "read_only", "unavailable"})
"""Refusals that say that nothing was done."""
PROMISED: Final = {
    Op.SEND: NOT_STORED | {"budget_spent"},
    Op.TAKE: NOT_STORED,
    Op.ACK: NOT_STORED | {"lease_lost"},
    Op.NACK: NOT_STORED | {"lease_lost"},
    Op.EXTEND: NOT_STORED | {"lease_lost"},
}
_Address = tuple[str, str, str]


class Remains(NamedTuple):
    """What the office holds when the final reader found nothing more to take."""

    waiting: int = 0
    dead: frozenset[str] = frozenset()


class Excuses(NamedTuple):
    """What the order of first deliveries cannot be blamed for."""

    lateness: float = 1.0
    """For how many seconds a take may go on that its taker has given up."""
    troubled: Sequence[tuple[int, int]] = ()
    """Times in which a server may have begun a take in vain and done it again, behind its taker's back."""


NO_EXCUSES: Final = Excuses()


class Delivery(NamedTuple):
    """A message in the answer of a take."""

    take: Call
    item: Item


class Checker:
    """One history, looked at from every side."""

    def __init__(self, calls: Sequence[Call], remains: Remains, excuses: Excuses = NO_EXCUSES) -> None:
        self.calls = calls
        self.remains = remains
        self._excuses = excuses
        self.sends: dict[_Address, list[Call]] = defaultdict(list)
        self.deliveries: dict[tuple[str, str], list[Delivery]] = defaultdict(list)
        self._settlements: dict[str, list[Call]] = defaultdict(list)
        self._lost_takes: dict[str, list[Call]] = defaultdict(list)
        for call in calls:
            if call.op is Op.SEND:
                self.sends[call.agent, call.to, call.client_id].append(call)
            elif call.op is not Op.TAKE:
                self._settlements[call.token].append(call)
            elif not call.answered:
                self._lost_takes[call.agent].append(call)
            for item in call.items:
                self.deliveries[call.agent, item.message].append(Delivery(call, item))

    def violations(self) -> list[Violation]:
        return [
            *self._lost(),
            *self._doubled(),
            *self._strangers(),
            *self._leases(),
            *self._order(),
            *self._numbers(),
            *self._unpromised(),
        ]

    def accepted(self) -> dict[_Address, Call]:
        """The first answer to each message that was accepted."""
        found: dict[_Address, Call] = {}
        for address, sends in self.sends.items():
            answers = [call for call in sends if call.answered]
            if answers:
                found[address] = min(answers, key=lambda call: call.ended)
        return found

    def _lost(self) -> Iterator[Violation]:
        for (_, to, _), call in self.accepted().items():
            if (to, call.message) not in self.deliveries and call.message not in self.remains.dead:
                yield _violation(Kind.LOST, f"{call.client_id} to {to}", call)
        if self.remains.waiting:
            yield Violation(Kind.LEFT, f"{self.remains.waiting} messages", ())

    def _doubled(self) -> Iterator[Violation]:
        known: dict[_Address, dict[str, Call]] = defaultdict(dict)
        for address, sends in self.sends.items():
            for call in sends:
                if call.answered:
                    known[address].setdefault(call.message, call)
        for (mailbox, message), found in self.deliveries.items():
            for take, item in found:
                known[item.sender, mailbox, item.client_id].setdefault(message, take)
        for (sender, mailbox, client_id), messages in known.items():
            if len(messages) > 1 and sender != SYSTEM:
                yield _violation(Kind.DOUBLED, f"{client_id} to {mailbox} is {' and '.join(messages)}", *messages.values())

    def _strangers(self) -> Iterator[Violation]:
        for (mailbox, message), found in self.deliveries.items():
            for take, item in found:
                if item.sender == SYSTEM:
                    continue
                sends = self.sends.get((item.sender, mailbox, item.client_id), [])
                if not [
                    call for call in sends if (call.content, call.priority) == (item.content, item.priority) and call.begun < take.ended
                ]:
                    yield _violation(Kind.STRANGER, f"{message} in {mailbox}", take)
                elif all(call.refused for call in sends):
                    yield _violation(Kind.REFUSED, f"{message} in {mailbox}", take, *sends)

    def _leases(self) -> Iterator[Violation]:
        for (mailbox, message), found in self.deliveries.items():
            leases = [Lease(take, item, self._settlements.get(item.token, ())) for take, item in found]
            where = f"{message} in {mailbox}"
            for lease in leases:
                yield from self._lease(where, lease, leases)
            for one, other in combinations(leases, 2):
                if one.clashes(other):
                    yield _violation(Kind.SHARED, where, one.take, other.take)

    def _lease(self, where: str, lease: Lease, leases: Iterable[Lease]) -> Iterator[Violation]:
        if not lease.asked_length:
            yield _violation(Kind.LENGTH, where, lease.take)
        for call in lease.robbed:
            yield _violation(Kind.ROBBED, where, lease.take, call)
        for number, call in enumerate(lease.settled):
            if not call.answered:
                continue
            repeated = any(before.op is call.op for before in lease.settled[:number])
            for other in leases:
                # Whatever is settled after somebody else was given it is settled too late, and what was acked before is not given out.
                if not repeated and lease.take.ended < other.take.begun and other.take.ended < call.begun:
                    yield _violation(Kind.LATE, where, lease.take, other.take, call)
                if call.op is Op.ACK and call.ended < other.take.begun:
                    yield _violation(Kind.RISEN, where, call, other.take)

    def _order(self) -> Iterator[Violation]:
        """No message is first given out after a later one of its priority had been."""
        first: dict[tuple[str, int], list[Delivery]] = defaultdict(list)
        for (mailbox, _), found in self.deliveries.items():
            delivery = min(found, key=lambda one: one.take.ended)
            if delivery.item.attempt == 1:
                first[mailbox, delivery.item.priority].append(delivery)
        for (mailbox, priority), found in first.items():
            found.sort(key=lambda one: -one.item.number)
            later = found[0]
            for one in found[1:]:
                if later.take.ended < one.take.begun and not self._held_back(mailbox, later.take):
                    yield _violation(Kind.DISORDER, f"{one.item.message} in {mailbox} at {priority}", later.take, one.take)
                later = min(later, one, key=lambda delivery: delivery.take.ended)
        for call in self.calls:
            places = [(item.priority, item.number) for item in call.items]
            if places != sorted(places):
                yield _violation(Kind.DISORDER, f"one answer in {call.agent}", call)

    def _held_back(self, mailbox: str, later: Call) -> bool:
        """Whether a take that came to nothing may have had a message while a later one was given out, and let it go again."""
        lateness = int(self._excuses.lateness * SECOND)
        over = ((lost.begun, _plus(min(lost.gave_up, lost.ended), lateness)) for lost in self._lost_takes.get(mailbox, ()))
        return any(begun < later.ended and later.begun < ended for begun, ended in (*over, *self._excuses.troubled))

    def _numbers(self) -> Iterator[Violation]:
        """What was accepted before another was begun has the smaller number."""
        numbers = {(mailbox, message): found[0].item.number for (mailbox, message), found in self.deliveries.items()}
        boxes: dict[str, list[tuple[int, Call]]] = defaultdict(list)
        for (_, to, _), call in self.accepted().items():
            if (to, call.message) in numbers:
                boxes[to].append((numbers[to, call.message], call))
        for mailbox, numbered in boxes.items():
            numbered.sort(key=lambda pair: -pair[0])
            _, earliest = numbered[0]
            for _, call in numbered[1:]:
                begun = min(send.begun for send in self.sends[call.agent, call.to, call.client_id])
                if earliest.ended < begun:
                    yield _violation(Kind.MISNUMBERED, f"{call.client_id} to {mailbox}", earliest, call)
                earliest = min(earliest, call, key=lambda one: one.ended)

    def _unpromised(self) -> Iterator[Violation]:
        for call in self.calls:
            if call.refused and call.code not in PROMISED[call.op]:
                yield _violation(Kind.UNPROMISED, f"{call.op.value} of {call.agent}: {call.code}", call)


def _violation(kind: Kind, what: str, *calls: Call) -> Violation:
    return Violation(kind, what, tuple(call.id for call in calls))


def _plus(moment: int, more: int) -> int:
    return moment if moment == FOREVER else moment + more

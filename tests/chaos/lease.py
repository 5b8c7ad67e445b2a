"""A lease as its holder knows it: when it surely was held, and what was done with it."""

from collections.abc import Iterable
from typing import Final

from tests.chaos.history import FOREVER, Call, Item, Op

SECOND: Final = 1_000_000_000
LOST: Final = "lease_lost"
MARGIN: Final = SECOND // 4
"""How far the office's clock and the clients' may be apart on one machine."""


class Lease:
    """What one take was given of one message, and what its holder did with it. Moments are of the clients' monotonic clock."""

    def __init__(self, take: Call, item: Item, settlements: Iterable[Call]) -> None:
        self.take = take
        self.item = item
        self.told_until = item.until - take.ended_wall + take.ended
        self.surely_until = self.told_until - MARGIN
        self.settled: list[Call] = []
        """What its holder settled, or may have: the first counts, the same again repeats its answer."""
        self.robbed: list[Call] = []
        calls = sorted(settlements, key=lambda call: call.begun)
        self._settling = min((call.begun for call in calls if call.op is not Op.EXTEND and not call.refused), default=FOREVER)
        for call in calls:
            self._follow(call)

    def _follow(self, call: Call) -> None:
        if call.refused:
            if call.code == LOST and call.ended < min(self.surely_until, self._settling):
                self.robbed.append(call)
            return
        if call.op is not Op.EXTEND:
            self.settled.append(call)
            self.surely_until = min(self.surely_until, call.begun)
            return
        lasts = int(call.visible_for * SECOND)
        # It may have been extended before it was settled, though it was asked for later.
        self.surely_until = min(call.begun + lasts, self._settling if call.answered else self.surely_until)

    @property
    def asked_length(self) -> bool:
        """Whether the end it was told is as far away as it asked, however long the answer took."""
        lasts = int(self.take.visible_for * SECOND)
        return self.take.begun + lasts - MARGIN <= self.told_until <= self.take.ended + lasts + MARGIN

    def clashes(self, other: "Lease") -> bool:
        """Whether both were surely held at one moment, or one began while the other surely was held."""
        first, second = sorted((self, other), key=lambda lease: (lease.take.begun, lease.take.ended))
        if max(first.take.ended, second.take.ended) < min(first.surely_until, second.surely_until):
            return True
        return first.take.ended <= second.take.begun and second.take.ended < first.surely_until

"""A desk with what is remembered of the mail and mailboxes that a group needs, before any of it is locked."""

from collections.abc import Sequence
from typing import Any

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.store.drawer import Drawer
from postoffice.store.engine import Loads, Steps
from postoffice.store.loading import asked, load_locked, load_rest

_NEARLY_NEVER = frozenset({"dedupe", "due", "come_due", "expired"})
"""What there is nearly never: a group may begin as if there were none, and change nothing if there is."""


class Remembered:
    """What a group goes by until the server has said whether it is true."""

    def __init__(self, desk: Desk, needs: Needs, presumed: Loads) -> None:
        self.desk = desk
        self.needs = needs
        self.presumed = presumed
        """What was taken to be absent."""

    @classmethod
    def of(cls, desk: Desk, drawer: Drawer, acts: Sequence[Act[Any]]) -> "Remembered | None":
        """What these acts need of mail and mailboxes, if all of that is remembered."""
        needs = asked(acts)
        if needs.agents or (presumed := _presumed(load_locked(desk, drawer, needs))) is None:
            return None
        if not needs.threads <= desk.threads.keys():  # whose it is, and what would have to be locked for it, is not known
            return None
        return cls(desk, needs, presumed)

    def suffices(self, acts: Sequence[Act[Any]]) -> bool:
        """Whether that is all the acts need."""
        rest = _presumed(load_rest(self.desk, self.needs, acts))
        self.presumed |= rest or {}
        return rest is not None


def _presumed(steps: Steps) -> Loads | None:
    """What these steps ask for, if that is only what there is nearly never."""
    presumed: Loads = {}
    try:
        loads = next(steps)
        while loads.keys() <= _NEARLY_NEVER:
            presumed |= loads
            loads = steps.send({name: [] for name in loads})
    except StopIteration:
        return presumed
    return None

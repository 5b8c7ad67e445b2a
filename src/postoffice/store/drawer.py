"""Rows that stay at hand from one group of acts to the next."""

from collections.abc import Callable, Iterable

from postoffice.acts.desk import Desk
from postoffice.acts.room import Room
from postoffice.acts.rows import Box, Boxes, DeliveryRow, MailKey, ThreadKey, ThreadRow, Version
from postoffice.core.clock import Clock
from postoffice.core.delivery import State
from postoffice.core.limits import Limits
from postoffice.core.names import SYSTEM
from postoffice.core.seal import Seal

_ROWS_HELD = 20_000  # rows a drawer holds at most
_WAITING_ROWS_HELD = 64  # of them, what waits in one mailbox
_SMALL_BODY_BYTES = 2_048


class Drawer:
    """Rows that stay in memory from one group to the next while nobody else can change them."""

    def __init__(self) -> None:
        self.boxes = Boxes()
        self.threads: dict[str, ThreadRow] = {}
        self.thread_keys: dict[ThreadKey, ThreadRow] = {}
        self.leased: dict[MailKey, DeliveryRow] = {}  # without their bodies, which settling does not need
        self.pending: dict[str, dict[str, DeliveryRow]] = {}  # by mailbox and message id
        self.rows = 0

    def desk(self, clock: Clock, limits: Limits, new_delivery_id: Callable[[], object], room: Room, seal: Seal) -> Desk:
        """A desk over the mailboxes and sessions kept here. What it loads is kept too."""
        return Desk(clock, limits, new_delivery_id, self.boxes, self.threads, self.thread_keys, room, seal)

    def all_pending(self, mailbox: str) -> dict[str, DeliveryRow] | None:
        """What waits in a mailbox, if all of it is here: that is, if as many rows are here as the mailbox counts."""
        box, rows = self.boxes.get(mailbox), self.pending.get(mailbox, {})
        return rows if box is not None and box.pending == len(rows) else None

    def put_away(self, posted: list[DeliveryRow], changed: dict[MailKey, DeliveryRow]) -> None:
        """A group is committed: keep at hand what was just posted and will be taken, and what was taken and will be settled."""
        for row in posted:
            waiting = self.pending.setdefault(row.mailbox, {})
            # What expires is asked for with the time at hand.
            lasts = row.state == State.PENDING and row.expires_at is None
            if lasts and len(row.body) <= _SMALL_BODY_BYTES and len(waiting) < _WAITING_ROWS_HELD:
                waiting[row.message_id] = row
        for key, row in changed.items():
            self.pending.get(row.mailbox, {}).pop(row.message_id, None)
            if row.state == State.LEASED:
                row.body, row.message = "", None
                self.leased[key] = row
            else:
                self.leased.pop(key, None)
        self.rows += len(posted)

    @property
    def full(self) -> bool:
        """Whether it is time for an empty one."""
        return self.rows + len(self.leased) + len(self.boxes) + len(self.threads) > _ROWS_HELD


class SharedDrawer(Drawer):
    """The same on a database where others change mail too: what lies here is true while the rows of all it belongs to are still the same.

    Whatever changes a delivery or a session writes a mailbox's row anew, the recipient's, in the same transaction. So mail and sessions
    are as they were left while nobody else has written the rows of the mailboxes they belong to, which a group locks before it uses them.
    Nobody writes to the office itself: a session with it is as it was left while the other's mailbox is.
    """

    def __init__(self) -> None:
        super().__init__()
        self.versions: dict[str, Version] = {}

    def differs(self, versions: dict[str, Version]) -> bool:
        """Whether another process has changed what is remembered of these agents."""
        return any(self.versions.get(agent, version) != version for agent, version in versions.items())

    def take_in(self, boxes: dict[str, Box], threads: Iterable[ThreadRow], versions: dict[str, Version]) -> None:
        """Keep what a group had to load."""
        self.boxes.update(boxes)
        self.versions.update(versions)
        for thread in threads:
            if {thread.low, thread.high} <= {*boxes, SYSTEM}:  # but not another agent's session, which a sender may name
                self.threads[thread.id] = self.thread_keys[thread.low, thread.high, thread.subject_key] = thread

    def note_written(self, mailboxes: Iterable[str], agents: Iterable[str], version: int) -> None:
        """These rows are from now on those of that transaction."""
        for agent in mailboxes:
            self.versions[agent] = (version, self.versions.get(agent, (0, 0))[1])
        for agent in agents:
            self.versions[agent] = (self.versions.get(agent, (0, 0))[0], version)

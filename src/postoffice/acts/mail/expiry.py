"""What time does: leases run out, delays end, letters come due or expire, requests expire."""

from datetime import timedelta

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.lists.places import is_on
from postoffice.acts.mail.moves import bury, end_expired, let_through, move
from postoffice.acts.needs import Needs
from postoffice.acts.people.connections import expire
from postoffice.acts.rows import DeliveryRow
from postoffice.core.agent import is_person
from postoffice.core.connection import Status
from postoffice.core.delivery import UNREAD, State, after_failure
from postoffice.core.event import Kind
from postoffice.core.policy import admitted
from postoffice.core.session import pair

_NO_DELAY = timedelta(0)
_EXPIRED = "the lease ran out too often"


def return_due(desk: Desk) -> int:
    """Give back what is due: a lease that ran out counts as a failed try, a delay that ended does not. What expires ends, what waited for its time comes."""
    due, desk.due = desk.due, []
    returned = 0
    # What comes due together gets its places in the order of the times it waited for.
    for row in sorted(due, key=lambda row: (row.deliver_at or 0, row.number)):
        if row.state in UNREAD and row.is_expired(desk.now):
            end_expired(desk, row)
        elif row.comes_due(desk.now):
            _deliver(desk, row)
        elif row.due_at is not None and row.due_at <= desk.now:
            take_back(desk, row)
        else:
            continue
        returned += 1
    return returned


def _deliver(desk: Desk, row: DeliveryRow) -> None:
    """Its time has come. If its sender may no longer write to the recipient, it does not arrive; nor with whom who has left the list it was to."""
    sender, box = desk.boxes[row.sender], desk.boxes[row.mailbox]
    to_list = desk.lists.by_id.get(row.session_id or "")
    if to_list is not None:
        if not is_on(desk, to_list, row.mailbox):
            bury(desk, row, f"{box.name} is not on {to_list.name} any more")
            return
    elif not admitted(row.sender, row.mailbox, box.card.allow_from, connected=pair(row.sender, row.mailbox) in desk.connected):
        bury(desk, row, f"{sender.name} may not write to {box.name} any more")
        return
    let_through(desk, row)
    desk.pools.setdefault(row.mailbox, {})[row.message_id] = row


def take_back(desk: Desk, row: DeliveryRow) -> None:
    """Let a delivery wait again. If somebody had it in hand, that was a failed try, and the last failed try ends it."""
    if row.is_expired(desk.now):
        end_expired(desk, row)
    elif row.state == State.LEASED and after_failure(row.attempts, desk.limits.max_attempts, _NO_DELAY) is State.DEAD:
        row.token = row.holder = None  # the office has settled it: a repeated token must not succeed
        bury(desk, row, row.reason or _EXPIRED, said=row.reason is not None)
    else:
        box, snoozed = desk.boxes[row.mailbox], row.state == State.HELD
        move(desk, row, State.PENDING)
        if snoozed and is_person(box.agent, box.card):
            desk.tell(box, Kind.REMINDER, row.message_id)
        desk.pools.setdefault(row.mailbox, {})[row.message_id] = row
        desk.hints.add(row.mailbox)


class ReturnDue(Act[int]):
    """Give back what is due, wherever it is."""

    def __init__(self, limit: int = 500) -> None:
        self.limit = limit

    def ask(self, needs: Needs) -> None:
        needs.due = max(needs.due, self.limit)

    def run(self, desk: Desk) -> int:
        return return_due(desk)


class ExpireRequests(Act[int]):
    """Let connection requests expire that nobody answered."""

    def __init__(self, ids: tuple[str, ...]) -> None:
        self.ids = ids

    def ask(self, needs: Needs) -> None:
        needs.connections.update(self.ids)

    def run(self, desk: Desk) -> int:
        expired = 0
        for id in self.ids:
            row = desk.connections.get(id)
            if row is not None and row.status == Status.PENDING and row.expires_at <= desk.now:
                expire(desk, row)
                expired += 1
        return expired

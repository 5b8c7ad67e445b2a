"""Windows are rung for mail, begin their turns, or do not take it: three things of which the sender is told."""

from msgspec.structs import astuple

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import notify
from postoffice.acts.needs import Needs
from postoffice.acts.people.agents import box_of
from postoffice.acts.people.windows import OfWindow, renewed
from postoffice.acts.rows import DeliveryRow, RingRow
from postoffice.acts.rules.notices import rung_in_vain
from postoffice.acts.rules.rates import ask_rate, count_sent
from postoffice.core.agent import Caller
from postoffice.core.clock import is_id
from postoffice.core.delivery import State
from postoffice.core.event import Kind
from postoffice.core.names import OWNER, SYSTEM, folded
from postoffice.core.session import pair
from postoffice.core.window import WINDOWS, Renewed, WindowState


class OfLetters(OfWindow):
    """What a window's machine says of some of the letters that wait for it."""

    def __init__(self, id: str, mailboxes: tuple[str, ...], messages: tuple[str, ...], by: Caller | None) -> None:
        super().__init__(id, by)
        self.agent = folded(mailboxes[0]) if mailboxes else None
        """Whose window it was a moment ago. The other mailboxes are roles that it is in."""
        self.keys = [(message, folded(mailbox)) for message in dict.fromkeys(messages) if is_id(message) for mailbox in mailboxes]

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.mail.update({key: needs.mail.get(key, False) for key in self.keys})
        needs.rings.update(self.keys)

    def waiting(self, desk: Desk) -> list[DeliveryRow]:
        """Of the letters those that still wait there; what was read meanwhile needs no ring."""
        if self.find(desk).agent != self.agent:
            return []
        return [row for key in self.keys if (row := desk.mail.get(key)) is not None and row.state == State.PENDING]


class Rung(OfLetters, Act[int]):
    """A window was rung for letters."""

    def run(self, desk: Desk) -> int:
        waiting = self.waiting(desk)
        for row in waiting:
            ring = desk.rings.get((row.message_id, row.mailbox)) or RingRow(row.message_id, row.mailbox, 0, desk.now, desk.now, None, None)
            ring.times += 1
            ring.last_at = desk.now
            ring.turn_at = None
            _keep(desk, ring)
        return len(waiting)


class RungInVain(OfLetters, Act[int]):
    """It was rung for as often as is right, and they were not taken: each sender is told once, and the owner hears of it."""

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.boxes.add(OWNER)

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        needs.thread_keys.update((*pair(SYSTEM, desk.mail[key].sender), "") for key in self.keys if key in desk.mail)

    def run(self, desk: Desk) -> int:
        notices = 0
        for row in self.waiting(desk):
            ring = desk.rings.get((row.message_id, row.mailbox))
            if ring is None or ring.told_at is not None or row.sender == SYSTEM:  # notices never cause notices
                continue
            ring.told_at = desk.now
            _keep(desk, ring)
            notify(desk, desk.boxes[row.sender], rung_in_vain(row, desk.boxes[row.mailbox].name, ring.times), row.correlation_id)
            if (owner := desk.boxes.get(OWNER)) is not None:
                desk.tell(owner, Kind.STUCK, row.message_id, {"what": "silent", "agent": desk.boxes[row.mailbox].name})
            notices += 1
        return notices


class AskRing(Act[None]):
    """Somebody asks that an agent is rung now; its bell hears of it."""

    def __init__(self, agent: str, by: str) -> None:
        self.agent = folded(agent)
        self.by = by

    def ask(self, needs: Needs) -> None:
        needs.boxes.update((self.agent, folded(self.by)))

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        ask_rate(needs, desk, folded(self.by))

    def run(self, desk: Desk) -> None:
        box = box_of(desk, self.agent)
        desk.room.take()
        count_sent(desk, folded(self.by))
        desk.tell(box, Kind.RING, box.name, {"by": self.by})


class BeginTurn(OfLetters, Act[Renewed]):
    """A turn has begun in a window: it is busy, and whoever had it rung can be told so."""

    def run(self, desk: Desk) -> Renewed:
        row = self.find(desk)
        if row.state != WindowState.BUSY:
            row.state, row.state_at = str(WindowState.BUSY), desk.now
            desk.hints.add(WINDOWS)
        desk.write("begin_turn", (row.agent, desk.now), row.agent)
        rings = [desk.rings[key] for key in self.keys if key in desk.rings] if row.agent == self.agent else []
        for ring in rings:
            if ring.mailbox != row.agent and ring.turn_at is None:
                ring.turn_at = desk.now
                _keep(desk, ring)
        return renewed(desk, row)


def _keep(desk: Desk, ring: RingRow) -> None:
    desk.rings[ring.message_id, ring.mailbox] = ring
    desk.write("put_ring", astuple(ring), (ring.message_id, ring.mailbox))

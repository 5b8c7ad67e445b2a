"""A taker's turn at its mailbox: settle what it had, and lease or pop what comes next, in one act."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType
from typing import Any

import msgspec

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.expiry import return_due
from postoffice.acts.mail.moves import bury, move, settle
from postoffice.acts.needs import Needs
from postoffice.acts.rows import DeliveryRow, in_turn
from postoffice.acts.rules.codes import ask_codes, mark_codes
from postoffice.acts.rules.finding import find_mail, mail_under
from postoffice.core.clock import is_id, micros, moment
from postoffice.core.delivery import (
    Ack,
    Collected,
    Extend,
    GiveBack,
    Handed,
    Leased,
    Nack,
    Refuse,
    Settled,
    Settlement,
    State,
    Wish,
    after_failure,
)
from postoffice.core.errors import LeaseLost, MailError, NoSuchMessage, Unavailable
from postoffice.core.names import SYSTEM, folded
from postoffice.core.session import pair

_AT_ONCE = timedelta(0)
_NO_IDS: Mapping[str, str] = MappingProxyType({})
_ENDING = (Ack, Nack, Refuse)
"""Settlements that mail still accepts after it was put off. Anything else needs a new lease."""
_DELIVERIES_IN_A_BRIEF_TURN = 10


class TakeAndSettle(Act[Collected]):
    """Settle, then take. Who takes from a window holds it as that window, so that several can share a mailbox."""

    def __init__(
        self,
        mailbox: str,
        settlements: tuple[Settlement, ...] = (),
        wish: Wish | None = None,
        window: str | None = None,
        whole: Mapping[str, str] = _NO_IDS,
    ) -> None:
        self.mailbox = folded(mailbox)
        self.taker = self.mailbox
        self.settlements = settlements
        self.wish = wish
        self.window = window
        self.whole = whole
        """What is meant by refs that name nothing else."""
        few = len(settlements) <= _DELIVERIES_IN_A_BRIEF_TURN and (wish is None or wish.limit <= _DELIVERIES_IN_A_BRIEF_TURN)
        self.brief = few and (wish is None or not (wish.choosy or wish.one_per_session))

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.mailbox)
        for settlement in self.settlements:
            key = (settlement.ref, self.mailbox)
            needs.mail[key] = needs.mail.get(key, False) or not isinstance(settlement, Ack)
            if settlement.ref in self.whole:
                meant = (self.whole[settlement.ref], self.mailbox)
                needs.mail[meant] = needs.mail.get(meant, False) or needs.mail[key]
        if self.wish is not None and (self.wish.session_id is None or is_id(self.wish.session_id)):
            needs.wishes.append((self.mailbox, self.wish))

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        for settlement in self._meant_by(desk):
            if isinstance(settlement, Refuse | Nack) and (row := desk.mail.get((settlement.ref, self.mailbox))) is not None:
                ask_codes(needs, settlement.reason or "", [row.sender])
                if isinstance(settlement, Refuse):
                    needs.thread_keys.add((*pair(SYSTEM, row.sender), ""))  # its sender will be told there
            elif isinstance(settlement, Extend):
                self._ask_for_hands(needs, desk, settlement.ref)
        if self.window is not None:
            needs.holders.add(self.window)
            refs = {settlement.ref for settlement in self._meant_by(desk) if settlement.token is None}
            rows = [row for ref in refs for row in mail_under(desk, ref, self.mailbox)]
            needs.holders.update(row.holder for row in rows if row.holder not in (None, self.taker))

    def run(self, desk: Desk) -> Collected:
        settled: list[Settled | MailError] = []
        for settlement in self._meant_by(desk):
            try:
                settled.append(self._settle(desk, settlement))
            except Unavailable:  # no answer to this settlement alone: it failed halfway, so the whole group is undone
                raise
            except MailError as error:
                settled.append(error)
        if self.wish is None:
            return Collected(tuple(settled), ())
        box = desk.boxes.get(self.mailbox)  # there is none where nobody of that name has come yet
        if box is not None and box.card.in_order and not self.wish.one_per_session:
            return Collected(tuple(settled), (), in_order=True)
        leased = self._take(desk, self.wish)
        if box is None:
            return Collected(tuple(settled), leased)
        return Collected(tuple(settled), leased, box.pending, box.leased, box.pause(desk.now))

    def _meant_by(self, desk: Desk) -> Sequence[Settlement]:
        """The settlements, each by the id of what it means."""
        if not self.whole:
            return self.settlements
        short = {ref for ref in self.whole if not mail_under(desk, ref, self.mailbox)}
        return [msgspec.structs.replace(one, ref=self.whole[one.ref]) if one.ref in short else one for one in self.settlements]

    def undo(self, outcome: Any) -> "TakeAndSettle | None":
        """A taker that went away before it could be told never had the mail. What was popped is gone, by contract."""
        if self.wish is None or self.wish.pop or not outcome.leased:
            return None
        return TakeAndSettle(self.mailbox, tuple(GiveBack(leased.message.id, leased.token) for leased in outcome.leased))

    def _settle(self, desk: Desk, settlement: Settlement) -> Settled:
        row = find_mail(desk, settlement.ref, self.mailbox, lambda r: self._meant(desk, r, settlement.token))
        if row is None:
            box = desk.boxes.get(self.mailbox)  # there is none where nobody of that name has come yet
            raise NoSuchMessage(name=self.mailbox if box is None else box.name, ref=settlement.ref)
        late = isinstance(settlement, Extend) and row.state == State.PENDING
        refused = (row.put_off and not isinstance(settlement, _ENDING)) or (late and not self._may_have_again(desk, row))
        if self._holds(desk, row, settlement.token) and not refused:
            if late:
                self._taken(desk, row)
            _apply(desk, row, settlement)
        elif not self._repeats(desk, row, settlement):
            raise LeaseLost(ref=settlement.ref)
        return Settled(row.message_id, State(row.state))

    def _meant(self, desk: Desk, row: DeliveryRow, token: str | None) -> bool:
        """Whether this is the one that is meant, of several with one id. A token always tells, also for what it has settled."""
        return self._holds(desk, row, None) if token is None else row.token == token

    def _holds(self, desk: Desk, row: DeliveryRow, token: str | None) -> bool:
        """Whether the caller holds it, or held it last and nobody has taken or settled it since."""
        ran_out = row.state == State.PENDING and row.holder is not None
        return (row.state == State.LEASED or ran_out or row.put_off) and self._same(desk, row, token)

    def _same(self, desk: Desk, row: DeliveryRow, token: str | None) -> bool:
        """Whether it was leased to the caller. A token proves it; without one the name does, unless another open window has it."""
        if token is not None:
            return row.token == token
        window = self._window(desk)
        return row.holder is not None and (window is None or row.holder == window or row.holder not in desk.holders)

    def _window(self, desk: Desk) -> str | None:
        """The window that the call comes from, if it is open and its agent's."""
        return self.window if desk.holders.get(self.window or "") == self.taker else None

    def _ask_for_hands(self, needs: Needs, desk: Desk, ref: str) -> None:
        """Have what is in hand of a session of which something may come into a hand again, where one at a time may be."""
        box = desk.boxes.get(self.mailbox)
        for row in mail_under(desk, ref, self.mailbox) if box is not None and box.card.in_order else ():
            if row.state == State.PENDING and row.session_id is not None:
                needs.extra[f"leased_in_session:{row.mailbox}:{row.session_id}"] = (row.mailbox, row.session_id)

    def _may_have_again(self, desk: Desk, row: DeliveryRow) -> bool:
        """Whether what ran out may be in hand again. Others may have taken as much meanwhile as may be."""
        box = desk.boxes[self.mailbox]
        if not box.hands_free:
            return False
        if not box.card.in_order or row.session_id is None:
            return True
        of_it = desk.extra.get(f"leased_in_session:{row.mailbox}:{row.session_id}", ())
        elsewhere = [id for (id,) in of_it if (id, row.mailbox) not in desk.mail]
        here = (one for one in desk.mail.values() if (one.mailbox, one.session_id) == (row.mailbox, row.session_id))
        return not elsewhere and not any(one.state == State.LEASED for one in here)

    def _repeats(self, desk: Desk, row: DeliveryRow, settlement: Settlement) -> bool:
        """Whether the same holder has settled it the same way before: then it hears the same answer."""
        if not self._same(desk, row, settlement.token):
            return False
        match settlement:
            case Ack():
                return row.state == State.ACKED
            case Refuse():
                return row.state == State.DEAD
            case Nack():
                return settlement.token is not None and row.state in (State.PENDING, State.HELD, State.DEAD)
            case _:
                return False

    def _take(self, desk: Desk, wish: Wish) -> tuple[Leased, ...]:
        return_due(desk)
        pool = desk.pools.get(self.mailbox)
        box = desk.boxes.get(self.mailbox)
        if not pool or box is None or box.is_paused(desk.now):
            return ()
        limit = wish.limit if wish.pop else min(wish.limit, box.hands_free)
        taken: list[DeliveryRow] = []
        for row in sorted(pool.values(), key=in_turn):
            if len(taken) >= limit:
                break
            if row.state != State.PENDING or row.is_expired(desk.now) or not _fits(row, wish) or not self._may_take(desk, row):
                continue
            if row.session_id is not None:
                if wish.one_per_session and not _alone(desk, row, wish):
                    continue
                desk.busy.add((self.mailbox, row.session_id))
            taken.append(row)
            self._taken(desk, row)
        holder = self._window(desk) or self.taker
        return tuple(_lease(desk, row, wish, holder) for row in taken)

    def _may_take(self, desk: Desk, row: DeliveryRow) -> bool:  # noqa: ARG002 - a role asks whose its session is
        return True

    def _taken(self, desk: Desk, row: DeliveryRow) -> None:
        """A letter is this taker's now; a role remembers whose."""


def _alone(desk: Desk, row: DeliveryRow, wish: Wish) -> bool:
    """Whether it would be the only one of its session in hand. One that just came back from a lost lease was that one."""
    # The caller's first choice that fits comes first, whatever else waits.
    return (wish.choosy or row.message_id in desk.heads or row.attempts > 0) and (row.mailbox, row.session_id) not in desk.busy


def _fits(row: DeliveryRow, wish: Wish) -> bool:
    return (
        (wish.session_id is None or row.session_id == wish.session_id)
        and (wish.correlation_id is None or row.correlation_id == wish.correlation_id)
        and (wish.answer_to is None or wish.answer_to.is_answered_by(row.read(), row.session_id))
    )


def _lease(desk: Desk, row: DeliveryRow, wish: Wish, holder: str) -> Leased:
    row.token = desk.clock.token()
    row.holder = holder if wish.pop or wish.visible_for is not None else None  # what is lent lies elsewhere
    row.attempts += 1
    row.leased_at = row.leased_at or desk.now
    desk.pools[row.mailbox].pop(row.message_id, None)
    if wish.pop:
        settle(desk, row)
    else:
        if wish.visible_for is None:
            row.reason = None  # nobody has said yet where it lies
        move(desk, row, State.LEASED, due_in=wish.visible_for)
    return as_leased(row)


def as_leased(row: DeliveryRow) -> Leased:
    """A delivery in its taker's hands."""
    return Leased(
        message=row.read(),
        token=row.token or "",
        session_id=row.session_id,
        attempt=row.attempts,
        number=row.number,
        leased_until=None if row.due_at is None else moment(row.due_at),
    )


def _apply(desk: Desk, row: DeliveryRow, settlement: Settlement) -> None:
    match settlement:
        case Ack():
            settle(desk, row)
        case Extend(visible_for=visible_for, shorten=shorten):
            _extend(desk, row, visible_for, shorten=shorten)
        case GiveBack():
            row.attempts -= 1
            row.token = row.holder = None
            if row.attempts == 0:
                row.leased_at = None  # nobody has taken it yet
            move(desk, row, State.PENDING)
            desk.hints.add(row.mailbox)
        case Handed(where=where):
            move(desk, row, State.LEASED, reason=where)
        case Refuse(reason=reason):
            bury(desk, row, reason, said=True, refused=True)
        case Nack(token=token, delay=delay, reason=reason, untried=untried):
            mark_codes(desk, reason or "", row.sender)  # where its message stands is its sender's to see
            row.attempts -= untried and not row.put_off
            state = after_failure(row.attempts, desk.limits.max_attempts, delay)
            if state is State.HELD and token is None:
                row.token = None  # put off by name: its holder may still settle it sooner
            else:
                row.holder = None
            if state is State.DEAD:
                bury(desk, row, reason or "given back too often", said=bool(reason))
            else:
                move(desk, row, state, reason=reason, due_in=delay if delay > _AT_ONCE else None)
                desk.hints.add(row.mailbox)


def _extend(desk: Desk, row: DeliveryRow, visible_for: timedelta, *, shorten: bool) -> None:
    """Keep it for so long from now. If the lease ran out and nobody took it since, its last holder has it again."""
    if not shorten and row.state == State.LEASED and (row.due_at is None or row.due_at >= desk.now + micros(visible_for)):
        return
    if row.session_id is not None:
        desk.busy.add((row.mailbox, row.session_id))
    move(desk, row, State.LEASED, due_in=visible_for)

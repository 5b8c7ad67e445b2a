"""How a group of acts loads mail: what it names, what waits, what is due."""

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.rows import DeliveryRow, Row, in_turn
from postoffice.core.clock import is_id, micros
from postoffice.core.delivery import State
from postoffice.core.message import TASK
from postoffice.core.names import SYSTEM, folded
from postoffice.core.session import pair
from postoffice.store.drawer import Drawer
from postoffice.store.engine import Loads, Steps

_DUE_AT_ONCE = 100
_HEADS = frozenset({"waiting_heads", "waiting_heads_beyond", "waiting_heads_in_role"})
_DUE = ("due", "come_due", "expired")
"""What time has done something to: leases and delays that end, letters whose time has come, letters that nobody took in time."""


def load_mail(desk: Desk, drawer: Drawer, needs: Needs) -> Steps:
    """Load the mail that the acts name, and as much of what waits and is due as they wish for."""
    if loads := _named_mail(desk, drawer, needs) | _waiting_mail(desk, drawer, needs):
        _lay_mail(desk, (yield loads))
    if loads := _further_mail(desk, needs):
        _lay_mail(desk, (yield loads))
    _ask_for_mail(desk, needs)


def _named_mail(desk: Desk, drawer: Drawer, needs: Needs) -> Loads:
    queries: Loads = {}
    for key in needs.mail:
        if key not in needs.bodies and (leased := drawer.leased.get(key)) is not None:
            desk.lay(leased)
        elif key not in desk.mail:
            query = "mail_by_client_id" if not is_id(key[0]) else "mail_and_bodies" if key in needs.bodies else "mail"
            queries.setdefault(query, []).append(key)
    return queries


def _waiting_mail(desk: Desk, drawer: Drawer, needs: Needs) -> Loads:
    queries: Loads = {}
    totals = _wished_for(needs)
    choosy = {mailbox for mailbox, wish in needs.wishes if wish.choosy or wish.taker is not None}
    for mailbox, wish in needs.wishes:
        total = totals[mailbox]
        if not wish.one_per_session and (
            mailbox in desk.pools or _lay_at_hand(desk, drawer, mailbox, None if mailbox in choosy else total)
        ):
            continue
        if (question := wish.answer_to) is not None:
            key = (mailbox, question.id, question.named[-1], question.session_id, question.correlation_id, total)
            queries.setdefault("waiting_answers", []).append(key)
        elif wish.session_id is not None:
            queries.setdefault("waiting_in_session", []).append((mailbox, wish.session_id, wish.correlation_id, total))
        elif wish.correlation_id is not None:
            query = "waiting_correlated_heads" if wish.one_per_session else "waiting_correlated"
            queries.setdefault(query, []).append((mailbox, wish.correlation_id, total))
        elif wish.taker is not None:
            spans = (micros(desk.limits.heartbeat_timeout), micros(desk.limits.role_stay))
            query = "waiting_heads_in_role" if wish.one_per_session else "waiting_in_role"
            queries.setdefault(query, []).append((mailbox, folded(wish.taker), *spans, total))
        elif wish.one_per_session:
            queries.setdefault("waiting_heads", []).append((mailbox, total))
        elif (mailbox, total) not in queries.setdefault("waiting", []):
            queries["waiting"].append((mailbox, total))
    return queries


def _wished_for(needs: Needs) -> dict[str, int]:
    """By mailbox: how many messages to load. Each wish may have to skip what the others took, and what the group settles by name."""
    totals: dict[str, int] = {}
    for mailbox, wish in needs.wishes:
        totals[mailbox] = totals.get(mailbox, 0) + wish.limit
    for (_, mailbox), touched in needs.mail.items():
        if touched and mailbox in totals:
            totals[mailbox] += 1
    return totals


def _lay_at_hand(desk: Desk, drawer: Drawer, mailbox: str, most: int | None) -> bool:
    """Lay what waits in a mailbox on the desk, if it is in the drawer: all of it for takers who choose, else no more than can be taken."""
    at_hand = drawer.all_pending(mailbox)
    if at_hand is None:
        return False
    rows = list(at_hand.values())
    if most is not None and len(rows) > most:
        rows = sorted(rows, key=in_turn)[:most]
    desk.pools[mailbox] = {row.message_id: desk.lay(row) for row in rows}
    return True


def _further_mail(desk: Desk, needs: Needs) -> Loads:
    queries: Loads = {}
    # The office's id names a message before any sender's id can: nobody takes over a name by sending under it.
    if unknown := [key for key in needs.mail if key not in desk.mail and is_id(key[0])]:
        queries["mail_by_client_id"] = unknown
    for mailbox, wish in needs.wishes:
        if wish.one_per_session and not wish.choosy and wish.taker is None:
            total = _wished_for(needs)[mailbox]
            found = sum(id in desk.heads for id in desk.pools.get(mailbox, ()))
            if found < total and (mailbox, total) not in queries.setdefault("waiting_heads_beyond", []):
                queries["waiting_heads_beyond"].append((mailbox, total))
    # Look for what is due only if what waits does not suffice, or if it is asked for.
    if needs.due or any(len(desk.pools.get(mailbox, ())) < wish.limit for mailbox, wish in needs.wishes):
        queries |= {query: [(needs.due or _DUE_AT_ONCE,)] for query in _DUE}
    return queries


def _lay_mail(desk: Desk, rows_by_name: dict[str, list[Row]]) -> None:
    for query, rows in rows_by_name.items():
        for row in rows:
            delivery = desk.lay(DeliveryRow(*row))
            if query in _DUE:
                desk.due.append(delivery)
            elif query.startswith("waiting"):
                desk.pools.setdefault(delivery.mailbox, {})[delivery.message_id] = delivery
            if query in _HEADS:
                desk.heads.add(delivery.message_id)


def _ask_for_mail(desk: Desk, needs: Needs) -> None:
    """What moving the mail on the desk may need."""
    needs.threads.update(delivery.session_id for delivery in desk.due if delivery.session_id is not None)
    for key, delivery in desk.mail.items():
        needs.boxes.add(delivery.mailbox)
        needs.boxes.add(delivery.sender)
        # A session counts what is unread: acking what is in hand does not touch it.
        if delivery.session_id is not None and (delivery.state != State.LEASED or _touched(needs, key, delivery.client_id)):
            needs.threads.add(delivery.session_id)
        if delivery.type == TASK:
            needs.tasks.add(delivery.message_id)
        if delivery.deliver_at is not None:  # whether it is let through is decided when its time has come
            needs.pairs.add(pair(delivery.sender, delivery.mailbox))
            if delivery.session_id is not None and delivery.session_id not in desk.threads:
                needs.list_ids.add(delivery.session_id)
                needs.list_places_by_id.add((delivery.session_id, delivery.mailbox))
                needs.list_letters.add(delivery.message_id)
        # It may die in this group: then its sender gets a notice in its session with the office.
        timed = delivery.deliver_at is not None or delivery.expires_at is not None
        if (timed or delivery.attempts >= desk.limits.max_attempts) and delivery.sender != SYSTEM:
            needs.thread_keys.add((*pair(SYSTEM, delivery.sender), ""))


def _touched(needs: Needs, key: tuple[str, str], client_id: str | None) -> bool:
    """Whether an act may do more than ack it, by whichever of its ids it was named."""
    mails = [needs.mail[name] for name in (key, (client_id or "", key[1])) if name in needs.mail]
    return any(mails) if mails else True

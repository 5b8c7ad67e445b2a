"""What a group of acts reads: what is loaded, and in which order it is locked.

Locks are taken in one order by everybody, so that no two groups wait for each other: the deliveries to be settled,
by id; what is due or waiting, skipping what others hold; then mailboxes, by name. Whatever belongs to two agents
(sessions, tasks, connections, dedupe records) is only touched with both their mailboxes locked and needs no lock of its own.
The one exception is mail named by a sender's id that might have been the office's: it is found after what waits. Should two
groups wait for each other there, PostgreSQL ends one, and its acts are done again.
"""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.session import settled_by
from postoffice.acts.needs import Needs
from postoffice.acts.rows import Box, DeliveryRow, KeyRow, MemoryRow, QuestionRow, RingRow, Row, TaskRow, ThreadRow, WindowRow, in_turn
from postoffice.core.clock import is_id
from postoffice.core.delivery import State
from postoffice.core.message import TASK
from postoffice.core.names import SYSTEM
from postoffice.core.session import pair
from postoffice.store.drawer import Drawer
from postoffice.store.engine import Loads, Steps

K = TypeVar("K")
_DUE_AT_ONCE = 100


def open_desk(desk: Desk, drawer: Drawer, acts: Sequence[Act[Any]]) -> Steps:
    """Load and lock all that the acts need."""
    needs = asked(acts)
    yield from load_locked(desk, drawer, needs)
    yield from load_rest(desk, needs, acts)


def asked(acts: Sequence[Act[Any]]) -> Needs:
    """What the acts need, as far as they know it before anything is loaded."""
    needs = Needs()
    for act in acts:
        act.ask(needs)
    return needs


def load_locked(desk: Desk, drawer: Drawer, needs: Needs) -> Steps:
    """Load and lock mail and mailboxes."""
    yield from _look(desk, needs)
    yield from _load_mail(desk, drawer, needs)
    if needs.everyone:
        needs.boxes.update(agent for (agent,) in (yield {"everyone": [()]})["everyone"])
    yield from _load_boxes(desk, needs)


def _look(desk: Desk, needs: Needs) -> Steps:
    """Find out, without locks, whom the named things concern; what can change is read again under locks."""
    for key in sorted(needs.lines):
        found = yield {"lines": [key], "sessions_by_id": [(key[0],)]}
        lines = desk.lines[key] = [DeliveryRow(*row) for row in found["lines"]]
        # Of a session that is not the reader's nothing is asked further, as if there were none.
        for row in found["sessions_by_id"]:
            if key[3] in row[1:3]:
                needs.boxes.update(row[1:3])
                needs.threads.add(key[0])
        # What is only shown stays free: whoever takes it meanwhile would pass it over and go away empty.
        needs.mail.update(((d.message_id, d.mailbox), True) for d in lines if settled_by(key[3], d))
        needs.bodies.update((d.message_id, d.mailbox) for d in lines)
    yield from _look_at_windows(needs)
    named = (
        ("tasks_by_ref", needs.tasks),
        ("connections_by_code", desk.kept_codes(needs.codes)),
        ("connections_by_id", needs.connections),
        ("requests_of", needs.burning),
    )
    if loads := {query: _keys(names) for query, names in named if names}:
        _note_members(desk, needs, (yield loads))


def _look_at_windows(needs: Needs) -> Steps:
    """Whose the windows are, and what those that may have to end have in hand."""
    asked = {
        "windows_by_id": _keys(needs.windows),
        "windows_by_place": sorted(needs.places),
        "window_sessions": sorted(needs.window_sessions),
        "leases_of_windows": _keys(needs.windows),
        "leases_of_places": sorted(needs.places),
        "leases_of_lost": _keys(needs.window_agents),
    }
    if loads := {name: keys for name, keys in asked.items() if keys}:
        found = yield loads
        for row in (*found.get("windows_by_id", ()), *found.get("windows_by_place", ())):
            needs.windows.add(row[0])
            needs.window_agents.add(row[1])
        needs.window_agents.update(row[2] for row in found.get("window_sessions", ()))
        for name in ("leases_of_windows", "leases_of_places", "leases_of_lost"):
            needs.mail.update(((id, mailbox), True) for id, mailbox in found.get(name, ()))
    needs.boxes.update(needs.window_agents)


def _note_members(desk: Desk, needs: Needs, found: dict[str, list[Row]]) -> None:
    """Of tasks and connections: whoever has a part in one must be there."""
    for row in found.pop("tasks_by_ref", ()):
        task = TaskRow(*row)
        needs.boxes.update((task.requester, task.assignee))
        needs.pairs.add(pair(task.requester, task.assignee))
        needs.mail[task.message_id, task.assignee] = True
    for row in (row for rows in found.values() for row in rows):
        connection = desk.lay_connection(row)
        needs.connections.add(connection.id)
        needs.boxes.update((connection.requester, connection.target))


def _load_mail(desk: Desk, drawer: Drawer, needs: Needs) -> Steps:
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
    choosy = {mailbox for mailbox, wish in needs.wishes if wish.session_id is not None or wish.correlation_id is not None}
    for mailbox, wish in needs.wishes:
        total = totals[mailbox]
        if not wish.one_per_session and (
            mailbox in desk.pools or _lay_at_hand(desk, drawer, mailbox, None if mailbox in choosy else total)
        ):
            continue
        if wish.session_id is not None:
            queries.setdefault("waiting_in_session", []).append((mailbox, wish.session_id, wish.correlation_id, total))
        elif wish.correlation_id is not None:
            query = "waiting_correlated_heads" if wish.one_per_session else "waiting_correlated"
            queries.setdefault(query, []).append((mailbox, wish.correlation_id, total))
        elif wish.one_per_session:
            queries.setdefault("waiting_heads", []).append((mailbox, total))
        elif (mailbox, total) not in queries.setdefault("waiting", []):
            queries["waiting"].append((mailbox, total))
    return queries


def _wished_for(needs: Needs) -> dict[str, int]:
    """By mailbox: how many are wished for. Every wish may have to pass over what the others took, and over what the group settles by name."""
    totals: dict[str, int] = {}
    for mailbox, wish in needs.wishes:
        totals[mailbox] = totals.get(mailbox, 0) + wish.limit
    for (_, mailbox), touched in needs.mail.items():
        if touched and mailbox in totals:
            totals[mailbox] += 1
    return totals


def _lay_at_hand(desk: Desk, drawer: Drawer, mailbox: str, most: int | None) -> bool:
    """Lay what waits in a mailbox, if it is at hand: all of it for those who choose, else no more than can be taken."""
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
    # What is due has to be looked for only where what waits does not suffice, or where it is asked for.
    if needs.due or any(len(desk.pools.get(mailbox, ())) < wish.limit for mailbox, wish in needs.wishes):
        queries["due"] = [(needs.due or _DUE_AT_ONCE,)]
    return queries


def _lay_mail(desk: Desk, found: dict[str, list[Row]]) -> None:
    for query, rows in found.items():
        for row in rows:
            delivery = desk.lay(DeliveryRow(*row))
            if query == "due":
                desk.due.append(delivery)
            elif query.startswith("waiting"):
                desk.pools.setdefault(delivery.mailbox, {})[delivery.message_id] = delivery
            if query == "waiting_heads":
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
        # It may die in this group: then its sender gets a notice in its session with the office.
        if delivery.attempts >= desk.limits.max_attempts and delivery.sender != SYSTEM:
            needs.thread_keys.add((*pair(SYSTEM, delivery.sender), ""))


def _touched(needs: Needs, key: tuple[str, str], client_id: str | None) -> bool:
    """Whether more than an ack may be done to it, by whichever of its message's ids it was named."""
    asked = [needs.mail[name] for name in (key, (client_id or "", key[1])) if name in needs.mail]
    return any(asked) if asked else True


def _load_boxes(desk: Desk, needs: Needs) -> Steps:
    if missing := _missing(needs.boxes, desk.boxes):
        query = "boxes_and_agents" if needs.agents else "boxes"
        for row in (yield {query: _keys(missing)})[query]:
            desk.boxes[row[0]] = Box.of(row[:-3])
            desk.versions[row[0]] = row[-3:-1]
            desk.now = row[-1]
    if not desk.now:
        ((desk.now,),) = (yield {"now": [()]})["now"]


def load_rest(desk: Desk, needs: Needs, acts: Sequence[Act[Any]]) -> Steps:
    """Load what belongs to those whose mailboxes are locked now."""
    for act in acts:
        act.ask_more(needs, desk)
    wanted: Loads = {
        "sessions_by_id": _keys(_missing(needs.threads, desk.threads)),
        "sessions_by_key": list(_missing(needs.thread_keys, desk.thread_keys)),
        "connected": list(needs.pairs),
        "dedupe": list(needs.dedupe),
        "tasks_by_ref": _keys(needs.tasks),
        "questions_by_id": _keys(needs.questions),
        "memories": _keys(needs.memories),
        "connections_by_id": _keys(needs.connections),
        "requests_of": _keys(needs.requests),
        "keys_of": _keys(needs.keys),
        "limits": _keys(needs.limits),
        "entities": _keys(needs.entities),
        "windows_by_id": _keys(needs.windows),
        "windows_by_place": sorted(needs.places),
        "windows_of": _keys(needs.window_agents),
        "window_names": _keys(needs.window_agents),
        "window_sessions": sorted(needs.window_sessions),
        "rings": sorted(needs.rings),
    }
    if loads := {name: keys for name, keys in wanted.items() if keys}:
        _lay_rest(desk, (yield loads))
    alone = {mailbox for mailbox, wish in needs.wishes if wish.one_per_session}
    if sessions := {(d.mailbox, d.session_id) for d in desk.mail.values() if d.mailbox in alone and d.session_id is not None}:
        desk.busy.update((yield {"in_hand": sorted(sessions)})["in_hand"])
    if desk.tasks:
        desk.under_way = dict((yield {"under_way": _keys({task.assignee for task in desk.tasks.values()})})["under_way"])
    for name, key in needs.extra.items():
        query = name.partition(":")[0]
        desk.extra[name] = (yield {query: [key]})[query]


def _lay_rest(desk: Desk, found: dict[str, list[Row]]) -> None:
    for row in (*found.get("sessions_by_id", ()), *found.get("sessions_by_key", ())):
        thread = ThreadRow(*row)
        if thread.id not in desk.threads:
            desk.threads[thread.id] = thread
            desk.thread_keys[thread.low, thread.high, thread.subject_key] = thread
    desk.connected = {(low, high): assurance for low, high, assurance in found.get("connected", ())}
    for sender, to, client_id, fingerprint, answer, at in found.get("dedupe", ()):
        desk.dedupe[sender, to, client_id] = (fingerprint, answer, at)
    desk.tasks = {row[0]: TaskRow(*row) for row in found.get("tasks_by_ref", ())}
    desk.memories = {row[0]: MemoryRow(*row) for row in found.get("memories", ())}
    desk.questions = {row[0]: QuestionRow(*row) for row in found.get("questions_by_id", ())}
    for row in found.get("connections_by_id", ()):
        desk.lay_connection(row)
    for row in found.get("requests_of", ()):
        desk.lay_connection(row)
    desk.keys = {row[0]: KeyRow(*row) for row in found.get("keys_of", ())}
    desk.counters = {bucket: (begun_at, count) for bucket, begun_at, count in found.get("limits", ())}
    for row in (*found.get("windows_by_id", ()), *found.get("windows_by_place", ()), *found.get("windows_of", ())):
        desk.windows.setdefault(row[0], WindowRow.of(row))
    desk.window_names = {agent: (bool(chosen), prefix) for agent, chosen, prefix in found.get("window_names", ())}
    desk.window_sessions = {(client, session): agent for client, session, agent in found.get("window_sessions", ())}
    desk.rings = {(row[0], row[1]): RingRow(*row) for row in found.get("rings", ())}
    desk.entities = {id: (type, notes, at) for id, type, notes, at in found.get("entities", ())}


def _missing(wanted: set[K], at_hand: Mapping[K, object]) -> set[K]:
    """What is wanted and not at hand. Taking one set from the other would go through all that is at hand, which may be the whole office."""
    return {key for key in wanted if key not in at_hand}


def _keys(names: set[str]) -> list[Row]:
    """One key a name, in the order in which everybody locks them."""
    return [(name,) for name in sorted(names)]

"""What a group of acts reads: what is loaded, and in which order it is locked.

Locks are taken in one order by everybody, so that no two groups wait for each other: the deliveries to be settled,
by id; what is due or waiting, skipping what others hold; then lists, by name; then mailboxes, by name. Whatever belongs to two agents
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
from postoffice.acts.people.rows import TakeRow
from postoffice.acts.rows import Box, DeliveryRow, KeyRow, MemoryRow, QuestionRow, RingRow, Row, TaskRow, ThreadRow, WindowRow
from postoffice.core.clock import micros
from postoffice.core.session import pair
from postoffice.store.drawer import Drawer
from postoffice.store.engine import Loads, Steps
from postoffice.store.loading_lists import load_lists
from postoffice.store.loading_mail import load_mail

K = TypeVar("K")


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
    yield from load_mail(desk, drawer, needs)
    if needs.lists or needs.list_ids:
        yield from load_lists(desk, needs)
    if needs.everyone:
        needs.boxes.update(agent for (agent,) in (yield {"everyone": [()]})["everyone"])
    yield from _load_boxes(desk, needs)


def _look(desk: Desk, needs: Needs) -> Steps:
    """Find out, without locks, whom the named things concern; what can change is read again under locks."""
    for key in sorted(needs.lines):
        rows_by_name = yield {"lines": [key], "sessions_by_id": [(key[0],)]}
        lines = desk.lines[key] = [DeliveryRow(*row) for row in rows_by_name["lines"]]
        # A session that is not the reader's is treated as if it did not exist.
        for row in rows_by_name["sessions_by_id"]:
            if key[3] in row[1:3]:
                needs.boxes.update(row[1:3])
                needs.threads.add(key[0])
        # Rows that are only shown are not locked: a taker would skip locked ones and go away empty.
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
    """The windows' agents, and the mail in hand of windows that may have to end."""
    if not (needs.windows or needs.places or needs.window_sessions or needs.window_agents):
        return  # as in nearly every group
    parameters = {
        "windows_by_id": _keys(needs.windows),
        "windows_by_place": sorted(needs.places),
        "window_sessions": sorted(needs.window_sessions),
        "leases_of_windows": _keys(needs.windows),
        "leases_of_places": sorted(needs.places),
        "leases_of_lost": _keys(needs.window_agents),
    }
    if loads := {name: keys for name, keys in parameters.items() if keys}:
        rows_by_name = yield loads
        for row in (*rows_by_name.get("windows_by_id", ()), *rows_by_name.get("windows_by_place", ())):
            needs.windows.add(row[0])
            needs.window_agents.add(row[1])
        needs.window_agents.update(row[2] for row in rows_by_name.get("window_sessions", ()))
        for name in ("leases_of_windows", "leases_of_places", "leases_of_lost"):
            needs.mail.update(((id, mailbox), True) for id, mailbox in rows_by_name.get(name, ()))
    needs.boxes.update(needs.window_agents)


def _note_members(desk: Desk, needs: Needs, rows_by_name: dict[str, list[Row]]) -> None:
    """The agents of tasks and connections: all of them have to be loaded."""
    for row in rows_by_name.pop("tasks_by_ref", ()):
        task = TaskRow(*row)
        needs.boxes.update((task.requester, task.assignee))
        needs.pairs.add(pair(task.requester, task.assignee))
        needs.mail[task.message_id, task.mailbox] = True
    for row in (row for rows in rows_by_name.values() for row in rows):
        connection = desk.lay_connection(row)
        needs.connections.add(connection.id)
        needs.boxes.update((connection.requester, connection.target))


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
    single = (
        ("sessions_by_id", _missing(needs.threads, desk.threads)),
        ("tasks_by_ref", needs.tasks),
        ("questions_by_id", needs.questions),
        ("memories", needs.memories),
        ("connections_by_id", needs.connections),
        ("requests_of", needs.requests),
        ("keys_of", needs.keys),
        ("limits", needs.limits),
        ("entities", needs.entities),
        ("windows_by_id", needs.windows),
        ("windows_of", needs.window_agents),
        ("window_names", needs.window_agents),
        ("holders", needs.holders),
    )
    joint: tuple[tuple[str, set[Any]], ...] = (
        ("sessions_by_key", _missing(needs.thread_keys, desk.thread_keys)),
        ("connected", needs.pairs),
        ("dedupe", needs.dedupe),
        ("windows_by_place", needs.places),
        ("window_sessions", needs.window_sessions),
        ("rings", needs.rings),
        ("role_takes", needs.takes),
    )
    loads: Loads = {query: _keys(names) for query, names in single if names}
    loads |= {query: sorted(keys) for query, keys in joint if keys}
    if needs.role_sessions:
        spans = (micros(desk.limits.heartbeat_timeout), micros(desk.limits.role_stay))
        loads["role_sessions"] = [(session, *spans) for session in sorted(needs.role_sessions)]
    if loads:
        _lay_rest(desk, (yield loads))
    alone = {mailbox for mailbox, wish in needs.wishes if wish.one_per_session}
    if sessions := {(d.mailbox, d.session_id) for d in desk.mail.values() if d.mailbox in alone and d.session_id is not None}:
        desk.busy.update((yield {"in_hand": sorted(sessions)})["in_hand"])
    if desk.tasks:
        desk.under_way = dict((yield {"under_way": _keys(needs.workers | {task.assignee for task in desk.tasks.values()})})["under_way"])
    for name, key in needs.extra.items():
        query = name.partition(":")[0]
        desk.extra[name] = (yield {query: [key]})[query]


def _lay_rest(desk: Desk, rows_by_name: dict[str, list[Row]]) -> None:
    for row in (*rows_by_name.get("sessions_by_id", ()), *rows_by_name.get("sessions_by_key", ())):
        thread = ThreadRow(*row)
        if thread.id not in desk.threads:
            desk.threads[thread.id] = thread
            desk.thread_keys[thread.low, thread.high, thread.subject_key] = thread
    desk.connected = {(low, high): assurance for low, high, assurance in rows_by_name.get("connected", ())}
    for sender, to, client_id, fingerprint, answer, at in rows_by_name.get("dedupe", ()):
        desk.dedupe[sender, to, client_id] = (fingerprint, answer, at)
    desk.tasks = {row[0]: TaskRow(*row) for row in rows_by_name.get("tasks_by_ref", ())}
    desk.memories = {row[0]: MemoryRow(*row) for row in rows_by_name.get("memories", ())}
    desk.questions = {row[0]: QuestionRow(*row) for row in rows_by_name.get("questions_by_id", ())}
    for row in rows_by_name.get("connections_by_id", ()):
        desk.lay_connection(row)
    for row in rows_by_name.get("requests_of", ()):
        desk.lay_connection(row)
    desk.keys = {row[0]: KeyRow(*row) for row in rows_by_name.get("keys_of", ())}
    desk.counters = {bucket: (begun_at, count) for bucket, begun_at, count in rows_by_name.get("limits", ())}
    for row in (*rows_by_name.get("windows_by_id", ()), *rows_by_name.get("windows_by_place", ()), *rows_by_name.get("windows_of", ())):
        desk.windows.setdefault(row[0], WindowRow.of(row))
    desk.window_names = {agent: (bool(chosen), prefix) for agent, chosen, prefix in rows_by_name.get("window_names", ())}
    desk.window_sessions = {(client, session): agent for client, session, agent in rows_by_name.get("window_sessions", ())}
    desk.rings = {(row[0], row[1]): RingRow(*row) for row in rows_by_name.get("rings", ())}
    desk.holders = dict(rows_by_name.get("holders", ()))
    desk.takes = {(row[0], row[1]): TakeRow(*row) for row in rows_by_name.get("role_takes", ())}
    desk.role_sessions = dict(rows_by_name.get("role_sessions", ()))
    desk.entities = {id: (type, notes, at) for id, type, notes, at in rows_by_name.get("entities", ())}


def _missing(wanted: set[K], loaded: Mapping[K, object]) -> set[K]:
    """What is wanted and not loaded yet. Taking one set from the other would go through all that is loaded, which may be the whole office."""
    return {key for key in wanted if key not in loaded}


def _keys(names: set[str]) -> list[Row]:
    """One key a name, in the order in which everybody locks them."""
    return [(name,) for name in sorted(names)]

"""Every verb called wrongly, with the code of the refusal it deserves."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from postoffice.core.agent import Caller, Card
from postoffice.core.delivery import Ack, Leased
from postoffice.core.draft import Draft
from postoffice.core.ledger import Account
from postoffice.core.message import TaskRef
from postoffice.core.question import Ask
from postoffice.core.task import TaskState
from postoffice.core.window import Opening, Place
from postoffice.office import PostOffice
from postoffice.office.windows import Renewal

NO_ID = "00000000-0000-7000-8000-000000000000"
TOO_LONG = timedelta(days=400)
LESS_THAN_NOTHING = timedelta(seconds=-1)


class Scene(NamedTuple):
    """An office with something in it."""

    office: PostOffice
    alice: Caller
    bob: Caller
    eve: Caller
    owner: Caller
    leased: Leased  # from alice to bob, in bob's hand
    waiting: str  # from alice to bob
    session: str  # of alice and bob
    task: str  # asked by alice of bob, done


Call = Callable[[Scene], Awaitable[Any]]


def letter(**fields: Any) -> Call:
    draft = Draft(**{"to": "bob", "content": "x", **fields})
    return lambda s: s.office.send(s.alice, draft)


def account(**changes: str) -> Account:
    return Account(**{"agent": "bob", "account_id": "0.0.1", "inbound_topic_id": "0.0.2", "outbound_topic_id": "0.0.3", **changes})


def opening(**changes: str) -> Opening:
    fields: dict[str, Any] = {"client": "claude-code", "folder": "/shop", "place": Place("machine", 1, "then"), **changes}
    return Opening(**fields)


BAD_CALLS: dict[str, list[tuple[str, Call]]] = {
    "identify": [
        ("unidentified", lambda s: s.office.identify()),
        ("bad_name", lambda s: s.office.identify(name="a b")),
        ("reserved_name", lambda s: s.office.identify(name="system")),
        ("bad_key", lambda s: s.office.identify(key="amb_wrong")),
    ],
    "watcher": [
        ("unidentified", lambda s: s.office.watcher(key=None, name=None)),
        ("bad_key", lambda s: s.office.watcher(key="amb_wrong", name=None)),
    ],
    "register": [
        ("bad_name", lambda s: s.office.register("a/b")),
        ("reserved_name", lambda s: s.office.register("me")),
        ("name_taken", lambda s: s.office.register("alice")),
        ("owner_only", lambda s: s.office.register("new", Card(person=True))),
        ("bad_name", lambda s: s.office.register("new", Card(allow_from=("a b",)))),
        ("bad_limit", lambda s: s.office.register("new", Card(max_concurrent_tasks=-1))),
        ("too_large", lambda s: s.office.register("new", Card(description="x" * 70_000))),
        ("bad_text", lambda s: s.office.register("new", Card(description="\x00"))),
    ],
    "agent": [("no_such_agent", lambda s: s.office.agent("nobody")), ("bad_name", lambda s: s.office.agent("a b"))],
    "agents": [("bad_limit", lambda s: s.office.agents(limit=0)), ("bad_limit", lambda s: s.office.agents(limit=201))],
    "update_card": [
        ("owner_only", lambda s: s.office.update_card(s.bob, {"person": True})),
        ("invalid", lambda s: s.office.update_card(s.bob, {"colour": "red"})),
        ("invalid", lambda s: s.office.update_card(s.bob, {"capabilities": "all"})),
        ("invalid", lambda s: s.office.update_card(s.bob, {"allow_from": None})),
        ("bad_name", lambda s: s.office.update_card(s.bob, {"allow_from": ["a b"]})),
        ("owner_only", lambda s: s.office.update_card(s.bob, {"description": "x"}, of="alice")),
        ("no_such_agent", lambda s: s.office.update_card(s.owner, {"description": "x"}, of="nobody")),
    ],
    "ring": [
        ("no_such_agent", lambda s: s.office.ring(s.owner, "nobody")),
        ("forbidden", lambda s: s.office.ring(s.eve, "bob")),
    ],
    "pause": [
        ("bad_limit", lambda s: s.office.pause(s.bob, LESS_THAN_NOTHING)),
        ("invalid", lambda s: s.office.pause(s.bob, until=datetime(2030, 1, 1))),  # noqa: DTZ001 - that is what is wrong with it
        ("bad_text", lambda s: s.office.pause(s.bob, reason="\x00")),
        ("owner_only", lambda s: s.office.pause(s.eve, of="bob")),
    ],
    "resume": [
        ("owner_only", lambda s: s.office.resume(s.eve, of="bob")),
        ("no_such_agent", lambda s: s.office.resume(s.owner, of="nobody")),
    ],
    "forget": [
        ("owner_only", lambda s: s.office.forget(s.bob, "nobody")),
        ("no_such_agent", lambda s: s.office.forget(s.owner, "nobody")),
        ("not_forgotten", lambda s: s.office.forget(s.owner, "bob")),
        ("bad_name", lambda s: s.office.forget(s.owner, "a b")),
    ],
    "leave": [],
    "rotate_key": [
        ("bad_limit", lambda s: s.office.rotate_key(s.owner, of="bob", overlap=LESS_THAN_NOTHING)),
        ("bad_limit", lambda s: s.office.rotate_key(s.owner, of="bob", overlap=TOO_LONG)),
        ("owner_only", lambda s: s.office.rotate_key(s.bob, of="alice")),
        ("no_such_agent", lambda s: s.office.rotate_key(s.owner, of="nobody")),
    ],
    "add_key": [
        ("owner_only", lambda s: s.office.add_key(s.bob)),
        ("no_such_agent", lambda s: s.office.add_key(s.owner, of="nobody")),
    ],
    "revoke_keys": [
        ("no_such_key", lambda s: s.office.revoke_keys(s.bob)),
        ("owner_only", lambda s: s.office.revoke_keys(s.bob, of="alice")),
        ("no_such_agent", lambda s: s.office.revoke_keys(s.owner, of="nobody")),
    ],
    "keys": [("owner_only", lambda s: s.office.keys(s.bob, of="alice")), ("bad_name", lambda s: s.office.keys(s.owner, of="a b"))],
    "request_connection": [
        ("to_oneself", lambda s: s.office.request_connection(s.bob, "BOB")),
        ("bad_name", lambda s: s.office.request_connection(s.bob, "a b")),
        ("no_such_agent", lambda s: s.office.request_connection(s.bob, "nobody")),
        ("too_large", lambda s: s.office.request_connection(s.bob, "alice", "x" * 501)),
        ("bad_text", lambda s: s.office.request_connection(s.bob, "alice", "\x00")),
    ],
    "approve_connection": [
        ("no_such_code", lambda s: s.office.approve_connection(s.bob, "AA-000")),
        ("no_such_code", lambda s: s.office.approve_connection(s.bob, "nonsense")),
    ],
    "approve_for": [
        ("owner_only", lambda s: s.office.approve_for(s.bob, NO_ID)),
        ("no_such_connection", lambda s: s.office.approve_for(s.owner, NO_ID)),
        ("no_such_connection", lambda s: s.office.approve_for(s.owner, "nonsense")),
    ],
    "reject_connection": [
        ("no_such_connection", lambda s: s.office.reject_connection(s.bob, NO_ID)),
        ("no_such_connection", lambda s: s.office.reject_connection(s.bob, "nonsense")),
    ],
    "end_connection": [
        ("no_such_connection", lambda s: s.office.end_connection(s.bob, NO_ID)),
        ("no_such_connection", lambda s: s.office.end_connection(s.bob, "nonsense")),
    ],
    "connection": [
        ("no_such_connection", lambda s: s.office.connection(s.bob, "nonsense")),
        ("no_such_connection", lambda s: s.office.connection(s.owner, NO_ID)),
    ],
    "connections": [
        ("bad_cursor", lambda s: s.office.connections(s.bob, cursor="nonsense")),
        ("bad_limit", lambda s: s.office.connections(s.bob, limit=201)),
        ("owner_only", lambda s: s.office.connections(s.bob, everyone=True)),
    ],
    "send": [
        ("bad_name", letter(to="a b")),
        ("bad_name", letter(to=("bob", ""))),
        ("bad_message", letter(to=())),
        ("bad_message", letter(to=5)),
        ("bad_message", letter(to=("bob", "ALL"))),
        ("bad_message", letter(to=tuple(f"agent-{n}" for n in range(1001)))),
        ("bad_message", letter(content=None)),
        ("bad_message", letter(content=5)),
        ("bad_text", letter(content="\x00")),
        ("bad_message", letter(parts=("text",))),
        ("bad_message", letter(parts=({"type": "video"},))),
        ("bad_message", letter(parts=({"type": "text"},))),
        ("bad_message", letter(parts=({"type": "file", "path": 5},))),
        ("bad_text", letter(payload=float("nan"))),
        ("bad_limit", letter(priority=0)),
        ("bad_limit", letter(priority=6)),
        ("bad_limit", letter(ttl=-1)),
        ("bad_limit", letter(ttl=11)),
        ("too_large", letter(subject="x" * 256)),
        ("too_large", letter(client_id="x" * 256)),
        ("too_large", letter(content="x" * (1 << 20))),
        ("bad_message", letter(type=5)),
        ("bad_message", letter(type="task_update")),
        ("bad_message", letter(type="task.note")),
        ("bad_message", letter(task=TaskRef(deadline=datetime(2030, 1, 1)))),  # noqa: DTZ001 - without a zone is the point
        ("too_large", letter(task=TaskRef(id="x" * 256))),
        ("bad_message", letter(automatic=True)),
        ("one_recipient", letter(type="task", to="ALL")),
        ("one_recipient", letter(ask=Ask(), to="ALL")),
        ("bad_message", letter(ask=Ask(), type="task")),
        ("no_person", letter(ask=Ask())),
        ("one_recipient", letter(to=("bob", "eve"), session_id=NO_ID)),
        ("one_recipient", letter(to=("bob", "eve"), forward_of=NO_ID)),
        ("no_such_session", letter(session_id=NO_ID)),
        ("no_such_session", letter(session_id="nonsense")),
        ("no_such_message", letter(forward_of="nonsense")),
        ("no_such_session", lambda s: s.office.send(s.eve, Draft(to="bob", content="x", session_id=s.session))),
        ("not_admitted", letter(to="system")),
    ],
    "send_many": [("invalid", lambda s: s.office.send_many(s.alice, [Draft(to="bob", content="x")] * 101))],
    "note": [
        ("bad_name", lambda s: s.office.note(s.alice, "T-1", "task", "x", ["a b"])),
        ("too_large", lambda s: s.office.note(s.alice, "x" * 256, "task", "x")),
        ("bad_text", lambda s: s.office.note(s.alice, "T-1", "task", "\x00")),
        ("invalid", lambda s: s.office.note(s.alice, "T-1", "epic", "x")),
        ("invalid", lambda s: s.office.note(s.alice, "T-1", "Task", "x")),
    ],
    "receive": [
        ("bad_limit", lambda s: s.office.receive(s.bob, 0)),
        ("bad_limit", lambda s: s.office.receive(s.bob, 101)),
        ("bad_limit", lambda s: s.office.receive(s.bob, visible_for=timedelta(milliseconds=999))),
        ("bad_limit", lambda s: s.office.receive(s.bob, visible_for=timedelta(hours=12, seconds=1))),
        ("invalid", lambda s: s.office.receive(s.bob, settle=[Ack("x")] * 101)),
        ("no_such_session", lambda s: s.office.receive(s.bob, session_id="nowhere")),
    ],
    "wait": [
        ("bad_limit", lambda s: s.office.wait(s.bob, within=timedelta(seconds=241))),
        ("bad_limit", lambda s: s.office.wait(s.bob, within=LESS_THAN_NOTHING)),
        ("bad_limit", lambda s: s.office.wait(s.bob, 0)),
        ("no_such_session", lambda s: s.office.wait(s.bob, session_id="nowhere")),
    ],
    "pop": [("bad_limit", lambda s: s.office.pop(s.bob, 0)), ("bad_limit", lambda s: s.office.pop(s.bob, 101))],
    "settle": [("invalid", lambda s: s.office.settle(s.bob, [Ack("x")] * 101))],
    "ack": [
        ("no_such_message", lambda s: s.office.ack(s.bob, "nonsense")),
        ("no_such_message", lambda s: s.office.ack(s.eve, s.leased.message.id, s.leased.token)),
        ("lease_lost", lambda s: s.office.ack(s.bob, s.waiting, "token")),
        ("lease_lost", lambda s: s.office.ack(s.bob, s.waiting)),
        ("bad_text", lambda s: s.office.ack(s.bob, "\x00")),
    ],
    "cancel": [
        ("no_such_message", lambda s: s.office.cancel(s.bob, s.waiting)),
        ("no_such_message", lambda s: s.office.cancel(s.alice, NO_ID)),
        ("too_late_to_cancel", lambda s: s.office.cancel(s.alice, s.leased.message.id)),
        ("bad_text", lambda s: s.office.cancel(s.alice, "\x00")),
    ],
    "keep": [
        ("bad_limit", lambda s: s.office.keep(s.bob, [s.leased.message.id], TOO_LONG)),
        ("bad_text", lambda s: s.office.send(s.bob, Draft(to="alice", content="x", reply_to="\x00"))),
    ],
    "in_hand": [("bad_limit", lambda s: s.office.in_hand(s.bob, 0))],
    "seen": [
        ("persons_only", lambda s: s.office.seen(s.bob, s.waiting)),
        ("no_such_message", lambda s: s.office.seen(s.owner, s.waiting)),
        ("bad_text", lambda s: s.office.seen(s.owner, "\x00")),
    ],
    "questions": [
        ("owner_only", lambda s: s.office.questions(s.bob, everyone=True)),
        ("bad_cursor", lambda s: s.office.questions(s.bob, cursor="nonsense")),
        ("bad_limit", lambda s: s.office.questions(s.bob, limit=0)),
    ],
    "for_you": [("bad_limit", lambda s: s.office.for_you(s.owner, 0))],
    "question": [
        ("no_such_question", lambda s: s.office.question(s.owner, NO_ID)),
        ("no_such_question", lambda s: s.office.question(s.owner, "nonsense")),
        ("no_such_question", lambda s: s.office.question(s.owner, s.waiting)),
    ],
    "answer": [("no_such_question", lambda s: s.office.answer(s.owner, NO_ID, text="yes"))],
    "go_on": [("owner_only", lambda s: s.office.go_on(s.bob, NO_ID))],
    "withdraw_question": [("no_such_question", lambda s: s.office.withdraw_question(s.bob, NO_ID))],
    "all_seen": [
        ("persons_only", lambda s: s.office.all_seen(s.bob, [s.waiting])),
        ("bad_text", lambda s: s.office.all_seen(s.owner, ["\x00"])),
    ],
    "keep_unread": [
        ("persons_only", lambda s: s.office.keep_unread(s.bob, s.waiting)),
        ("no_such_message", lambda s: s.office.keep_unread(s.owner, NO_ID)),
    ],
    "done": [
        ("persons_only", lambda s: s.office.done(s.bob, s.waiting)),
        ("no_such_message", lambda s: s.office.done(s.owner, s.waiting)),
    ],
    "snooze": [
        ("persons_only", lambda s: s.office.snooze(s.bob, s.waiting)),
        ("no_such_message", lambda s: s.office.snooze(s.owner, s.waiting)),
        ("bad_limit", lambda s: s.office.snooze(s.owner, s.waiting, LESS_THAN_NOTHING)),
        ("bad_limit", lambda s: s.office.snooze(s.owner, s.waiting, timedelta(days=40_000))),
        ("invalid", lambda s: s.office.snooze(s.owner, s.waiting, until=datetime(2100, 1, 1))),  # noqa: DTZ001 - without a zone is the point
    ],
    "nack": [
        ("no_such_message", lambda s: s.office.nack(s.bob, NO_ID)),
        ("lease_lost", lambda s: s.office.nack(s.bob, s.waiting, "token")),
        ("bad_limit", lambda s: s.office.nack(s.bob, s.leased.message.id, s.leased.token, delay=LESS_THAN_NOTHING)),
        ("bad_limit", lambda s: s.office.nack(s.bob, s.leased.message.id, s.leased.token, delay=TOO_LONG)),
        ("bad_text", lambda s: s.office.nack(s.bob, s.leased.message.id, s.leased.token, reason="\x00")),
    ],
    "extend": [
        ("no_such_message", lambda s: s.office.extend(s.bob, NO_ID)),
        ("lease_lost", lambda s: s.office.extend(s.bob, s.waiting, None, "token")),
        ("bad_limit", lambda s: s.office.extend(s.bob, s.leased.message.id, timedelta(0), s.leased.token)),
        ("bad_limit", lambda s: s.office.extend(s.bob, s.leased.message.id, TOO_LONG, s.leased.token)),
    ],
    "lending.guest": [("bad_name", lambda s: s.office.lending.guest("a b")), ("reserved_name", lambda s: s.office.lending.guest("owner"))],
    "lending.lend": [
        ("bad_limit", lambda s: s.office.lending.lend(s.bob, 0, within=0)),
        ("bad_limit", lambda s: s.office.lending.lend(s.bob, 101, within=0)),
    ],
    "lending.lent": [
        ("bad_limit", lambda s: s.office.lending.lent(s.bob, limit=0)),
        ("bad_cursor", lambda s: s.office.lending.lent(s.bob, "x")),
    ],
    "give_back": [("invalid", lambda s: s.office.give_back(s.bob, [s.leased] * 101))],
    "inbox": [
        ("bad_cursor", lambda s: s.office.inbox(s.bob, "nonsense")),
        ("bad_cursor", lambda s: s.office.inbox(s.bob, "1.nonsense")),
        ("bad_cursor", lambda s: s.office.inbox(s.bob, f"{10**30}.{NO_ID}")),
        ("bad_limit", lambda s: s.office.inbox(s.bob, limit=0)),
        ("bad_limit", lambda s: s.office.inbox(s.bob, lines=-1)),
        ("owner_only", lambda s: s.office.inbox(s.bob, of="alice")),
    ],
    "history": [
        ("not_participant", lambda s: s.office.history(s.bob, "nonsense")),
        ("not_participant", lambda s: s.office.history(s.bob, NO_ID)),
        ("not_participant", lambda s: s.office.history(s.bob, NO_ID, before=NO_ID)),
        ("not_participant", lambda s: s.office.history(s.bob, "nonsense", peek=True)),
        ("no_such_session", lambda s: s.office.history(s.office.owner(), NO_ID)),
        ("not_participant", lambda s: s.office.history(s.eve, s.session)),
        ("bad_cursor", lambda s: s.office.history(s.bob, s.session, before="nonsense")),
        ("bad_cursor", lambda s: s.office.history(s.bob, s.session, before=NO_ID, peek=True)),
        ("bad_limit", lambda s: s.office.history(s.bob, s.session, limit=0)),
    ],
    "waiting": [
        ("bad_cursor", lambda s: s.office.waiting(s.bob, "nonsense")),
        ("bad_cursor", lambda s: s.office.waiting(s.bob, "3.nonsense")),
        ("bad_limit", lambda s: s.office.waiting(s.bob, limit=0)),
        ("owner_only", lambda s: s.office.waiting(s.bob, of="alice")),
    ],
    "waiting_in_roles": [("bad_limit", lambda s: s.office.waiting_in_roles(s.bob, limit=0))],
    "status": [
        ("no_such_message", lambda s: s.office.status(s.bob, "nonsense")),
        ("no_such_message", lambda s: s.office.status(s.bob, NO_ID)),
        ("no_such_message", lambda s: s.office.status(s.eve, s.waiting)),
    ],
    "search": [
        ("bad_query", lambda s: s.office.search(s.bob, "")),
        ("bad_query", lambda s: s.office.search(s.bob, "?!")),
        ("bad_text", lambda s: s.office.search(s.bob, "a\x00")),
        ("bad_name", lambda s: s.office.search(s.bob, "x", sender="a b")),
        ("bad_name", lambda s: s.office.search(s.bob, "x", recipient="")),
        ("no_such_session", lambda s: s.office.search(s.bob, "x", session_id="nonsense")),
        ("bad_cursor", lambda s: s.office.search(s.bob, "x", cursor="nonsense")),
        ("bad_limit", lambda s: s.office.search(s.bob, "x", limit=0)),
        ("owner_only", lambda s: s.office.search(s.bob, "x", everyone=True)),
    ],
    "notes": [("bad_cursor", lambda s: s.office.notes("T-1", "nonsense")), ("bad_limit", lambda s: s.office.notes("T-1", limit=0))],
    "about": [
        ("bad_cursor", lambda s: s.office.about(s.bob, "T-1", "nonsense")),
        ("bad_limit", lambda s: s.office.about(s.bob, "T-1", limit=0)),
        ("owner_only", lambda s: s.office.about(s.bob, "T-1", everyone=True)),
    ],
    "entities": [("bad_limit", lambda s: s.office.entities(limit=201))],
    "dead_letters": [
        ("bad_cursor", lambda s: s.office.dead_letters(s.bob, "nonsense")),
        ("bad_cursor", lambda s: s.office.dead_letters(s.owner, "nonsense", everyone=True)),
        ("bad_text", lambda s: s.office.dead_letters(s.owner, f"{NO_ID}.\0", everyone=True)),
        ("bad_limit", lambda s: s.office.dead_letters(s.bob, limit=0)),
        ("owner_only", lambda s: s.office.dead_letters(s.bob, everyone=True)),
    ],
    "requeue": [
        ("no_such_message", lambda s: s.office.requeue(s.bob, "nonsense")),
        ("not_dead", lambda s: s.office.requeue(s.bob, s.waiting)),
        ("owner_only", lambda s: s.office.requeue(s.eve, s.waiting, of="bob")),
    ],
    "discard": [
        ("no_such_message", lambda s: s.office.discard(s.bob, NO_ID)),
        ("not_dead", lambda s: s.office.discard(s.bob, s.waiting)),
        ("owner_only", lambda s: s.office.discard(s.eve, s.waiting, of="bob")),
    ],
    "update_task": [
        ("no_such_task", lambda s: s.office.update_task(s.bob, "nonsense", TaskState.FAILED)),
        ("not_assignee", lambda s: s.office.update_task(s.alice, s.task, TaskState.FAILED)),
        ("not_requester", lambda s: s.office.update_task(s.bob, s.task, TaskState.CANCELED)),
        ("task_final", lambda s: s.office.update_task(s.alice, s.task, TaskState.CANCELED)),
        ("task_final", lambda s: s.office.update_task(s.bob, s.task, TaskState.FAILED)),
        ("bad_text", lambda s: s.office.update_task(s.bob, s.task, TaskState.FAILED, Draft(to="alice", content="\x00"))),
        ("bad_limit", lambda s: s.office.update_task(s.bob, s.task, TaskState.FAILED, Draft(to="alice", content="x", priority=9))),
    ],
    "tasks": [
        ("forbidden", lambda s: s.office.tasks(s.eve, assignee="bob")),
        ("bad_cursor", lambda s: s.office.tasks(s.bob, cursor="nonsense")),
        ("bad_limit", lambda s: s.office.tasks(s.bob, limit=0)),
    ],
    "task": [("no_such_task", lambda s: s.office.task(s.bob, "nonsense")), ("no_such_task", lambda s: s.office.task(s.eve, s.task))],
    "news": [
        ("bad_limit", lambda s: s.office.news(s.bob, limit=0)),
        ("bad_limit", lambda s: s.office.news(s.bob, within=timedelta(seconds=241))),
        ("no_such_role", lambda s: s.office.news(s.bob, of="role:nobody")),
    ],
    "follow": [
        ("bad_limit", lambda s: s.office.follow(s.bob, 0, limit=0, within=timedelta(0))),
        ("bad_cursor", lambda s: s.office.follow(s.bob, -1, within=timedelta(0))),
    ],
    "all_news": [
        ("owner_only", lambda s: s.office.all_news(s.bob)),
        ("bad_cursor", lambda s: s.office.all_news(s.owner, "nonsense")),
        ("bad_cursor", lambda s: s.office.all_news(s.owner, "")),
        ("bad_limit", lambda s: s.office.all_news(s.owner, limit=0)),
    ],
    "counts": [
        ("owner_only", lambda s: s.office.counts(s.bob, of="alice")),
        ("no_such_agent", lambda s: s.office.counts(s.owner, of="nobody")),
    ],
    "publish": [
        ("bad_message", lambda s: s.office.publish(s.alice, Draft(to="bob"))),
        ("bad_name", lambda s: s.office.publish(s.alice, Draft(to="a b", content="x"))),
    ],
    "ledger.keep_account": [
        ("owner_only", lambda s: s.office.ledger.keep_account(s.bob, account())),
        ("invalid", lambda s: s.office.ledger.keep_account(s.owner, account(account_id="x"))),
        ("no_such_agent", lambda s: s.office.ledger.keep_account(s.owner, account(agent="nobody"))),
    ],
    "ledger.watch_topic": [
        ("owner_only", lambda s: s.office.ledger.watch_topic(s.bob, "0.0.7", "entity", "task")),
        ("invalid", lambda s: s.office.ledger.watch_topic(s.owner, "x", "entity", "task")),
    ],
    "ledger.quarantine": [
        ("owner_only", lambda s: s.office.ledger.quarantine(s.bob)),
        ("bad_limit", lambda s: s.office.ledger.quarantine(s.owner, limit=0)),
        ("bad_cursor", lambda s: s.office.ledger.quarantine(s.owner, f"0.0.1:{10**30}")),
    ],
    "ledger.records": [
        ("owner_only", lambda s: s.office.ledger.records(s.bob, "0.0.7")),
        ("bad_limit", lambda s: s.office.ledger.records(s.owner, "0.0.7", limit=0)),
    ],
    "roster": [("owner_only", lambda s: s.office.roster(s.bob)), ("bad_limit", lambda s: s.office.roster(s.owner, limit=0))],
    "glances": [("owner_only", lambda s: s.office.glances(s.bob)), ("bad_cursor", lambda s: s.office.glances(s.owner, "nonsense"))],
    "names": [("bad_limit", lambda s: s.office.names("a", 0)), ("too_large", lambda s: s.office.names("x" * 5000))],
    "talks": [("owner_only", lambda s: s.office.talks(s.bob)), ("bad_cursor", lambda s: s.office.talks(s.owner, "nonsense"))],
    "between": [
        ("owner_only", lambda s: s.office.between(s.bob, "alice", "carol")),
        ("bad_name", lambda s: s.office.between(s.owner, "", "x")),
    ],
    "customs": [("owner_only", lambda s: s.office.customs(s.bob))],
    "who_waits": [("owner_only", lambda s: s.office.who_waits(s.bob)), ("bad_limit", lambda s: s.office.who_waits(s.owner, 0))],
    "open_tasks": [("bad_cursor", lambda s: s.office.open_tasks(s.bob, TaskState.PENDING, "nonsense"))],
    "finished_tasks": [("bad_limit", lambda s: s.office.finished_tasks(s.bob, 0))],
    "speak_as": [("not_you", lambda s: s.office.speak_as(s.bob, "alice"))],
    "enter": [("bad_link", lambda s: s.office.enter("nonsense"))],
    "whose_link": [("bad_link", lambda s: s.office.whose_link("nonsense"))],
    "visitor": [("no_login", lambda s: s.office.visitor("nonsense")), ("no_login", lambda s: s.office.visitor(None))],
    "invites.make": [
        ("owner_only", lambda s: s.office.invites.make(s.bob, "carol")),
        ("bad_name", lambda s: s.office.invites.make(s.owner, "a b")),
        ("reserved_name", lambda s: s.office.invites.make(s.owner, "system")),
    ],
    "invites.accept": [
        ("bad_invite", lambda s: s.office.invites.accept("nonsense")),
        ("bad_invite", lambda s: s.office.invites.accept("")),
    ],
    "open_window": [
        ("invalid", lambda s: s.office.open_window(None, opening(folder=""))),
        ("invalid", lambda s: s.office.open_window(None, opening(client=""))),
        ("too_large", lambda s: s.office.open_window(None, opening(session="x" * 101))),
        ("bad_text", lambda s: s.office.open_window(None, opening(folder="\x00"))),
        ("bad_name", lambda s: s.office.open_window(None, opening(agent="a b"))),
        ("reserved_name", lambda s: s.office.open_window(None, opening(agent="system"))),
    ],
    "renew_window": [("no_such_window", lambda s: s.office.renew_window(s.bob, Renewal(id=NO_ID)))],
    "renew_windows": [("invalid", lambda s: s.office.renew_windows(s.bob, [Renewal(id=NO_ID)] * 101))],
    "close_window": [("no_such_window", lambda s: s.office.close_window(s.bob, NO_ID))],
    "begin_turn": [("no_such_window", lambda s: s.office.begin_turn(s.bob, NO_ID))],
    "rung": [
        ("no_such_window", lambda s: s.office.rung(s.bob, NO_ID, [s.waiting])),
        ("invalid", lambda s: s.office.rung(s.bob, NO_ID, [s.waiting] * 101)),
    ],
    "rung_in_vain": [
        ("no_such_window", lambda s: s.office.rung_in_vain(s.bob, NO_ID, [s.waiting])),
        ("invalid", lambda s: s.office.rung_in_vain(s.bob, NO_ID, [s.waiting] * 101)),
    ],
    "windows": [("bad_name", lambda s: s.office.windows("a b"))],
    "machines.make_key": [
        ("owner_only", lambda s: s.office.machines.make_key(s.bob, "laptop")),
        ("bad_name", lambda s: s.office.machines.make_key(s.owner, "a b")),
        ("reserved_name", lambda s: s.office.machines.make_key(s.owner, "system")),
    ],
    "machines.all": [("owner_only", lambda s: s.office.machines.all(s.bob))],
    "machines.revoke": [
        ("owner_only", lambda s: s.office.machines.revoke(s.bob, "laptop")),
        ("bad_name", lambda s: s.office.machines.revoke(s.owner, "a b")),
        ("no_such_key", lambda s: s.office.machines.revoke(s.owner, "laptop")),
    ],
    "totals": [],
}
# Verbs that take nothing but the caller cannot be called wrongly, and those that only bridges call never get words from outside.
CANNOT_BE_WRONG = {
    "has_called",
    "lending.borrowers",
    "at_window",
    "deeds",
    "drain",
    "heartbeat",
    "is_person",
    "for_you_count",
    "latest",
    "leave",
    "numbers",
    "owner",
    "ping",
    "totals",
    "make_link",
    "end_login",
    "place",
    "traffic",
    "watch",
}
CANNOT_BE_WRONG |= {
    "ledger.accounts",
    "ledger.posts",
    "ledger.status",
    "ledger.topics",
    "ledger.topic_cursors",
    "ledger.taken_ahead",
    "ledger.hold",
    "ledger.materialise",
}
CANNOT_BE_WRONG |= {
    "ledger.posts_due",
    "ledger.put_post",
    "ledger.settle_post",
    "ledger.sign_post",
    "foreign.opened",
    "foreign.openings",
    "foreign.open_connection",
    "ledger.keep_network",
    "routed",
    "event",
    "foreign.meet",
}
CANNOT_BE_WRONG |= {"foreign.answered", "foreign.ask", "foreign.asked", "foreign.closed"}


# Whatever text a verb takes as a name for something, unlike the texts above that it stores.
NAMES_OF_THINGS: dict[str, Callable[[Scene, str], Awaitable[Any]]] = {
    "agents": lambda s, bad: s.office.agents(cursor=bad),
    "revoke_keys": lambda s, bad: s.office.revoke_keys(s.bob, bad),
    "approve_connection": lambda s, bad: s.office.approve_connection(s.bob, bad),
    "approve_for": lambda s, bad: s.office.approve_for(s.owner, bad),
    "reject_connection": lambda s, bad: s.office.reject_connection(s.bob, bad),
    "connection": lambda s, bad: s.office.connection(s.bob, bad),
    "about": lambda s, bad: s.office.about(s.bob, bad),
    "end_connection": lambda s, bad: s.office.end_connection(s.bob, bad),
    "receive a session": lambda s, bad: s.office.receive(s.bob, session_id=bad),
    "receive a correlation": lambda s, bad: s.office.receive(s.bob, correlation_id=bad),
    "ack": lambda s, bad: s.office.ack(s.bob, bad, "token"),
    "seen": lambda s, bad: s.office.seen(s.owner, bad),
    "done": lambda s, bad: s.office.done(s.owner, bad),
    "question": lambda s, bad: s.office.question(s.owner, bad),
    "answer": lambda s, bad: s.office.answer(s.owner, bad, text="x"),
    "ack with a token": lambda s, bad: s.office.ack(s.bob, s.leased.message.id, bad),
    "history": lambda s, bad: s.office.history(s.bob, bad),
    "history peeked": lambda s, bad: s.office.history(s.bob, bad, peek=True),
    "status": lambda s, bad: s.office.status(s.bob, bad),
    "search by type": lambda s, bad: s.office.search(s.bob, "x", type=bad),
    "notes": lambda s, bad: s.office.notes(bad),
    "entities": lambda s, bad: s.office.entities(cursor=bad),
    "forget": lambda s, bad: s.office.forget(s.owner, bad),
    "windows": lambda s, bad: s.office.windows(bad),
    "open_window": lambda s, bad: s.office.open_window(None, opening(folder=bad)),
    "renew_window": lambda s, bad: s.office.renew_window(s.bob, Renewal(id=bad)),
    "close_window": lambda s, bad: s.office.close_window(s.bob, bad),
    "begin_turn": lambda s, bad: s.office.begin_turn(s.bob, bad),
    "rung": lambda s, bad: s.office.rung(s.bob, bad, [s.waiting]),
    "whose_link": lambda s, bad: s.office.whose_link(bad),
    "invites.accept": lambda s, bad: s.office.invites.accept(bad),
    "requeue": lambda s, bad: s.office.requeue(s.bob, bad),
    "discard": lambda s, bad: s.office.discard(s.bob, bad),
    "update_task": lambda s, bad: s.office.update_task(s.bob, bad, TaskState.FAILED),
    "tasks": lambda s, bad: s.office.tasks(s.owner, assignee=bad),
    "task": lambda s, bad: s.office.task(s.bob, bad),
    "all_news": lambda s, bad: s.office.all_news(s.owner, bad),
}
NUMBERS: dict[str, Callable[[Scene, int], Awaitable[Any]]] = {
    "news": lambda s, number: s.office.news(s.bob, after=number),
    "follow": lambda s, number: s.office.follow(s.bob, number, within=timedelta(0)),
}

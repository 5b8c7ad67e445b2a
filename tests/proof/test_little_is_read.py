"""What the office asks for every second, and with every take, costs no more where much is under way; nor does a page of a long list."""

from postoffice.store.reads.pages import first_id
from tests.engines import Engine
from tests.proof.reading import BEGIN, ID, MANY, MIDDLE, NOW, Asked, too_much

_HOUR = 3_600_000_000
_LATER = NOW + _HOUR
_UNDER_WAY = {
    "messages (id, sender, type, created_at, body)": f"{ID}, 'alice', 'message', 1, '{{{{}}}}' FROM n",
    "deliveries (id, message_id, mailbox, number, priority, state, sender, type, due_at, created_at)": (
        f"{{row}}, {ID}, 'bob', i, 3, 'leased', 'alice', 'message', {_LATER} + i, 1 FROM n"
    ),
    "tasks (message_id, id, requester, assignee, state, subject, deadline, steps, created_at, updated_at)": (
        f"{ID}, 'task-' || CAST(i AS text), 'alice', 'bob', 'pending', '', {_LATER} + i, '[]', 1, 1 FROM n"
    ),
    "connections (id, requester, target, status, code, created_at, updated_at, expires_at)": (
        f"{ID}, 'alice', 'agent-' || CAST(i AS text), 'PENDING', 'code-' || CAST(i AS text), 1, 1, {_LATER} + i FROM n"
    ),
    "ledger_outbox (id, topic_id, memo, payer, body, state, attempts, due_at, created_at)": (
        "'post-' || CAST(i AS text), '0.0.' || CAST(i % 3 AS text), '', '0.0.1', '', 'waiting', 0, 1, i FROM n"
    ),
}
_ALWAYS: tuple[Asked, ...] = (
    ("due", (100,)),
    ("tasks_by_ref", ("task-7",)),
    ("expired_requests", {"limit": 100}),
    ("overdue_tasks", {"limit": 100}),
    ("posts_due", {"limit": 50}),
)

_SESSION = f"{BEGIN}7000-8000-100000000002"
"""Of agent-1 and agent-2."""
_AGENT = "'agent-' || CAST(i AS text)"
_DONE = {
    "agents (agent, name, id, card, created_at)": f"{_AGENT}, {_AGENT}, {ID}, '{{{{}}}}', 1 FROM n",
    "connections (id, requester, target, status, code, created_at, updated_at, expires_at)": (
        f"{ID}, CASE i % 3 WHEN 0 THEN 'agent-1' ELSE {_AGENT} END, CASE i % 3 WHEN 0 THEN {_AGENT} ELSE 'agent-1' END, 'ACTIVE', '', 1, 1, 1 FROM n"
    ),
    "sessions (id, low, high, subject, subject_key, counted, unread_low, unread_high, replies_left, created_at, last_at)": (
        f"{ID}, 'agent-1', {_AGENT}, '', '', 1, 1, 1, 1, 1, i FROM n"
    ),
    "messages (id, sender, type, ref_id, created_at, body)": f"{ID}, 'agent-1', 'case.note', 'case', {NOW}, '{{{{}}}}' FROM n",
    "deliveries (id, message_id, mailbox, number, priority, state, sender, type, session_id, session_number, created_at)": (
        f"{{row}}, {ID}, 'agent-2', i, 3, 'pending', 'agent-1', 'message', CAST('{_SESSION}' AS {{id}}), i, 1 FROM n"
    ),
    "events (mailbox, number, kind, ref, data, at)": "CASE i % 3 WHEN 0 THEN 'agent-1' ELSE 'agent-2' END, i, 'note', '', '{{}}', 1 FROM n",
    "tasks (message_id, id, requester, assignee, state, subject, steps, created_at, updated_at)": (
        f"{ID}, 'task-' || CAST(i AS text), 'agent-1', 'agent-2', 'completed', '', '[]', 1, 1 FROM n"
    ),
    "ledger_accounts (agent, account_id, inbound_topic_id, outbound_topic_id, created_at)": (
        f"{_AGENT}, {_AGENT}, {_AGENT}, CASE i WHEN 3 THEN NULL ELSE 'topic' END, 1 FROM n WHERE i < 4"
    ),
    "ledger_outbox (id, topic_id, memo, body, state, attempts, due_at, created_at)": f"{_AGENT}, '', '', '', 'confirmed', 1, 1, 1 FROM n",
    "ledger_records (topic_id, sequence, payer, at, verdict, seen_at)": "'agent-1', i, 'agent-3', '', 'asked', 1 FROM n",
}
_LAST = "ffffffff-ffff-ffff-ffff-ffffffffffff"
_PAGE = {"before": MIDDLE, "limit": 21}
_RARE = {"before": _LAST, "limit": 21}
"""The first page of what is not there, or hardly."""
_SEARCH = {**dict.fromkeys(("reader", "other", "sender", "recipient", "session", "type", "since", "until")), "query": "hello", **_PAGE}
_LISTS: tuple[Asked, ...] = (
    ("connections", {"status": None, **_PAGE}),
    ("connections_of", {"agent": "agent-1", "status": None, **_PAGE}),
    ("connections_of", {"agent": "agent-7", "status": None, **_RARE}),
    ("connected", ("agent-1", "agent-7")),
    ("requests", _RARE),
    ("requests_of", ("agent-1",)),
    ("requests_with", {"agent": "agent-1", **_RARE}),
    ("tasks", {"state": None, **_PAGE}),
    ("tasks_asked_of", {"assignee": "agent-2", "state": None, **_PAGE}),
    ("tasks_asked_of", {"assignee": "agent-7", "state": None, **_RARE}),
    ("tasks_asked_by", {"requester": "agent-1", "state": None, **_PAGE}),
    ("tasks_asked_by", {"requester": "agent-7", "state": None, **_RARE}),
    ("tasks_between", {"assignee": "agent-7", "requester": "agent-7", "state": None, **_RARE}),
    ("finished_tasks", _PAGE),
    ("notes", {"entity": "case", **_PAGE}),
    ("about_entity", {"entity": "case", "reader": None, **_PAGE}),
    ("glances", _PAGE),
    ("talks", {"waiting": 0, "most": 21, **_PAGE}),
    ("sessions_between", {"low": "agent-1", "high": "agent-2", "subject": None, "limit": 40}),
    ("mailbox", {"agent": "agent-2", "priority": 3, "number": MANY // 2, "limit": 21}),
    ("inbox_unread_of_many", {"agent": "agent-1", "before": MANY // 2, "before_id": _SESSION, "limit": 21, "lines": 1}),
    ("events", {"agent": "agent-1", "after": MANY // 2, "limit": 21}),
    ("lines", (_SESSION, MANY // 2, 21, "")),
    ("lines", (_SESSION, MANY // 2, 21, "agent-2")),
    ("lines", (_SESSION, MANY // 2, 21, "agent-1")),
    ("session_number", {"session": _SESSION, "message": MIDDLE}),
    ("search", _SEARCH),
    ("search", {**_SEARCH, "session": _SESSION}),
    ("search_among", {"query": "hello", "ids": [MIDDLE]}),
    ("search_among_begun", {"query": "hello", "ids": [MIDDLE]}),
    ("search_filtered", {**_SEARCH, "after": first_id(0), "most": 30}),
    ("search_filtered", {**_SEARCH, "sender": "nobody", "after": first_id(0), "most": 30}),
    ("bodies", {"ids": [MIDDLE]}),
    ("purgeable", {"age": _HOUR, "young": first_id(NOW - _HOUR), "ahead": first_id(NOW + _HOUR), "limit": 200}),
    ("openings", {}),
    ("post_troubles", {}),
)


async def test_what_is_asked_all_the_time_passes_over_what_is_not_due(engine: Engine) -> None:
    assert await too_much(engine, _UNDER_WAY, None, _ALWAYS) == {}


async def test_a_page_of_a_long_list_reads_little_more_than_it_shows(engine: Engine) -> None:
    assert await too_much(engine, _DONE, "hello", _LISTS) == {}

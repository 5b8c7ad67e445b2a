"""What the office asks for every second, and with every take, costs no more where much is under way."""

import json
import sqlite3
import time
from typing import Any

import asyncpg
import pytest

from postoffice.store import sql
from postoffice.store.committer import SESSION
from tests.engines import Engine, PostgresEngine, SQLiteEngine

_MANY = 3000
_READ = 1000
"""Rows that a statement may look at: far fewer than there are."""
_STEPS = 200
"""Hundreds of SQLite's own steps: to pass over a row takes some ten."""
_NUMBERS = f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {_MANY})"
_ID = "CAST('00000000-0000-7000-8000-' || CAST(100000000000 + i AS text) AS {id})"
_FILL = {
    "messages (id, sender, type, created_at, body)": f"{_ID}, 'alice', 'message', 1, '{{{{}}}}'",
    "deliveries (id, message_id, mailbox, number, priority, state, sender, type, due_at, created_at)": (
        f"{{row}}, {_ID}, 'bob', i, 3, 'leased', 'alice', 'message', {{later}} + i, 1"
    ),
    "tasks (message_id, id, requester, assignee, state, subject, deadline, steps, created_at, updated_at)": (
        f"{_ID}, 'task-' || CAST(i AS text), 'alice', 'bob', 'pending', '', {{later}} + i, '[]', 1, 1"
    ),
    "connections (id, requester, target, status, code, created_at, updated_at, expires_at)": (
        f"{_ID}, 'alice', 'agent-' || CAST(i AS text), 'PENDING', 'code-' || CAST(i AS text), 1, 1, {{later}} + i"
    ),
    "ledger_outbox (id, topic_id, memo, payer, body, state, attempts, due_at, created_at)": (
        "'post-' || CAST(i AS text), '0.0.' || CAST(i % 3 AS text), '', '0.0.1', '', 'waiting', 0, 1, i"
    ),
}
_ASKED: dict[str, tuple[object, ...]] = {
    "due": (100,),
    "tasks_by_ref": ("task-7",),
    "expired_requests": (100,),
    "overdue_tasks": (100,),
    "posts_due": (50,),
}


@pytest.mark.parametrize("name", _ASKED)
async def test_what_is_asked_all_the_time_passes_over_what_is_not_due(engine: Engine, name: str) -> None:
    if isinstance(engine, SQLiteEngine):
        assert _steps(engine, name) < _STEPS
    else:
        assert isinstance(engine, PostgresEngine)
        assert await _rows(engine, name) < _READ


def _filling(**words: object) -> list[str]:
    return [f"INSERT INTO {into} {_NUMBERS} SELECT {values.format(**words)} FROM n" for into, values in _FILL.items()]


def _steps(engine: SQLiteEngine, name: str) -> int:
    """How many hundreds of steps SQLite's machine makes for a statement."""
    connection = sqlite3.connect(engine.path)
    connection.create_function("office_now", 0, engine.clock.now)
    for statement in _filling(id="text", row="i", later=engine.clock.now() + 3_600_000_000):
        connection.execute(statement)
    hundreds: list[int] = []
    connection.set_progress_handler(lambda: hundreds.append(1), 100)
    text, names = sql.numbered(sql.load("sqlite", {"false": "0", "id": "text"})[name])
    connection.execute(text.replace("$", "?") if names else text, _ASKED[name]).fetchall()
    connection.close()
    return len(hundreds)


async def _rows(engine: PostgresEngine, name: str) -> int:
    """How many rows PostgreSQL looks at for a statement, planned as it is for the office."""
    connection = await asyncpg.connect(engine.url, server_settings={"search_path": "postoffice", **SESSION}, statement_cache_size=0)
    try:
        for statement in _filling(id="uuid", row=_ID.format(id="uuid"), later=int(time.time() * 1e6) + 3_600_000_000):
            await connection.execute(statement)
        await connection.execute("ANALYZE")
        text, names = sql.numbered(sql.load("postgresql", {"false": "false", "id": "uuid", "longest": "0"})[name])
        asked = _ASKED[name] if names else tuple([key] for key in _ASKED[name])
        ((plan,),) = await connection.fetch(f"EXPLAIN (ANALYZE, FORMAT JSON) {text}", *asked)
    finally:
        await connection.close()
    return _looked_at(json.loads(plan)[0]["Plan"])


def _looked_at(node: dict[str, Any]) -> int:
    here = node["Actual Rows"] + node.get("Rows Removed by Filter", 0)
    return int(here * node["Actual Loops"]) + sum(_looked_at(part) for part in node.get("Plans", ()))

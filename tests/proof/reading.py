"""How much of a full database a statement looks at, on either engine: counted, not timed."""

import json
import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import asyncpg

from postoffice.store import sql
from postoffice.store.postgres.committer import SESSION
from postoffice.store.reads.pages import first_id
from tests.engines import Engine, PostgresEngine, SQLiteEngine

MANY = 3000
"""Rows that each table is filled with."""
NOW = int(time.time() * 1e6)
BEGIN = first_id(NOW)[:14]
"""How the ids begin that are made now."""
ID = f"CAST('{BEGIN}7000-8000-' || CAST(100000000000 + i AS text) AS {{id}})"
"""The id of a row, in the order of the rows."""
MIDDLE = f"{BEGIN}7000-8000-{100_000_000_000 + MANY // 2}"
_ROWS = 1000
"""Rows that PostgreSQL may look at: far fewer than there are."""
_STEPS = 80
"""Hundreds of SQLite's own steps: to pass over a row takes some five."""
_NUMBERS = f"WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {MANY})"
Asked = tuple[str, Mapping[str, object] | Sequence[object]]
"""A statement's name, and what it is asked by name or, where it is asked for many keys at once, the one key."""


async def too_much(engine: Engine, fill: Mapping[str, str], said: str | None, asked: Iterable[Asked]) -> dict[str, int]:
    """The statements that look at more than they may, and at how much.

    `fill` says of each table's columns what they get for each `i` of `n`; `said` is what all messages say.
    """
    if isinstance(engine, SQLiteEngine):
        counts, most = _steps(engine, fill, said, asked), _STEPS
    else:
        assert isinstance(engine, PostgresEngine)
        counts, most = await _rows(engine, fill, said, asked), _ROWS
    return {what: count for what, count in counts.items() if count >= most}


def _filling(fill: Mapping[str, str], **words: str) -> list[str]:
    return [f"INSERT INTO {into} {_NUMBERS} SELECT {values.format(**words)}" for into, values in fill.items()]


def _steps(engine: SQLiteEngine, fill: Mapping[str, str], said: str | None, asked: Iterable[Asked]) -> dict[str, int]:
    """How many hundreds of steps SQLite's machine makes for each statement."""
    connection = sqlite3.connect(engine.path)
    connection.create_function("office_now", 0, engine.clock.now)
    for statement in _filling(fill, id="text", row="i"):
        connection.execute(statement)
    if said is not None:
        connection.execute("INSERT INTO search (rowid, text) SELECT n, ? FROM messages", (said,))
    statements = sql.load("sqlite", {"false": "0", "true": "1", "id": "text"})
    connection.execute(statements["note_filed"])
    hundreds: list[int] = []
    connection.set_progress_handler(lambda: hundreds.append(1), 100)
    counts: dict[str, int] = {}
    for name, given in asked:
        hundreds.clear()
        fitting = (
            {key: json.dumps(value) if isinstance(value, list) else value for key, value in given.items()}
            if isinstance(given, Mapping)
            else given
        )
        connection.execute(statements[name], fitting).fetchall()
        counts[f"{name} {given}"] = len(hundreds)
    connection.close()
    return counts


async def _rows(engine: PostgresEngine, fill: Mapping[str, str], said: str | None, asked: Iterable[Asked]) -> dict[str, int]:
    """How many rows PostgreSQL looks at for each statement, planned as it is for the office: before it is known what is asked."""
    connection = await asyncpg.connect(engine.url, server_settings={"search_path": "postoffice", **SESSION}, statement_cache_size=0)
    try:
        for statement in _filling(fill, id="uuid", row=ID.format(id="uuid")):
            await connection.execute(statement)
        if said is not None:
            await connection.execute("INSERT INTO search (message_id, text) SELECT id, $1 FROM messages", said)
        await connection.execute("VACUUM ANALYZE")  # earlier tests have left rows that are dead, which would count in the plans
        statements = sql.load("postgres", {"false": "false", "true": "true", "id": "uuid", "longest": "0"})
        counts: dict[str, int] = {}
        for name, given in asked:
            text, names = sql.numbered(statements[name])
            values = [given[key] for key in names] if isinstance(given, Mapping) else [given] if names else [[key] for key in given]
            await connection.execute(f"PREPARE asked AS {text}")
            ((plan,),) = await connection.fetch(f"EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE asked{_literal(tuple(values)) if values else ''}")
            await connection.execute("DEALLOCATE asked")
            counts[f"{name} {given}"] = _looked_at(json.loads(plan)[0]["Plan"])
    finally:
        await connection.close()
    return counts


def _literal(value: object) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))})"
    if isinstance(value, list):
        return f"'{{{','.join(map(str, value))}}}'"  # of whatever type is asked for
    return "NULL" if value is None else str(value) if isinstance(value, int) else f"'{value}'"


def _looked_at(node: dict[str, Any]) -> int:
    here = node["Actual Rows"] + node.get("Rows Removed by Filter", 0) + node.get("Rows Removed by Join Filter", 0)
    return int(here * node["Actual Loops"]) + sum(_looked_at(part) for part in node.get("Plans", ()))

"""Seed 001's own design, written anew from its description: FastMCP, one table, one SQLite transaction for each call.

Run by an environment of its own: `.venv-seed001/bin/python -m bench.seed001 FILE PORT`. It has what the description leaves out where that
would only be to its harm: an index for its pop, one connection that stays open, and the fastest web server there is for it. Its tools are
plain functions, which FastMCP runs in threads: that was the faster way, for a commit then holds up nobody's parsing.

One tool is not the seed's: `ack_mail`. The seed pops, and what is popped and not handled is lost; this is what its design costs with the promise
that ours keeps.
"""

import re
import sqlite3
import sys
import threading
import uuid
from datetime import UTC, datetime
from typing import Any

import uvicorn
from fastapi import FastAPI
from fastmcp import FastMCP  # type: ignore[import-not-found]  # it lives in an environment of its own
from fastmcp.server.dependencies import get_http_request  # type: ignore[import-not-found]
from fastmcp.server.http import create_streamable_http_app  # type: ignore[import-not-found]

from bench.scratch import check_durable

_SCHEMA = """
CREATE TABLE IF NOT EXISTS messages (
  id TEXT PRIMARY KEY, from_agent TEXT, to_agent TEXT NOT NULL, content TEXT NOT NULL, created TIMESTAMP NOT NULL, done INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS messages_waiting ON messages (to_agent, done, created);
"""
_INSERT = "INSERT OR IGNORE INTO messages VALUES (?, ?, ?, ?, ?, 0)"
_OLDEST = "SELECT id, from_agent, content FROM messages WHERE to_agent = ? AND done = 0 ORDER BY created LIMIT 1"
_NAME = re.compile(r"[A-Za-z0-9._~-]+")


class Mailbox:
    """The table."""

    def __init__(self, path: str) -> None:
        self._lock = threading.Lock()
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        self._connection.executescript(_SCHEMA)
        check_durable(self._connection)

    def send_to_agent(self, name: str, msg: str, msg_id: str | None = None) -> str:
        """Put a message into another agent's mailbox."""
        if not _NAME.fullmatch(name):
            message = "name must not be empty, and safe in an address"
            raise ValueError(message)
        id, me = msg_id or str(uuid.uuid4()), _who_am_i()
        with self._lock:
            self._connection.execute(_INSERT, (id, me, name, msg, datetime.now(UTC).isoformat()))
        return id

    def check_mail(self) -> dict[str, str] | None:
        """Take the oldest message out of the mailbox."""
        me, run = _who_am_i(), self._connection.execute
        with self._lock:
            run("BEGIN IMMEDIATE")
            try:
                row = run(_OLDEST, (me,)).fetchone()
                if row is not None:
                    run("UPDATE messages SET done = 1 WHERE id = ?", (row[0],))
            finally:
                run("COMMIT")
        return None if row is None else {"id": row[0], "from": row[1], "content": row[2]}

    def ack_mail(self, id: str) -> bool:
        """Be done with a message that was taken."""
        me = _who_am_i()
        with self._lock:
            return (
                self._connection.execute("UPDATE messages SET done = 2 WHERE id = ? AND to_agent = ? AND done = 1", (id, me)).rowcount == 1
            )


def _who_am_i() -> str:
    return str(get_http_request().path_params["agent"])


def create_api(path: str) -> FastAPI:
    """The root application with the one below it."""
    mailbox, mcp = Mailbox(path), FastMCP("generic")
    mcp.tool(mailbox.send_to_agent)
    mcp.tool(mailbox.check_mail)
    mcp.tool(mailbox.ack_mail)
    below: Any = create_streamable_http_app(server=mcp, streamable_http_path="/{agent}/mcp/", json_response=True)
    api = FastAPI(lifespan=below.lifespan)
    api.add_api_route("/health", lambda: {"status": "ok"})
    api.mount("/agents", below)
    return api


if __name__ == "__main__":
    uvicorn.run(
        create_api(sys.argv[1]), port=int(sys.argv[2]), loop="uvloop", http="httptools", ws="none", log_config=None, access_log=False
    )

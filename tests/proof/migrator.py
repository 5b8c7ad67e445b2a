"""A process that brings a database to the newest schema, or fails or dies on the way if it is told to."""

import asyncio
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

from postoffice.store.migrations import script
from postoffice.store.migrations.upgrade import run_alembic
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store


def die_after(count: int) -> None:
    """Have this process killed when it has done so many statements of an SQLite script."""
    statements = script._statements

    def cut(script: str) -> Iterator[str]:
        for number, statement in enumerate(statements(script)):
            if number == count:
                os.kill(os.getpid(), signal.SIGKILL)
            yield statement

    script._statements = cut


async def start(path: Path) -> None:
    """Start on an SQLite file, as the office does: whatever is missing is made."""
    store = Store(SQLite(path))
    await store.open(lambda _: None)
    await store.close()


def main(target: str, scripts: str = "", count: str = "") -> None:
    if scripts:
        script._VERSIONS = Path(scripts)
    if count:
        die_after(int(count))
    if target.startswith("postgresql"):
        run_alembic(target, schema="postoffice", inbox_schema="postoffice")
    else:
        asyncio.run(start(Path(target)))


if __name__ == "__main__":
    main(*sys.argv[1:])

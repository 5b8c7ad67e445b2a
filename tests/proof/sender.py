"""A process that sends messages one after another and says ACK after each answer. Made to be watched from outside."""

import asyncio
import os
import sys
from pathlib import Path

from postoffice.core.draft import Draft
from postoffice.office import OfficeRules, PostOffice
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake


async def main(path: Path, synchronous: str, count: int) -> None:
    async with PostOffice(Store(SQLite(path, synchronous=synchronous)), LocalWake(), OfficeRules(tick=3600)) as office:
        alice = await office.identify(name="alice")
        for number in range(count):
            accepted = await office.send(alice, Draft(to="bob", content=f"Message {number}. " + "x" * 240_000))
            os.write(1, f"ACK {accepted.message_id}\n".encode())
        # The power goes out here: nothing is closed.
        os._exit(0)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))

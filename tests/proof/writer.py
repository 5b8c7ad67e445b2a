"""A process that sends, takes and settles as fast as it can, and says aloud only what was answered. Made to be killed."""

import asyncio
import itertools
import os
import sys
from pathlib import Path

from postoffice.core.draft import Draft
from postoffice.core.limits import Limits
from postoffice.office import OfficeRules, PostOffice
from postoffice.store.sqlite.engine import SQLite
from postoffice.store.store import Store
from postoffice.wake.local import LocalWake

READERS = ("ada", "bob", "cy")
SENDERS = ("sam", "sue", "sid", "ann", "art", "amy")
LIMITS = Limits(depth=1_000_000)


def draft_for(client_id: str) -> Draft:
    """What a sender says under its own id: the same whenever it says it again."""
    number = int(client_id.rsplit("-", 1)[1])
    to: str | tuple[str, ...] = READERS if number % 10 == 0 else READERS[number % 3]
    return Draft(to=to, subject=f"subject {number % 7}", content=f"This is {client_id}.", client_id=client_id)


def say(*words: str) -> None:
    """One line, written at once."""
    os.write(1, (" ".join(words) + "\n").encode())


async def send(office: PostOffice, name: str, run: str) -> None:
    caller = await office.identify(name=name)
    for number in itertools.count(1):
        client_id = f"{name}-{run}-{number}"
        say("trying", client_id)
        accepted = await office.send(caller, draft_for(client_id))
        say("sent", client_id, accepted.message_id)


async def take(office: PostOffice, name: str) -> None:
    caller = await office.identify(name=name)
    for number in itertools.count(1):
        if number % 5 == 0:
            for leased in await office.pop(caller, 3):
                say("settled", name, leased.message.id)
            continue
        for leased in (await office.receive(caller, 4)).leased:
            if leased.number % 4:  # the rest is left in hand
                await office.ack(caller, leased.message.id, leased.token)
                say("settled", name, leased.message.id)
        await asyncio.sleep(0.01)


async def main(path: Path, run: str) -> None:
    async with PostOffice(Store(SQLite(path, limits=LIMITS)), LocalWake(), OfficeRules(limits=LIMITS, tick=0.05)) as office:
        say("ready", str(os.getpid()))
        await asyncio.gather(*(send(office, name, run) for name in SENDERS), *(take(office, name) for name in READERS))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))

"""A server stands still in the middle of a transaction: the others go on without it."""

import asyncio
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path

import asyncpg
import pytest

from tests.chaos.caller import Caller
from tests.chaos.conftest import POSTGRES
from tests.chaos.ground import PostgresGround
from tests.chaos.history import Scribe
from tests.chaos.office import Replica, opened

SENDERS, TRIES = 8, 500
FREE = "SELECT 1 FROM postoffice.mailboxes WHERE agent = 'bob' FOR UPDATE NOWAIT"


async def send_on(sender: Caller) -> None:
    for number in count():
        await sender.send("bob", f"{sender.agent}-{number}", "On and on.")


async def freeze_inside(replica: Replica, database: asyncpg.Connection) -> None:
    """Freeze it at a moment when it has the mailbox locked that others write to."""
    for _ in range(TRIES):
        replica.freeze()
        await asyncio.sleep(0.05)
        try:
            await database.fetch(FREE)
        except asyncpg.LockNotAvailableError:
            return
        replica.thaw()
        await asyncio.sleep(0.01)
    pytest.fail("it was never frozen inside a transaction")


@pytest.mark.chaos
@POSTGRES
@pytest.mark.timeout(300)
async def test_a_server_frozen_inside_a_transaction_does_not_keep_the_others_from_the_mail(ground: PostgresGround, tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        frozen, other = await stack.enter_async_context(opened(*ground.replicas()))
        scribe = await stack.enter_async_context(Scribe(tmp_path / "own.history"))
        enter = stack.enter_async_context
        senders = [await enter(Caller(scribe, f"sender-{n}", f"sender-{n}", [frozen.url], 600)) for n in range(SENDERS)]
        ann = await enter(Caller(scribe, "ann", "ann", [other.url], 50))
        sending = [asyncio.create_task(send_on(sender)) for sender in senders]
        database = await asyncpg.connect(ground.url)
        try:
            await freeze_inside(frozen, database)
            assert [(await ann.send(to, f"{to}-1", "Do you hear me?")).outcome for to in ("bob", "cy")] == ["answered", "answered"]
        finally:
            await database.close()
            frozen.thaw()
            for task in sending:
                task.cancel()
            await asyncio.gather(*sending, return_exceptions=True)

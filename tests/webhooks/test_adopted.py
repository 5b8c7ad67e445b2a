"""A backup on another PostgreSQL server: its log is numbered anew, and webhooks are told what they were not told yet."""

import asyncpg

from postoffice.core.event import Kind
from postoffice.office import OfficeRules, PostOffice
from postoffice.wake.local import LocalWake
from tests.engines import PostgresEngine, PostgresServer
from tests.mail import people, write
from tests.webhooks.receiver import Receiver
from tests.webhooks.test_telling import telling, until

_FROM_A_BUSIER_SERVER = """
UPDATE postoffice.events SET tx = (tx::text::bigint + 1000000000)::text::xid8;
UPDATE postoffice.webhooks SET place = (split_part(place, '.', 1)::bigint + 1000000000)::text || '.' || split_part(place, '.', 2);
"""


async def test_what_was_untold_when_a_backup_was_made_is_told_by_another_server(postgres: PostgresServer, receiver: Receiver) -> None:
    url = await postgres.borrow()
    engine = PostgresEngine(url)
    async with PostOffice(engine.store(), LocalWake(), OfficeRules(tick=3600)) as office:
        (alice, _) = await people(office, "alice", "bob")
        await write(office, alice, "bob", subject="before")
        await office.webhooks.add(office.owner(), "ci", receiver.url, events=[Kind.NEW_MESSAGE])
        await write(office, alice, "bob", subject="untold")
    connection = await asyncpg.connect(url)
    await connection.execute(_FROM_A_BUSIER_SERVER)
    await connection.close()
    async with PostOffice(engine.store(), LocalWake(), OfficeRules(tick=3600)) as office, telling(office):
        await until(lambda: receiver.taken)
        (alice,) = await people(office, "alice")
        await write(office, alice, "bob", subject="after")
        await until(lambda: len(receiver.taken) == 2)
    await postgres.give_back(url)
    assert [got.told["data"]["message"]["subject"] for got in receiver.taken] == ["untold", "after"]

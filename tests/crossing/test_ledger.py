"""The ledger's row of the crossing: sent by `send_message` over a ledger, collected at every other door."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from postoffice.core.ledger import Account
from tests.crossing.door import Door, Letter, Person
from tests.crossing.doors import DOORS
from tests.crossing.test_crossing import WORDS, registered
from tests.doors.served import Served, serving
from tests.engines import SQLiteEngine
from tests.ledger.emulator import Emulator, running_emulator
from tests.ledger.house import until
from tests.mcp.calling import call, client


@pytest.fixture
async def ledger() -> AsyncIterator[Emulator]:
    async with running_emulator() as running:
        yield running


@pytest.fixture
async def served(tmp_path: Path, ledger: Emulator) -> AsyncIterator[Served]:
    (tmp_path / "key").write_text(ledger.operator_key)
    settings: dict[str, Any] = {
        "ledger": ",".join(f"{address}={account}" for address, account in ledger.nodes.items()),
        "ledger_mirror": ledger.mirror_url,
        "ledger_account": ledger.operator_id,
        "ledger_key_file": tmp_path / "key",
        "ledger_poll": 0.03,
        "ledger_rate": 200.0,
    }
    async with serving(SQLiteEngine(tmp_path), files=tmp_path / "mailboxes", **settings) as running:
        yield running


async def settled(served: Served, ledger: Emulator, person: Person) -> None:
    """Give somebody a place on the ledger."""
    place = Account(
        agent=person.name,
        account_id=ledger.operator_id,
        inbound_topic_id=ledger.new_topic().id,
        outbound_topic_id=ledger.new_topic().id,
    )
    await served.office.ledger.keep_account(served.office.owner(), place)


@pytest.mark.parametrize("other", DOORS, ids=lambda door: door.name)
async def test_mail_by_the_ledger_is_collected_at_every_door(served: Served, ledger: Emulator, other: Door) -> None:
    sender, taker = await registered(served, "alice", DOORS[0]), await registered(served, "bob", other)
    me = await served.office.identify(key=sender.key)
    async with (
        other.open(served, taker) as into,
        client(served, f"/agents/{sender.name}/mcp?tools=ledger", key=sender.key) as mailbox,
    ):
        if taker.key is None:
            await served.office.lending.guest(taker.name)
        for person in (sender, taker):
            await settled(served, ledger, person)
        for words in WORDS:
            sent = await call(mailbox, "send_message", to_agent=taker.name, subject=words, message_type="message")
            assert [one["ledger"] for one in sent["recipients"]] == ["awaiting"]

            async def through(id: str = sent["message_id"]) -> bool:
                (standing,) = (await served.office.status(me, id)).standings
                return getattr(standing.ledger, "state", "") == "confirmed"

            await until(through)
        letters = await into.collect(len(WORDS))
    assert letters == [Letter(sender.name, words, verified=True, subject=words if other.subjects else None) for words in WORDS]

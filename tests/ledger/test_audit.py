"""Verify from within: a mirror that lies is found out by the chain of hashes, whatever the office remembers."""

import json
import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from postoffice.bridges.ledger import listener
from postoffice.bridges.ledger.audit import Audit
from postoffice.bridges.ledger.mirror import Mirror
from postoffice.client.wire import Wire
from tests.doors.served import Served, serving
from tests.engines import SQLiteEngine
from tests.ledger.emulator import Emulator
from tests.ledger.house import Town


class Checked(NamedTuple):
    at: Town
    served: Served
    engine: SQLiteEngine

    async def findings(self) -> set[tuple[str, int]]:
        mirror = Mirror(self.at.ledger.mirror_url, 200)
        async with Wire(self.served.url, key=self.served.owner_key) as wire:
            found = await Audit(wire, mirror, self.at.ledger.operator_id, lambda _: None).verify()
        await mirror.close()
        return {(one["is"], one["sequence"]) for one in found["findings"]}


@pytest.fixture(params=["full", "hash"])
async def checked(request: pytest.FixtureRequest, tmp_path: Path, ledger: Emulator) -> AsyncIterator[Checked]:
    (tmp_path / "key").write_text(ledger.operator_key)
    settings: dict[str, Any] = {
        "ledger": ",".join(f"{address}={account}" for address, account in ledger.nodes.items()),
        "ledger_mirror": ledger.mirror_url,
        "ledger_account": ledger.operator_id,
        "ledger_key_file": tmp_path / "key",
        "ledger_poll": 0.03,
        "ledger_rate": 200.0,
        "ledger_privacy": request.param,
    }
    engine = SQLiteEngine(tmp_path)
    async with serving(engine, **settings) as served:
        at = Town(served.office, ledger, None)  # type: ignore[arg-type]  # the served office has its own
        await at.settle("quinn", "mindy")
        yield Checked(at, served, engine)


async def test_all_is_well_until_the_mirror_lies(checked: Checked) -> None:
    at = checked.at
    await at.send("quinn", "mindy", subject="one", payload={"text": "long " * 500})
    at.plant("mindy", "quinn", "plain words")
    at.plant("mindy", "quinn", {"message_type": "feedback", "subject": "an object", "payload": {"a": [1]}, "ref_id": "0.0.7"})
    await at.arrived("mindy", 3)
    assert await checked.findings() == set()
    topic = at.ledger.topic(at.accounts["mindy"].inbound_topic_id)
    (altered,) = [kept for kept in topic.messages if b"an object" in kept.body]
    topic.alter(altered.sequence, altered.body.replace(b"object", b"OBJECT"))
    assert await checked.findings() == {("altered", altered.sequence)}


async def test_what_the_office_never_took_and_what_the_mirror_lost_is_missing(checked: Checked) -> None:
    at = checked.at
    await at.confirmed("quinn", await at.send("quinn", "mindy"))
    topic = at.ledger.topic(at.accounts["mindy"].inbound_topic_id)
    kept = topic.messages.pop()
    assert await checked.findings() == {("missing", kept.sequence)}
    topic.messages.append(kept)
    assert await checked.findings() == set()


async def test_a_changed_body_or_hash_and_a_forged_sender_are_named(checked: Checked) -> None:
    at = checked.at
    await at.confirmed("quinn", await at.send("quinn", "mindy", subject="pay 5"))
    topic = at.ledger.topic(at.accounts["mindy"].inbound_topic_id)
    (kept,) = topic.messages
    body = json.loads(kept.body)
    data = json.loads(body["data"])
    data |= {"hash": "0" * 64} if "hash" in data else {"subject": "pay 500"}
    topic.alter(1, json.dumps(body | {"data": json.dumps(data)}).encode())
    at.plant("mindy", "quinn", "it is me", payer=at.ledger.new_account().id)
    await at.set_aside()
    assert await checked.findings() == {("altered", 1), ("forged", 2)}


async def test_half_a_message_hides_nothing_that_comes_after_it(checked: Checked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(listener, "_PIECES_SECONDS", 0.1)
    at, thief = checked.at, checked.at.ledger.new_account()
    topic = at.ledger.topic(at.accounts["mindy"].inbound_topic_id)
    at.ledger.plant_chunks(topic.id, [b"a", b"b"], order=[0], payer=thief.id)
    at.plant("mindy", "quinn", {"subject": "pay 5"})
    at.plant("mindy", "quinn", "it is me", payer=thief.id)
    await at.set_aside(2)
    await at.arrived("mindy")
    assert await checked.findings() == {("forged", 3)}
    topic.alter(2, topic.messages[1].body.replace(b"pay 5", b"pay 9"))
    assert await checked.findings() == {("altered", 2), ("forged", 3)}


async def test_a_sender_that_was_changed_in_the_office_is_named(checked: Checked) -> None:
    at = checked.at
    id = await at.send("quinn", "mindy", subject="pay 5")
    await at.confirmed("quinn", id)
    with sqlite3.connect(checked.engine.path) as database:
        database.execute("UPDATE messages SET body = replace(body, '\"quinn\"', '\"boss\"') WHERE id = ?", (id,))
    database.close()
    assert await checked.findings() == {("altered", 1)}


async def test_what_an_agent_wrote_and_got_as_it_was_before_agrees_and_is_looked_at(checked: Checked) -> None:
    at = checked.at
    for sender, to in (("quinn", "mindy"), ("mindy", "quinn")):
        await at.confirmed(sender, await at.send(sender, to))
    at.plant("quinn", "mindy", "from elsewhere")
    await at.arrived("quinn", 2)
    topic = at.ledger.topic(at.accounts["mindy"].inbound_topic_id)
    await at.settle("mindy")
    assert await checked.findings() == set()
    topic.messages.clear()
    assert await checked.findings() == {("missing", 1)}

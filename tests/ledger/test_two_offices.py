"""Two offices that have nothing in common but the ledger: their agents meet there, and mail goes once and both ways."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from postoffice.core.connection import Status
from postoffice.core.draft import Draft
from tests.engines import SQLiteEngine
from tests.ledger.emulator import Emulator
from tests.ledger.house import Town, town, until


@pytest.fixture
async def home(tmp_path: Path, ledger: Emulator) -> AsyncIterator[Town]:
    async with town(SQLiteEngine(tmp_path), ledger) as opened:
        await opened.settle("quinn", "mindy")
        yield opened


@pytest.fixture
async def abroad(tmp_path_factory: pytest.TempPathFactory, ledger: Emulator) -> AsyncIterator[Town]:
    account = ledger.new_account()
    async with town(SQLiteEngine(tmp_path_factory.mktemp("abroad")), ledger, operator=account) as opened:
        await opened.settle("bob", account=account)
        yield opened


async def meet(home: Town, abroad: Town) -> str:
    """quinn asks bob, who takes mail from anybody. Gives the topic where they meet."""
    bob = abroad.accounts["bob"]
    await home.office.foreign.ask(await home.me("quinn"), bob.account_id, bob.inbound_topic_id)

    async def met() -> list[str]:
        connected = (await home.office.connections(await home.me("quinn"), Status.ACTIVE)).items  # the topic is watched before that
        return [one.topic_id for one in await home.office.ledger.topics() if one.kind == "connection" and connected]

    (topic,) = await until(met)
    return str(topic)


async def write(home: Town, abroad: Town, content: str) -> None:
    sent = await home.office.send(await home.me("quinn"), Draft(to=abroad.accounts["bob"].account_id, content=content))
    await home.confirmed("quinn", sent.message_id)


async def test_mail_goes_both_ways_on_a_topic_where_nobody_else_writes(home: Town, abroad: Town) -> None:
    topic = await meet(home, abroad)
    assert home.ledger.topic(topic).submit_key is not None
    await write(home, abroad, "hello")
    (mail,) = await abroad.arrived("bob")
    assert (mail.sender, mail.content) == (home.ledger.operator_id, "hello")
    back = await abroad.office.send(await abroad.me("bob"), Draft(to=mail.sender, content="hello yourself"))
    await abroad.confirmed("bob", back.message_id)
    (answer,) = await home.arrived("quinn")
    assert answer.content == "hello yourself"


async def test_what_the_other_office_put_there_twice_is_one_message(home: Town, abroad: Town) -> None:
    """As it does when its bytes have grown too old and its mirror is so far behind that it does not tell of them."""
    topic = await meet(home, abroad)
    await write(home, abroad, "once")
    await abroad.arrived("bob")
    (body,) = home.ledger.topic(topic).bodies
    home.ledger.plant(topic, body)
    first, second = await abroad.records(topic, 2)
    assert (second.verdict, second.message_id) == ("delivered", first.message_id)
    assert len(await abroad.waiting("bob")) == 1
    # The same id with other words is another's, or a lie.
    said = json.loads(body)
    said["data"] = json.dumps(json.loads(said["data"]) | {"content": "twice"})
    home.ledger.plant(topic, json.dumps(said))
    await abroad.set_aside()
    assert len(await abroad.waiting("bob")) == 1


async def test_a_second_agent_that_asks_by_the_same_account_takes_nothing_from_the_first(home: Town, abroad: Town) -> None:
    topic, bob = await meet(home, abroad), abroad.accounts["bob"]
    await home.office.foreign.ask(await home.me("mindy"), bob.account_id, bob.inbound_topic_id)

    async def asked() -> bool:
        known = await abroad.office.ledger.accounts()
        return home.accounts["mindy"].inbound_topic_id in [one.inbound_topic_id for one in known]

    assert await until(asked)
    await write(home, abroad, "still here")
    (mail,) = await abroad.arrived("bob")
    assert mail.content == "still here"
    # The first ends what it has.
    account, signed = home.ledger.operator_id, home.accounts["quinn"].operator_id
    home.ledger.plant(topic, json.dumps({"p": "hcs-10", "op": "close_connection", "operator_id": signed}), payer=account)

    async def ended() -> bool:
        return not (await abroad.office.connections(await abroad.me("bob"), Status.ACTIVE)).items

    assert await until(ended)

"""An office with a ledger, in this process: its bridge speaks to the emulator and looks often."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from postoffice.bridges.ledger import LedgerBridge
from postoffice.bridges.ledger.network import LedgerNetwork
from postoffice.core.agent import Caller
from postoffice.core.draft import Draft
from postoffice.core.ledger import Account, Record
from postoffice.core.message import Message
from postoffice.core.routing import Route
from postoffice.office import OfficeRules, PostOffice
from postoffice.office.rules import LedgerRules
from postoffice.wake.local import LocalWake
from tests.engines import Engine
from tests.ledger.emulator import Account as LedgerAccount
from tests.ledger.emulator import Emulator

PATIENCE = 30.0
ROUTES = (
    Route(event="task.blocked", to=("mindy", "justin"), priority=1),
    Route(event="task.complete", to=("engine",), priority=3),
    Route(event="phase.complete", to=("engine", "mindy"), priority=2),
)
"""The seed's table."""


async def until(holds: Callable[[], Awaitable[Any]], seconds: float = PATIENCE) -> Any:
    """What it gives, once that is something."""
    end = time.monotonic() + seconds
    while True:
        if found := await holds():
            return found
        assert time.monotonic() < end, "it did not happen in time"
        await asyncio.sleep(0.01)


class Town:
    """The office, the ledger behind it, and agents with topics there."""

    def __init__(self, office: PostOffice, ledger: Emulator, bridge: LedgerBridge) -> None:
        self.office = office
        self.ledger = ledger
        self.bridge = bridge
        self.accounts: dict[str, Account] = {}

    async def settle(self, *names: str, account: LedgerAccount | None = None) -> list[Account]:
        """Give agents topics; they share the operator's account unless told otherwise."""
        payer = account or self.ledger.operator
        for name in names:
            await self.me(name)
            inbound, outbound = self.ledger.new_topic(f"hcs-10:0:3600:0:{payer.id}"), self.ledger.new_topic("hcs-10:0:3600:1")
            kept = Account(agent=name, account_id=payer.id, inbound_topic_id=inbound.id, outbound_topic_id=outbound.id)
            await self.office.ledger.keep_account(self.office.owner(), kept)
            self.accounts[name] = kept
        return [self.accounts[name] for name in names]

    async def submit(self) -> None:
        """Submit what waits, where nobody else speaks with the ledger: one turn of each topic."""
        submitter = self.bridge._submitter
        await submitter.submit_due(lambda: True, lambda _: None)
        await asyncio.gather(*submitter._topics.values())

    async def me(self, name: str) -> Caller:
        return await self.office.identify(name=name)

    async def send(self, sender: str, to: str, **fields: Any) -> str:
        """As `send_message` does; gives the message's id."""
        draft = Draft(**{"to": to, "type": "fyi", "subject": "s", "payload": {"a": 1}, **fields})
        return (await self.office.publish(await self.me(sender), draft)).message_id

    async def waiting(self, name: str) -> list[Message]:
        return list((await self.office.waiting(await self.me(name))).items)

    async def arrived(self, name: str, count: int = 1) -> list[Message]:
        """What waits for somebody, once there is so much."""

        async def enough() -> list[Message]:
            found = await self.waiting(name)
            return found if len(found) >= count else []

        found = await until(enough)
        assert len(found) == count
        return list(found)

    async def standing(self, sender: str, id: str) -> Any:
        (only,) = (await self.office.status(await self.me(sender), id)).standings
        return only

    async def confirmed(self, sender: str, id: str) -> Any:
        """Where it stands, once the ledger has it."""

        async def there() -> Any:
            found = await self.standing(sender, id)
            return found if getattr(found.ledger, "state", "") == "confirmed" else None

        return await until(there)

    async def trouble(self, sender: str, id: str) -> str:
        """What keeps a message from the ledger, once something does."""

        async def told() -> str:
            return (await self.standing(sender, id)).ledger.trouble or ""

        return str(await until(told))

    async def records(self, topic_id: str, count: int = 1) -> list[Record]:
        """What was made of a topic's messages, once there are so many."""

        async def enough() -> list[Record]:
            found = await self.office.ledger.records(self.office.owner(), topic_id, 0, 200)
            return found if len(found) >= count else []

        return list(await until(enough))

    async def set_aside(self, count: int = 1) -> list[str]:
        """Why, once so much was."""

        async def enough() -> list[str]:
            found = [str(one.reason) for one in (await self.office.ledger.quarantine(self.office.owner())).items]
            return found if len(found) >= count else []

        return list(await until(enough))

    def bodies(self, topic_id: str) -> list[Any]:
        """The operations on a topic, pieces put aside."""
        return [json.loads(body) for body in self.ledger.topic(topic_id).bodies]

    def plant(self, to: str, sender: str | None = None, data: Any = "", payer: str | None = None, **fields: Any) -> None:
        """Put a message on somebody's topic as other software does."""
        known = self.accounts.get(sender or "")
        operator = known.operator_id if known else "0.0.5@0.0.6"
        body = {"p": "hcs-10", "op": "message", "operator_id": operator, "data": data, **fields}
        self.ledger.plant(self.accounts[to].inbound_topic_id, json.dumps(body), payer=payer)


def network_of(ledger: Emulator, operator: LedgerAccount | None = None, **keys: str) -> LedgerNetwork:
    nodes = ",".join(f"{address}={account}" for address, account in ledger.nodes.items())
    pays = operator or ledger.operator
    return LedgerNetwork(nodes, pays.id, {pays.id: pays.secret, **keys})


@asynccontextmanager
async def town(
    engine: Engine,
    ledger: Emulator,
    *,
    operator: LedgerAccount | None = None,
    keys: dict[str, str] | None = None,
    least: float = 0.03,
    most: float = 0.3,
    per_second: float = 200,
    role_lasts: float = 15.0,
    silent: bool = False,
    **rules: Any,
) -> AsyncIterator[Town]:
    """An office over this engine and ledger until the block ends."""
    house = OfficeRules(ledger=LedgerRules(**rules), routes=ROUTES, tick=3600)
    async with PostOffice(engine.store(), LocalWake(), house) as office:
        network = network_of(ledger, operator, **(keys or {}))
        bridge = LedgerBridge(
            office,
            network,
            ledger.mirror_url,
            per_second=per_second,
            least=least,
            most=most,
            role_lasts=timedelta(seconds=role_lasts),
        )
        if silent:  # nobody speaks with the ledger
            yield Town(office, ledger, bridge)
            return
        async with bridge:
            yield Town(office, ledger, bridge)

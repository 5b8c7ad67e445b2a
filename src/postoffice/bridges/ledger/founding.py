"""Gives agents their places on the ledger: topics, profile, account memo. What is there already is left alone."""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

import msgspec

from postoffice.bridges.ledger.journal import Journal
from postoffice.bridges.ledger.mirror import Mirror
from postoffice.bridges.ledger.network import LedgerNetwork
from postoffice.bridges.ledger.pieces import PIECE_BYTES, mirror_names
from postoffice.client.path import part
from postoffice.client.wire import Wire
from postoffice.core.agent import Card
from postoffice.core.chunks import all_whole
from postoffice.core.errors import Expired, LedgerBusy, Spent
from postoffice.core.ledger import OUTBOUND_MEMO, Account, inbound_memo
from postoffice.core.profile import definition

TOPIC_COST, MESSAGE_COST, MEMO_COST = 0.01, 0.0008, 0.00022
"""In dollars, from the network's price list."""
DEFINITIONS_MEMO: Final = "postoffice:agent_definitions"
PROFILE_MEMO: Final = "postoffice:agent_definition"
_TOPICS_PER_SECOND = 4.0  # the network makes five a second for all its users together
_TOPICS_AT_ONCE = 4
_SIGNED_SECONDS, _MIRROR_BEHIND_SECONDS = 180.0, 60.0
_LONGEST_PAUSE_SECONDS = 30.0
Tell = Callable[[str], None]


class Place(msgspec.Struct, kw_only=True):
    """An agent, and what it has on the ledger."""

    agent: str
    account_id: str
    card: Card
    inbound_topic_id: str | None = None
    outbound_topic_id: str | None = None

    @property
    def account(self) -> Account:
        """Its account at the office, once it has both topics."""
        assert self.inbound_topic_id is not None
        return Account(
            agent=self.agent,
            account_id=self.account_id,
            inbound_topic_id=self.inbound_topic_id,
            outbound_topic_id=self.outbound_topic_id,
        )


async def places(wire: Wire, wanted: dict[str, str | None] | None, operator: str) -> list[Place]:
    """The agents that get a place: those named, or all that live here, with accounts of their own or the operator's."""
    accounts = {one["agent"].lower(): one for one in (await wire.get("/ledger/accounts"))["accounts"]}
    if wanted is None:
        listed = [one for one in await _everybody(wire) if accounts.get(one["name"].lower(), {}).get("outbound_topic_id", "") is not None]
    else:
        listed = [await wire.get(f"/agents/{part(name)}") for name in wanted]
    own = {name.lower(): account for name, account in (wanted or {}).items()}
    return [_place(one, accounts.get(one["name"].lower(), {}), own.get(one["name"].lower()) or operator) for one in listed]


async def _everybody(wire: Wire) -> list[Any]:
    agents, cursor = [], None
    while True:
        page = await wire.get("/agents", cursor=cursor)
        agents += page["agents"]
        if (cursor := page["cursor"]) is None:
            return agents


def _place(listed: dict[str, Any], have: dict[str, Any], account: str) -> Place:
    fields = {name: listed[name] for name in ("description", "capabilities", "display_name", "model") if listed[name]}
    return Place(
        agent=listed["name"],
        account_id=have.get("account_id") or account,
        card=msgspec.convert(fields | {"metadata": {"hcs11_capabilities": listed["capability_codes"]}}, Card),
        inbound_topic_id=have.get("inbound_topic_id"),
        outbound_topic_id=have.get("outbound_topic_id"),
    )


class Founding:
    """Makes what is missing. Each step is written down before it is taken, so that no step is taken twice."""

    def __init__(self, wire: Wire, network: LedgerNetwork, mirror: Mirror, journal: Journal, tell: Tell) -> None:
        self._wire = wire
        self._network = network
        self._mirror = mirror
        self._journal = journal
        self._tell = tell
        self._hands = asyncio.Semaphore(_TOPICS_AT_ONCE)
        self._turn = asyncio.Lock()
        self.cost = 0.0

    async def found(self, wanted: list[Place], definitions: str | None) -> dict[str, Any]:
        """Make topics for everybody, then profiles and the memos that lead to them. Returns what there is now."""
        topic = definitions or await self.topic("definitions", DEFINITIONS_MEMO, self._network.operator, (self._network.operator,))
        published = await self._published(topic)
        results = await asyncio.gather(*(self._settle(place, number, len(wanted)) for number, place in enumerate(wanted, 1)))
        for place, result in zip(wanted, results, strict=True):
            result["profile"] = await self._publish(place, topic, published)
        for account in sorted({place.account_id for place in wanted}):
            memo = await self._lead(account, f"hcs-11:{topic}")
            for result in results:
                if result["account_id"] == account:
                    result["memo"] = memo
        return {"agents": list(results), "definitions": topic, "cost": round(self.cost, 5)}

    async def _settle(self, place: Place, number: int, of: int) -> dict[str, Any]:
        async with self._hands:
            new = place.inbound_topic_id is None
            if new:
                account, key = place.account_id, f"{place.agent.lower()}"
                place.inbound_topic_id = await self.topic(f"{key}/inbound", inbound_memo(account), account, ())
                place.outbound_topic_id = await self.topic(f"{key}/outbound", OUTBOUND_MEMO, account, (account,))
                kept = {"account_id": account, "inbound_topic_id": place.inbound_topic_id, "outbound_topic_id": place.outbound_topic_id}
                await self._wire.put(f"/ledger/accounts/{part(place.agent)}", kept)
            how = "has its topics now" if new else "has its topics"
            self._tell(f"[{number}/{of}] {place.agent} {how}: {place.inbound_topic_id}, {place.outbound_topic_id}")
            return {**msgspec.to_builtins(place.account), "topics": "made" if new else "kept"}

    async def entity(self, about: str) -> Any:
        """Make a topic for an entity and watch it. One that was paid for earlier but is not watched yet is used first."""
        what = f"entity/{about}"
        made = await self.topic(what, f"postoffice:entity:{about}", self._network.operator, ())
        watched = await self._wire.put(f"/ledger/topics/{part(made)}", {"about": about})
        self._journal.write(f"{self._network.name}/{what}")  # asked again, this makes another topic
        return watched

    async def topic(self, what: str, memo: str, payer: str, writers: tuple[str, ...]) -> str:
        """Make a topic once: if signed bytes for it may have been submitted before, first find out what became of them."""
        name = f"{self._network.name}/{what}"
        earlier = self._journal.known(name)
        if earlier.get("memo") == memo and earlier.get("payer") == payer:
            if "topic_id" in earlier:
                return earlier["topic_id"]
            if (made := await self._finish(earlier["signed"])) is not None:
                self._journal.write(name, memo=memo, payer=payer, topic_id=made)
                return made
        while True:
            await self._pace()
            signed = await asyncio.to_thread(self._network.sign_topic, memo, payer, writers)
            self._journal.write(name, memo=memo, payer=payer, signed=signed)
            if (made := await self._finish(signed)) is not None:
                self._journal.write(name, memo=memo, payer=payer, topic_id=made)
                self.cost += TOPIC_COST
                return made

    async def _finish(self, signed: str) -> str | None:
        """The topic that signed bytes make or have made; None if they can no longer make one."""
        try:
            return str(await self._patiently(lambda: self._network.submit(signed)))
        except Spent:
            return None
        except Expired:
            (name,) = mirror_names(signed)
        until = int(name.split("-")[1]) + _SIGNED_SECONDS + _MIRROR_BEHIND_SECONDS
        while True:
            transaction = await self._mirror.transaction(name)
            if transaction is not None:
                return transaction.get("entity_id") if transaction.get("result") == "SUCCESS" else None
            if time.time() > until:
                return None
            self._tell("waiting for the mirror to say whether a topic was made before")
            await asyncio.sleep(3)

    async def _patiently(self, work: Callable[[], Any]) -> Any:
        """Repeat a call while the ledger is busy. A refusal for good is raised."""
        pause = 1.0
        while True:
            try:
                return await asyncio.to_thread(work)
            except LedgerBusy as error:
                self._tell(f"{error} (in {pause:.0f} s)")
                await asyncio.sleep(pause)
                pause = min(pause * 2, _LONGEST_PAUSE_SECONDS)

    async def _pace(self) -> None:
        async with self._turn:
            await asyncio.sleep(1 / _TOPICS_PER_SECOND)

    async def _published(self, topic: str) -> dict[str, Any]:
        """The profile published last, by agent."""
        definitions: dict[str, Any] = {}
        for whole in all_whole(await self._mirror.all_messages(topic)):
            try:
                definition = msgspec.json.decode(whole.data)["agent"]
                definitions[definition["slug"]] = definition
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, KeyError, TypeError):
                continue  # not one of ours
        return definitions

    async def _publish(self, place: Place, topic: str, published: dict[str, Any]) -> str:
        body = definition(place.account, place.card, self._network.name)
        if published.get(place.agent) == msgspec.json.decode(body)["agent"]:
            return "kept"
        signed = await asyncio.to_thread(self._network.sign, topic, PROFILE_MEMO, body, self._network.operator)
        await self._patiently(lambda: self._network.submit(signed))
        self.cost += MESSAGE_COST * -(-len(body.encode()) // PIECE_BYTES)
        kept = {name: getattr(place.account, name) for name in ("account_id", "inbound_topic_id", "outbound_topic_id")}
        await self._wire.put(f"/ledger/accounts/{part(place.agent)}", kept | {"profile": body})
        self._tell(f"{place.agent}: its profile is on topic {topic}")
        return "published"

    async def _lead(self, account: str, memo: str) -> str:
        """Make an account's memo lead to its profile."""
        record = await self._mirror.account(account)
        if record is not None and record.get("memo") == memo:
            return "kept"
        if not self._network.pays(account):
            return "not ours to set"
        await self._patiently(lambda: self._network.set_account_memo(account, memo))
        self.cost += MEMO_COST
        self._tell(f"{account}: its memo is {memo}")
        return "set"


def estimate(wanted: list[Place], definitions: str | None, network: str) -> float:
    """What it costs at most, in dollars."""
    missing = sum(place.inbound_topic_id is None for place in wanted)
    topics = 2 * missing + (definitions is None)
    unknown = "0.0.00000000"
    accounts = [
        Account(agent=place.agent, account_id=place.account_id, inbound_topic_id=unknown, outbound_topic_id=unknown) for place in wanted
    ]
    pieces = sum(
        -(-len(definition(account, place.card, network).encode()) // PIECE_BYTES) for account, place in zip(accounts, wanted, strict=True)
    )
    return round(topics * TOPIC_COST + pieces * MESSAGE_COST + len({place.account_id for place in wanted}) * MEMO_COST, 5)

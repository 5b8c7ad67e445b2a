"""Verbs about the ledger: mail that goes by it, what happens to entities, and what its bridge needs."""

from datetime import timedelta
from typing import Any

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.errors import OwnerOnly
from postoffice.core.ledger import Account, Post, Record, Sighting, Topic, check_ledger_id
from postoffice.core.message import Accepted, Draft
from postoffice.core.names import SYSTEM, check_name
from postoffice.core.policy import Auth
from postoffice.core.routing import routes_for
from postoffice.core.views import Page
from postoffice.office.mail import MailVerbs

_DIRECT = "direct"


class LedgerVerbs(MailVerbs):
    """Without a ledger, mail goes directly and the answer says so."""

    async def publish(self, caller: Caller, draft: Draft) -> Accepted:
        """Send by the ledger, where there is one."""
        sent = await self.send(caller, self._by_ledger(draft))
        if self.house.ledger is not None:
            return sent
        return msgspec.structs.replace(sent, posted=tuple(msgspec.structs.replace(one, ledger=_DIRECT) for one in sent.posted))

    async def event(
        self, caller: Caller, entity_id: str, type: str, data: Any = None, *, entity_type: str | None = None, client_id: str | None = None
    ) -> list[Accepted]:
        """Something happened to an entity: whoever the routes name is told by the office."""
        told = {"entity_id": entity_id, "event": type, "by": caller.name, "data": data}
        return [
            await self.store.send(SYSTEM, draft, verified=True, strangers=self.house.auth is Auth.OPEN)
            for draft in self.routed(entity_id, type, told, entity_type=entity_type, client_id=client_id)
        ]

    def routed(self, entity_id: str, type: str, told: Any, *, entity_type: str | None = None, client_id: str | None = None) -> list[Draft]:
        """The mail that an event comes to by the routes."""
        return [
            self._checked(
                Draft(
                    to=name,
                    type=type,
                    subject=f"{type} {entity_id}",
                    payload=told,
                    ref_id=entity_id,
                    ref_type=entity_type or type.partition(".")[0],
                    priority=route.priority,
                    client_id=client_id,
                )
            )
            for route in routes_for(type, self.house.routes)
            for name in route.to
        ]

    # Who has topics

    async def ledger_accounts(self) -> list[Account]:
        """Agents with topics."""
        return await self.store.accounts()

    async def keep_account(self, caller: Caller, account: Account, profile: str | None = None) -> None:
        """An agent has topics now. The owner says so, who made them."""
        self._owner_only(caller, "say who has topics")
        check_name(account.agent)
        for what in ("account_id", "inbound_topic_id", "outbound_topic_id"):
            if (id := getattr(account, what)) is not None:
                check_ledger_id(id, what)
        if await self.store.agent(account.agent) is None:
            raise await self._unknown(account.agent)
        await self.store.keep_account(account, profile)

    async def watch_topic(self, caller: Caller, topic_id: str, kind: str, about: str, agent: str | None = None) -> None:
        """Listen to a topic besides agents' own."""
        self._owner_only(caller, "have a topic watched")
        await self.store.watch_topic(check_ledger_id(topic_id, "topic_id"), kind, agent, about)

    async def ledger_topics(self) -> list[Topic]:
        """Topics listened to besides agents' own."""
        return await self.store.topics()

    async def quarantine(self, caller: Caller, cursor: str | None = None, limit: int | None = None) -> Page[Record]:
        """What was seen on the ledger and not believed."""
        self._owner_only(caller, "see what was set aside")
        return await self.store.quarantined(None if cursor is None else self._cursor(cursor), self._page(limit))

    async def ledger_posts(self) -> dict[str, int]:
        """How many posts wait, are submitted, confirmed, failed."""
        return await self.store.posts_by_state()

    # For the bridge

    async def hold_ledger(self, holder: str, lasts: timedelta) -> bool:
        """Be the one process that speaks with the ledger, for a while."""
        return await self.store.hold_role("ledger", holder, lasts)

    async def topic_cursors(self) -> dict[str, int]:
        """By topic: how far it has been taken."""
        return await self.store.topic_cursors()

    async def put_post(self, topic_id: str, body: str, memo: str, payer: str | None = None) -> str:
        """Have something other than a message put on a topic."""
        return await self.store.put_post(topic_id, body, memo, payer)

    async def posts_due(self, limit: int) -> list[Post]:
        """What is to be submitted now."""
        return await self.store.posts_due(limit)

    async def sign_post(self, post: Post, signed: str | None) -> None:
        """Keep the signed bytes before they are submitted; nothing, to have it signed anew."""
        await self.store.sign_post(post.id, signed)

    async def settle_post(self, post: Post, *, error: str | None = None, retry_in: timedelta | None = None) -> None:
        """It is on the ledger; or why not, and when to try again, if ever."""
        await self.store.settle_post(post, error=error, retry_in=retry_in)

    async def materialise(self, topic_id: str, through: int, seen: tuple[Sighting, ...]) -> int:
        """Take what a topic tells up to a sequence, once."""
        return await self.store.materialise(topic_id, through, seen, strangers=self.house.auth is Auth.OPEN)

    async def ledger_records(self, topic_id: str, after: int, limit: int | None = None) -> list[Record]:
        """What was made of a topic's messages."""
        return await self.store.records(topic_id, after, self._page(limit))

    def _owner_only(self, caller: Caller, what: str) -> None:
        if not caller.owner:
            raise OwnerOnly(what=what)

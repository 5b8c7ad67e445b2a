"""Verbs about the ledger: mail that goes by it, what happens to entities, and what its bridge needs."""

from datetime import timedelta
from typing import Any

import msgspec

from postoffice.acts.ledger.sightings import KeepAccount, KeepNetwork, Materialise, PutPost, SettlePost, SignPost
from postoffice.acts.ledger.topics import WatchTopic
from postoffice.acts.mail.send import Send
from postoffice.core.agent import Caller
from postoffice.core.draft import Draft
from postoffice.core.entity import check_entity_type
from postoffice.core.errors import Invalid, MailError, OwnerOnly
from postoffice.core.ledger import ENTITY, Account, Post, Record, Sighting, Topic, check_ledger_id
from postoffice.core.message import Accepted, is_note
from postoffice.core.names import SYSTEM, check_name
from postoffice.core.policy import Auth
from postoffice.core.routing import routes_for
from postoffice.core.views import LedgerStatus, Page
from postoffice.office.mail import MailVerbs

_KINDS = (ENTITY,)  # the others are watched by themselves


class LedgerVerbs(MailVerbs):
    """Without a ledger, mail goes directly and the answer says so."""

    async def publish(self, caller: Caller, draft: Draft) -> Accepted:
        """Send by the ledger, where there is one."""
        return self._said(await self.send(caller, self._by_ledger(draft)))

    async def event(
        self, caller: Caller, entity_id: str, type: str, data: Any = None, *, entity_type: str | None = None, client_id: str | None = None
    ) -> list[Accepted]:
        """Something happened to an entity: whoever the routes name is told by the office. One who refuses keeps it from nobody else."""
        told = {"entity_id": entity_id, "event": type, "by": caller.name, "data": data}
        if entity_type is not None:
            check_entity_type(entity_type)
        if is_note(type):
            raise Invalid(what="type", why="a note is posted as a note, with who should know")
        drafts = self.routed(entity_id, type, told, entity_type=entity_type, client_id=client_id)
        strangers = self.house.auth is Auth.OPEN
        outcomes = await self.store.do_each([Send(SYSTEM, draft, verified=True, strangers=strangers, doer=caller.name) for draft in drafts])
        refusals = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        if refusals:
            raise refusals[0]
        return [outcome for outcome in outcomes if isinstance(outcome, Accepted)]

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
        return await self.store.ledger.accounts()

    async def keep_account(self, caller: Caller, account: Account, profile: str | None = None) -> None:
        """An agent has topics now. The owner says so, who made them."""
        self._owner_only(caller, "say who has topics")
        check_name(account.agent)
        for what in ("account_id", "inbound_topic_id", "outbound_topic_id"):
            if (id := getattr(account, what)) is not None:
                check_ledger_id(id, what)
        if await self.store.agents.named(account.agent) is None:
            raise await self._unknown(account.agent)
        await self.store.do(KeepAccount(account, profile))

    async def watch_topic(self, caller: Caller, topic_id: str, kind: str, about: str, agent: str | None = None) -> None:
        """Listen to a topic besides agents' own."""
        self._owner_only(caller, "have a topic watched")
        if kind not in _KINDS:
            raise Invalid(what="kind", why=f"it is one of {', '.join(_KINDS)}")
        check_entity_type(about, "about")
        await self.store.do(WatchTopic(check_ledger_id(topic_id, "topic_id"), kind, agent, about))

    async def ledger_topics(self) -> list[Topic]:
        """Topics listened to besides agents' own."""
        return await self.store.ledger.topics()

    async def quarantine(self, caller: Caller, cursor: str | None = None, limit: int | None = None) -> Page[Record]:
        """What was seen on the ledger and not believed."""
        self._owner_only(caller, "see what was set aside")
        return await self.store.ledger.quarantined(None if cursor is None else self._cursor(cursor), self._page(limit))

    async def ledger_posts(self) -> dict[str, int]:
        """How many posts wait, are submitted, confirmed, failed."""
        return await self.store.ledger.posts_by_state()

    async def ledger_status(self) -> LedgerStatus:
        """The ledger in numbers, and what is in the way."""
        rules = self.house.ledger
        return LedgerStatus(
            kept=rules is not None,
            privacy="hash" if rules is not None and rules.private else "full",
            log=rules is not None and rules.log,
            agents=len(await self.store.ledger.accounts()),
            topics=len(await self.store.ledger.topics()),
            posts=await self.store.ledger.posts_by_state(),
            quarantined=await self.store.ledger.quarantined_count(),
            troubles=await self.store.ledger.post_troubles(),
        )

    # For the bridge

    async def keep_network(self, network: str) -> None:
        """Speak with this ledger from now on; where topics are another's, they are not taken for its."""
        await self.store.do(KeepNetwork(network))

    async def hold_ledger(self, holder: str, lasts: timedelta) -> bool:
        """Be the one process that speaks with the ledger, for a while."""
        return await self.store.hold("ledger", holder, lasts)

    async def topic_cursors(self) -> dict[str, int]:
        """By topic: how far it has been taken."""
        return await self.store.ledger.topic_cursors()

    async def taken_ahead(self, topic_id: str, after: int) -> frozenset[int]:
        """What has been taken of a topic after its cursor."""
        return await self.store.ledger.taken_ahead(topic_id, after)

    async def put_post(self, topic_id: str, body: str, memo: str, payer: str | None = None, *, id: str | None = None) -> str:
        """Have something other than a message put on a topic; the same id again changes nothing."""
        return await self.store.do(PutPost(topic_id, body, memo, payer, id))

    async def posts_due(self, limit: int) -> list[Post]:
        """What is to be submitted now."""
        return await self.store.ledger.posts_due(limit)

    async def sign_post(self, post: Post, signed: str | None) -> str | None:
        """Keep the signed bytes before they are submitted, or none, to have it signed anew.

        Gives those that stand: another may have been first, and where all is done there are none.
        """
        return await self.store.do(SignPost(post.id, signed, post.signed))

    async def settle_post(self, post: Post, *, error: str | None = None, retry_in: timedelta | None = None) -> None:
        """It is on the ledger; or why not, and when to try again, if ever."""
        await self.store.do(SettlePost(post, error=error, retry_in=retry_in))

    async def materialise(self, topic_id: str, through: int, seen: tuple[Sighting, ...]) -> int:
        """Take what a topic tells up to a sequence, and what of the rest is whole, once. What the office would not take at any other door is set aside."""
        strangers = self.house.auth is Auth.OPEN
        return await self.store.do(Materialise(topic_id, through, tuple(map(self._believed, seen)), strangers=strangers))

    def _believed(self, one: Sighting) -> Sighting:
        try:
            mail = tuple(msgspec.structs.replace(each, draft=self._checked(each.draft)) for each in one.deliveries)
        except MailError as error:
            return msgspec.structs.replace(one, deliveries=(), body=None, refusal=str(error))
        return msgspec.structs.replace(one, deliveries=mail)

    async def ledger_records(self, caller: Caller, topic_id: str, after: int = 0, limit: int | None = None) -> list[Record]:
        """What was made of a topic's messages."""
        self._owner_only(caller, "see what came over the ledger")
        return await self.store.ledger.records(check_ledger_id(topic_id, "topic_id"), max(after, 0), self._page(limit))

    def _owner_only(self, caller: Caller, what: str) -> None:
        if not caller.owner:
            raise OwnerOnly(what=what)

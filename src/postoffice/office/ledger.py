"""Verbs about the ledger: who has topics there, what was seen, and what its bridge needs."""

from datetime import timedelta

import msgspec

from postoffice.acts.ledger.sightings import KeepAccount, KeepNetwork, Materialise, PutPost, SettlePost, SignPost
from postoffice.acts.ledger.topics import WatchTopic
from postoffice.core.agent import Caller
from postoffice.core.entity import check_entity_type
from postoffice.core.errors import Invalid, MailError
from postoffice.core.ledger import ENTITY, Account, Post, Record, Sighting, Topic, check_ledger_id
from postoffice.core.names import check_name
from postoffice.core.policy import Auth
from postoffice.core.views import LedgerStatus, Page
from postoffice.office.checks import Checks
from postoffice.office.directory import Directory
from postoffice.office.rules import OfficeRules
from postoffice.store.store import Store

_KINDS = (ENTITY,)  # the others are watched by themselves


class Ledger:
    """They keep what is known of the ledger, also while nothing goes by it."""

    def __init__(self, store: Store, rules: OfficeRules, checks: Checks, directory: Directory) -> None:
        self._store = store
        self._rules = rules
        self._checks = checks
        self._directory = directory

    # Who has topics

    async def accounts(self) -> list[Account]:
        """Agents with topics."""
        return await self._store.ledger.accounts()

    async def keep_account(self, caller: Caller, account: Account, profile: str | None = None) -> None:
        """An agent has topics now. The owner says so, who made them."""
        self._checks.owner_only(caller, "say who has topics")
        check_name(account.agent)
        for what in ("account_id", "inbound_topic_id", "outbound_topic_id"):
            if (id := getattr(account, what)) is not None:
                check_ledger_id(id, what)
        if await self._store.agents.named(account.agent) is None:
            raise await self._directory.unknown(account.agent)
        await self._store.do(KeepAccount(account, profile))

    async def watch_topic(self, caller: Caller, topic_id: str, kind: str, about: str, agent: str | None = None) -> None:
        """Listen to a topic besides agents' own."""
        self._checks.owner_only(caller, "have a topic watched")
        if kind not in _KINDS:
            raise Invalid(what="kind", why=f"it is one of {', '.join(_KINDS)}")
        check_entity_type(about, "about")
        await self._store.do(WatchTopic(check_ledger_id(topic_id, "topic_id"), kind, agent, about))

    async def topics(self) -> list[Topic]:
        """Topics listened to besides agents' own."""
        return await self._store.ledger.topics()

    async def quarantine(self, caller: Caller, cursor: str | None = None, limit: int | None = None) -> Page[Record]:
        """What was seen on the ledger and not believed."""
        self._checks.owner_only(caller, "see what was set aside")
        return await self._store.ledger.quarantined(None if cursor is None else self._checks.cursor(cursor), self._checks.page(limit))

    async def posts(self) -> dict[str, int]:
        """How many posts wait, are submitted, confirmed, failed."""
        return await self._store.ledger.posts_by_state()

    async def status(self) -> LedgerStatus:
        """The ledger in numbers, and what is in the way."""
        ledger_rules = self._rules.ledger
        return LedgerStatus(
            kept=ledger_rules is not None,
            privacy="hash" if ledger_rules is not None and ledger_rules.private else "full",
            log=ledger_rules is not None and ledger_rules.log,
            agents=len(await self._store.ledger.accounts()),
            topics=len(await self._store.ledger.topics()),
            posts=await self._store.ledger.posts_by_state(),
            quarantined=await self._store.ledger.quarantined_count(),
            troubles=await self._store.ledger.post_troubles(),
        )

    # For the bridge

    async def keep_network(self, network: str) -> None:
        """Speak with this ledger from now on. It is refused if the office's topics are on another."""
        await self._store.do(KeepNetwork(network))

    async def hold(self, holder: str, lasts: timedelta) -> bool:
        """Be the one process that speaks with the ledger, for a while."""
        return await self._store.hold("ledger", holder, lasts)

    async def topic_cursors(self) -> dict[str, int]:
        """By topic: how far it has been taken."""
        return await self._store.ledger.topic_cursors()

    async def taken_ahead(self, topic_id: str, after: int) -> frozenset[int]:
        """What has been taken of a topic after its cursor."""
        return await self._store.ledger.taken_ahead(topic_id, after)

    async def put_post(self, topic_id: str, body: str, memo: str, payer: str | None = None, *, id: str | None = None) -> str:
        """Have something other than a message put on a topic; the same id again changes nothing."""
        return await self._store.do(PutPost(topic_id, body, memo, payer, id))

    async def posts_due(self, limit: int) -> list[Post]:
        """What is to be submitted now."""
        return await self._store.ledger.posts_due(limit)

    async def sign_post(self, post: Post, signed: str | None) -> str | None:
        """Keep the signed bytes before they are submitted; None has the post signed anew.

        Gives those that stand: another may have been first, and where all is done there are none.
        """
        return await self._store.do(SignPost(post.id, signed, post.signed))

    async def settle_post(self, post: Post, *, error: str | None = None, retry_in: timedelta | None = None) -> None:
        """It is on the ledger; or why not, and when to try again, if ever."""
        await self._store.do(SettlePost(post, error=error, retry_in=retry_in))

    async def materialise(self, topic_id: str, through: int, seen: tuple[Sighting, ...]) -> int:
        """Take what a topic tells up to a sequence, and what comes after it if it is whole, once. What no other door would take is set aside."""
        strangers = self._rules.auth is Auth.OPEN
        return await self._store.do(Materialise(topic_id, through, tuple(map(self._believed, seen)), strangers=strangers))

    def _believed(self, one: Sighting) -> Sighting:
        try:
            mail = tuple(msgspec.structs.replace(each, draft=self._checks.draft(each.draft)) for each in one.deliveries)
        except MailError as error:
            return msgspec.structs.replace(one, deliveries=(), body=None, refusal=str(error))
        return msgspec.structs.replace(one, deliveries=mail)

    async def records(self, caller: Caller, topic_id: str, after: int = 0, limit: int | None = None) -> list[Record]:
        """What was made of a topic's messages."""
        self._checks.owner_only(caller, "see what came over the ledger")
        return await self._store.ledger.records(check_ledger_id(topic_id, "topic_id"), max(after, 0), self._checks.page(limit))

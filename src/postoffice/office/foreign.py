"""Verbs about foreign agents: those of other software, which are met on the ledger (HCS-10's handshake)."""

import msgspec

from postoffice.acts.ledger.foreign import Meet, Opened
from postoffice.acts.ledger.sightings import PutPost
from postoffice.acts.ledger.topics import WatchTopic
from postoffice.acts.people.connections import Conclude, Request
from postoffice.core.agent import Caller
from postoffice.core.connection import Connection, Status
from postoffice.core.envelope import write_request
from postoffice.core.errors import AlreadyConnected, AlreadyRequested, NoLedger, NotOurs, OutOfReach
from postoffice.core.ledger import CONNECTION, NEW_TOPIC, REQUEST_MEMO, Account, Opening, Post, check_ledger_id, connection_memo
from postoffice.core.names import OWNER, folded
from postoffice.core.policy import admitted
from postoffice.office.checks import Checks
from postoffice.office.rules import OfficeRules
from postoffice.store.store import Store

_encode = msgspec.json.Encoder().encode


class ForeignAgents:
    """Agents of other software are called by their accounts, and are connected as others are: with consent."""

    def __init__(self, store: Store, rules: OfficeRules, checks: Checks) -> None:
        self._store = store
        self._rules = rules
        self._checks = checks

    async def ask(self, caller: Caller, account_id: str, inbound_topic_id: str, note: str | None = None) -> str:
        """Ask an agent of other software for a connection. Gives the post's id; the answer comes over the ledger."""
        if self._rules.ledger is None:
            raise NoLedger
        check_ledger_id(account_id, "account_id")
        check_ledger_id(inbound_topic_id, "inbound_topic_id")
        if note is not None:
            self._checks.ref(note, "note", self._rules.limits.note_chars)
        mine = next((one for one in await self._store.ledger.accounts() if folded(one.agent) == folded(caller.name)), None)
        if mine is None or mine.foreign:
            raise OutOfReach(recipient=account_id, sender=f"{caller.name}, which has no topics of its own,")
        await self._store.do(Meet(account_id, inbound_topic_id, mine.agent))
        return await self._store.do(PutPost(inbound_topic_id, write_request(mine, note), REQUEST_MEMO, mine.account_id))

    # For the bridge

    async def meet(self, account_id: str, inbound_topic_id: str) -> None:
        """Know an agent of other software from now on."""
        await self._store.do(Meet(account_id, inbound_topic_id))

    async def asked(self, target: str, peer: str, note: str | None) -> bool:
        """An agent of other software asks one of ours: like any other request, and granted at once where its list admits the asker.

        Gives whether the two are connected already.
        """
        if note is not None:
            note = self._checks.ref(note[: self._rules.limits.note_chars], "note", self._rules.limits.note_chars)
        made = await self._requested(peer, target, note)
        agent = await self._store.agents.named(target)
        if made is not None and agent is not None and admitted(peer, target, agent.card.allow_from, connected=False):
            await self._grant(made)
        return made is None

    async def openings(self) -> dict[str, Opening]:
        """By connection: consent given to an agent of other software, which has not been told of it yet."""
        return await self._store.ledger.openings()

    async def open_connection(self, id: str, opening: Opening, owner: Account) -> None:
        """Have a topic made on which two can meet; asked twice, it is made once."""
        memo = connection_memo(opening.inbound_topic_id, opening.connection_id)
        await self._store.do(PutPost(NEW_TOPIC, _encode(opening).decode(), memo, owner.account_id, id))

    async def opened(self, post: Post, topic_id: str) -> None:
        """It is made: watch it, and answer whoever asked."""
        await self._store.do(Opened(post.id, msgspec.json.decode(post.body, type=Opening), topic_id))

    async def answered(self, agent: str, peer: str, topic_id: str, *, again: bool) -> None:
        """An agent of other software has agreed: the two are connected, and meet on this topic.

        `again`, where it had answered that request before: the consent to it was used, and ends with the connection it made.
        """
        if again and await self._active(agent, peer) is None:
            raise NotOurs(why="the request was answered before, and the connection has ended since")
        await self._store.do(WatchTopic(topic_id, CONNECTION, agent, peer))  # first: a topic that is another's is refused
        made = await self._requested(agent, peer, None)
        if made is not None:
            await self._grant(made)

    async def closed(self, agent: str, peer: str) -> None:
        """An agent of other software ends the connection."""
        if (made := await self._active(agent, peer)) is not None:
            await self._store.do(Conclude(peer, made.id, Status.ENDED, owner=False))

    async def _active(self, agent: str, peer: str) -> Connection | None:
        """The connection of the two, if they have one."""
        cursor = None
        while True:
            page = await self._store.connections.page(peer, Status.ACTIVE, cursor, self._rules.limits.page_most)
            for made in page.items:
                if {folded(made.requester), folded(made.target)} == {folded(agent), folded(peer)}:
                    return made
            if (cursor := page.cursor) is None:
                return None

    async def _requested(self, requester: str, target: str, note: str | None) -> Connection | None:
        """The request, made now or before; nothing where the two are connected."""
        try:
            return await self._store.do(Request(requester, target, note))
        except AlreadyConnected:
            return None
        except AlreadyRequested:
            pending = await self._store.connections.page(requester, Status.PENDING, None, self._rules.limits.pending_requests * 2)
            return next(
                (one for one in pending.items if (folded(one.requester), folded(one.target)) == (folded(requester), folded(target))), None
            )

    async def _grant(self, made: Connection) -> None:
        await self._store.do(Conclude(OWNER, made.id, Status.ACTIVE, owner=True))

"""HCS-10's handshake with agents of other software. People consent as always, and the answer names a topic on which the two meet."""

import logging

import msgspec

from postoffice.bridges.ledger.mirror import Mirror
from postoffice.bridges.ledger.network import LedgerNetwork, public_key
from postoffice.bridges.ledger.sightings import Book, or_refused, refused, sighting
from postoffice.core.chunks import Whole
from postoffice.core.envelope import Envelope, read_envelope, read_operator, write_created
from postoffice.core.errors import Conflict, Forbidden, Forged, Invalid, Limited, NotOurs, TopicTaken
from postoffice.core.ledger import CONNECTION, CREATED_MEMO, Account, Opening, Post, Sighting, inbound_owner, is_ledger_id
from postoffice.core.names import folded
from postoffice.office import PostOffice

_log = logging.getLogger(__name__)
ASKED, ANSWERED, CLOSED, NOTED = "asked", "answered", "closed", "noted"
"""What each operation of the handshake is recorded as."""


class Handshake:
    """Every step can be repeated, so a crash between any two does no harm."""

    def __init__(self, office: PostOffice, mirror: Mirror, network: LedgerNetwork) -> None:
        self._office = office
        self._mirror = mirror
        self._network = network

    async def on_inbound(self, whole: Whole, owner: Account, book: Book) -> Sighting:
        """Handle an operation on an agent's own topic that is not a message."""
        try:
            envelope = read_envelope(whole.data)
            if envelope.op != "connection_request":
                return sighting(whole, verdict=NOTED)
            if (peer_account := book.known(envelope, whole.payer)) is None:
                peer_account = await self._meet(envelope, whole.payer)
            await self._ask(envelope, peer_account, owner, whole.sequence)
        except (Invalid, Limited, Forbidden, Conflict) as error:
            return refused(whole, error)
        return sighting(whole, sender=peer_account, verdict=ASKED)

    async def _meet(self, envelope: Envelope, payer: str) -> str:
        """Take a request from somebody new. What it says of itself has to match what the ledger says of its topic."""
        topic_id, account = read_operator(envelope.operator_id)
        if account != payer:
            raise Forged(why=f"it says to be from {account}, but {payer} paid for it")
        topic = await self._mirror.topic(topic_id)
        if topic is None or inbound_owner(str(topic.get("memo") or "")) != account:
            raise NotOurs(why=f"topic {topic_id} is not the inbound topic of {account}")
        await self._office.foreign.meet(account, topic_id)
        return account

    async def _ask(self, envelope: Envelope, peer: str, owner: Account, sequence: int) -> None:
        if not await self._office.foreign.asked(owner.agent, peer, envelope.m):
            return  # the answer follows when somebody has consented
        if (topic_id := await self._meeting(owner.agent, peer)) is not None:
            # The two have a topic already; answer the repeated request again.
            opening = Opening(agent=owner.agent, peer=peer, inbound_topic_id=owner.inbound_topic_id, connection_id=sequence)
            body, name = write_created(owner, opening, topic_id), f"{owner.inbound_topic_id}:{sequence}"
            await self._office.ledger.put_post(owner.inbound_topic_id, body, CREATED_MEMO, owner.account_id, id=name)

    async def _meeting(self, agent: str, peer: str) -> str | None:
        """The topic on which the two meet now."""
        topics = await self._office.ledger.topics()
        return next((one.topic_id for one in topics if (one.kind, one.agent, one.about) == (CONNECTION, folded(agent), peer)), None)

    async def open_due(self, book: Book) -> None:
        """Answer all requests that got consent. Make a topic for the two if they have none."""
        for id, opening in (await self._office.foreign.openings()).items():
            if (owner := book.of(opening.agent)) is not None:
                _log.info("%s and %s are to meet on a topic of their own", opening.agent, opening.peer)
                if opening.topic_id is None:
                    await self._office.foreign.open_connection(id, opening, owner)
                else:
                    body = write_created(owner, opening, opening.topic_id)
                    await self._office.ledger.put_post(owner.inbound_topic_id, body, CREATED_MEMO, owner.account_id, id=id)

    async def writers(self, post: Post) -> tuple[str, ...]:
        """Who may write on their topic: both of them, if the other one's key is known. If not, anybody can, and we check each message's payer."""
        opening = msgspec.json.decode(post.body, type=Opening)
        account = await self._mirror.account(opening.peer)
        theirs = None if account is None else public_key(account.get("key"))
        mine = post.payer or self._network.operator
        return () if theirs is None else (mine, theirs)

    async def on_asked(self, whole: Whole, topic_id: str, peer: str, book: Book, batch: dict[int, Whole]) -> Sighting | None:
        """Handle a message on the topic of somebody whom one of our agents has asked; None if it concerns others."""
        try:
            envelope = read_envelope(whole.data)
            if envelope.op == "connection_request" and (mine := book.known(envelope, whole.payer)) is not None:
                return sighting(whole, sender=mine, verdict=ASKED)
            if envelope.op != "connection_created" or whole.payer != peer or read_operator(envelope.operator_id)[1] != peer:
                return None
        except NotOurs:
            return None
        agent = await self._asker(topic_id, envelope, book, batch)
        topic = envelope.connection_topic_id
        if agent is None or topic is None or not is_ledger_id(topic):
            return None
        try:
            again = await self._answered(agent, topic_id, envelope.connection_id or 0, book)
            await self._office.foreign.answered(agent, peer, topic, again=again)
        except (TopicTaken, NotOurs) as error:
            return refused(whole, error)
        return sighting(whole, sender=peer, verdict=ANSWERED)

    async def _asker(self, topic_id: str, envelope: Envelope, book: Book, batch: dict[int, Whole]) -> str | None:
        """Which of our requests it answers: the one with that number on the same topic."""
        number = envelope.connection_id
        if number is None:
            return None
        if (request := batch.get(number)) is not None:
            raw, payer = request.data, request.payer
        else:
            records = await self._office.ledger.records(self._office.owner(), topic_id, number - 1, 1)
            if not records or records[0].sequence != number or records[0].verdict != ASKED:
                return None
            raw, payer = (records[0].body or "").encode(), records[0].payer
        try:
            asked = read_envelope(raw)
            return book.known(asked, payer) if asked.op == "connection_request" else None
        except NotOurs:
            return None

    async def _answered(self, agent: str, topic_id: str, after: int, book: Book) -> bool:
        """Whether our agent's request on a topic is answered already: other software may repeat an answer at any time."""
        while records := await self._office.ledger.records(self._office.owner(), topic_id, after):
            for record in records:
                envelope = read_envelope((record.body or "").encode()) if record.verdict == ANSWERED else None
                if envelope is not None and await self._asker(topic_id, envelope, book, {}) == agent:
                    return True
            after = records[-1].sequence
        return False

    async def on_close(self, whole: Whole, topic_id: str, agent: str, peer: str, book: Book) -> Sighting:
        """One of the two ends the connection. On a topic that they have left, that means nothing."""

        def read() -> Sighting:
            return sighting(whole, sender=book.signed_by(read_envelope(whole.data), whole.payer, peer).agent, verdict=CLOSED)

        seen = or_refused(whole, read)
        if seen.refusal is None and seen.sender == peer and topic_id == await self._meeting(agent, peer):
            await self._office.foreign.closed(agent, peer)
        return seen

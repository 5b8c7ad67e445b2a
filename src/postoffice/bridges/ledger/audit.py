"""The audit: rebuilds the inbox from the topics alone and compares it with the office's. It names what is missing, altered or forged."""

from collections.abc import Callable
from typing import Any

import msgspec

from postoffice.bridges.ledger.mirror import Mirror
from postoffice.bridges.ledger.sightings import Book, on_connection, on_entity, on_inbound, operation, shown
from postoffice.client.path import part
from postoffice.client.wire import Wire
from postoffice.core.chain import broken_links
from postoffice.core.chunks import Whole, all_whole
from postoffice.core.draft import Draft
from postoffice.core.errors import NoSuchAgent, NotFound
from postoffice.core.fingerprint import Body, body_of, fingerprint, matches
from postoffice.core.ledger import ASKED, CONNECTION, ENTITY, Account, Record, Sighting, Topic
from postoffice.core.message import Message, is_note
from postoffice.core.names import folded

MISSING, ALTERED, FORGED = "missing", "altered", "forged"
_MAIL = ("confirmed", "delivered")
_RECORDS_READ = 200
Tell = Callable[[str], None]


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is not right."""

    is_: str = msgspec.field(name="is")
    topic_id: str
    sequence: int
    why: str
    message_id: str | None = None


class Audit:
    """Reads everything and changes nothing."""

    def __init__(self, wire: Wire, mirror: Mirror, operator: str, tell: Tell) -> None:
        self._wire = wire
        self._mirror = mirror
        self._operator = operator
        self._tell = tell
        self._findings: list[Finding] = []
        self._inbox: list[dict[str, Any]] = []

    async def verify(self, agents: frozenset[str] | None = None) -> dict[str, Any]:
        """Check every topic of these agents, or of all, and every other watched topic."""
        listed = (await self._wire.get("/ledger/accounts"))["accounts"]
        accounts = [msgspec.convert(one, Account) for one in listed]
        topics = [msgspec.convert(one, Topic) for one in (await self._wire.get("/ledger/topics"))["topics"]]
        book = Book(accounts, self._operator, topics)
        ours = [Topic(topic_id=one.inbound_topic_id, kind="inbound", agent=one.agent, about="") for one in accounts if not one.foreign]
        if agents is not None and (unknown := agents - {folded(one.agent or "") for one in ours}):
            raise NoSuchAgent(
                name=min(unknown), hint="no agent of that name has topics here; `postoffice ledger status` shows those that have"
            )
        own = {one.topic_id for one in ours}
        others = [one for one in topics if one.topic_id not in own]
        watched = [one for one in ours + others if agents is None or folded(one.agent or "") in agents]
        for number, topic in enumerate(watched, 1):
            self._tell(f"[{number}/{len(watched)}] topic {topic.topic_id}, of {topic.agent or topic.about}")
            if topic.kind != ASKED:
                await self._look_at(topic, book)
        return {"topics": len(watched), "inbox": self._inbox, "findings": [msgspec.to_builtins(one) for one in self._findings]}

    def _found(self, kind: str, topic: Topic, sequence: int, why: str, message_id: str | None = None) -> None:
        self._findings.append(Finding(is_=kind, topic_id=topic.topic_id, sequence=sequence, why=why, message_id=message_id))

    async def _look_at(self, topic: Topic, book: Book) -> None:
        rows = await self._mirror.all_messages(topic.topic_id)
        records = await self._records(topic.topic_id)
        for sequence in broken_links(rows):
            self._found(ALTERED, topic, sequence, "the mirror gives it a running hash that does not match")
        there = {int(row["sequence_number"]) for row in rows}
        for sequence in range(1, max(there, default=0) + 1):
            if sequence not in there:
                self._found(MISSING, topic, sequence, "the mirror lacks it, but has later ones")
        for sequence, record in records.items():
            if sequence not in there:
                self._found(MISSING, topic, sequence, "the office has seen it, but it is not on the ledger", record.message_id)
        for whole in all_whole(rows):
            await self._compare(topic, whole, _read(topic, whole, book), records.get(whole.sequence))

    async def _records(self, topic_id: str) -> dict[int, Record]:
        records: dict[int, Record] = {}
        while True:
            path = f"/ledger/topics/{part(topic_id)}/records"
            page = (await self._wire.get(path, after=max(records, default=0), limit=_RECORDS_READ))["records"]
            records |= {one["sequence"]: msgspec.convert(one, Record) for one in page}
            if len(page) < _RECORDS_READ:
                return records

    async def _compare(self, topic: Topic, whole: Whole, seen: Sighting | None, record: Record | None) -> None:
        if record is None:
            self._found(MISSING, topic, whole.sequence, "it is on the ledger, but the office has not taken it")
        elif (record.payer, record.at) != (whole.payer, whole.at) or record.body != shown(whole):
            self._found(ALTERED, topic, whole.sequence, "the mirror gives other content than the office has seen", record.message_id)
        if seen is None:
            return
        if seen.refusal is not None:
            if seen.verdict == FORGED:
                taken = "" if record is None or record.verdict == "quarantined" else "; the office has taken it"
                self._found(FORGED, topic, whole.sequence, f"{seen.refusal}{taken}")
            return
        if record is not None and record.verdict in _MAIL and record.message_id is not None:
            await self._compare_mail(topic, whole, seen, record)

    async def _compare_mail(self, topic: Topic, whole: Whole, seen: Sighting, record: Record) -> None:
        """Compare what the office made of it with what it is."""
        try:
            original = (await self._wire.get(f"/messages/{part(record.message_id or '')}/status"))["message"]
        except NotFound:
            self._found(MISSING, topic, whole.sequence, "the office took it, but does not have it any more", record.message_id)
            return
        if original is None:
            return  # purged, as the office's retention asks
        message = msgspec.convert(original, Message)
        if not _same(topic, seen, record, message):
            self._found(ALTERED, topic, whole.sequence, "the office's copy differs from the ledger", record.message_id)
        elif topic.kind != ENTITY or is_note(message.type):
            self._rebuild(seen, whole, message)

    def _rebuild(self, seen: Sighting, whole: Whole, message: Message) -> None:
        """A line of the inbox. If the ledger has only a hash, the words come from the office, and the hash confirms them."""
        to = seen.mailbox or (message.to if isinstance(message.to, str) else ", ".join(message.to))
        self._inbox.append(
            {
                "to_agent": to,
                "from_agent": seen.sender,
                "message_type": message.type,
                "subject": message.subject,
                "priority": message.priority,
                "ref_id": message.ref_id,
                "consensus_at": whole.at,
                "message_id": message.id,
            }
        )


def _read(topic: Topic, whole: Whole, book: Book) -> Sighting | None:
    """What it is according to the ledger alone."""
    if topic.kind == ENTITY:
        return on_entity(whole, topic.topic_id, topic.about, book, _unrouted)
    if operation(whole) not in (None, "message"):
        return None
    if topic.kind == CONNECTION:
        return on_connection(whole, topic.topic_id, topic.agent or "", topic.about, book)
    return on_inbound(whole, topic.topic_id, topic.agent or "", book)


def _unrouted(*_: object, **__: object) -> list[Draft]:
    """An event without its recipients: the office decides who is told, and the ledger says only that it happened."""
    return []


def _same(topic: Topic, seen: Sighting, record: Record, message: Message) -> bool:
    if seen.sender is not None and folded(seen.sender) != folded(message.sender):
        return False
    if topic.kind == ENTITY:
        return not seen.deliveries or seen.deliveries[0].draft.content == message.content
    if record.verdict == "confirmed":
        return seen.body is not None and matches(seen.body, message)
    if not seen.deliveries:
        return False
    draft = seen.deliveries[0].draft
    body = Body(
        message_type=draft.type,
        subject=draft.subject or "",
        content=draft.content,
        parts=draft.parts,
        payload=draft.payload,
        context=draft.context,
        ref_id=draft.ref_id,
        ref_type=draft.ref_type,
        priority=draft.priority or message.priority,
    )
    return fingerprint(body) == fingerprint(msgspec.structs.replace(body_of(message), id=None))

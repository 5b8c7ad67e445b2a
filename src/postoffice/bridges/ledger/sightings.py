"""What a message on a topic means to us: our own mail, others' mail, a note, an event, or something to set aside."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import msgspec

from postoffice.core.chunks import Whole
from postoffice.core.clock import is_id
from postoffice.core.draft import Draft
from postoffice.core.envelope import Envelope, read_body, read_envelope, read_operator
from postoffice.core.errors import Forged, MailError, NotOurs
from postoffice.core.fingerprint import Body
from postoffice.core.ledger import FORMER, Account, Delivery, Sighting, Topic
from postoffice.core.message import TASK, is_note
from postoffice.core.names import EVERYONE, SYSTEM, folded

_MOST_BYTES = 64 * 1024
_SHOWN_BYTES = 8192
Routed = Callable[..., list[Draft]]


class Book:
    """Who is who on the ledger at one moment."""

    def __init__(self, accounts: list[Account], operator: str, topics: Iterable[Topic] = ()) -> None:
        self.accounts = accounts
        self._operator = operator
        self._by_agent = {folded(account.agent): account for account in accounts}
        self._by_inbound: Mapping[str, Account] = {account.inbound_topic_id: account for account in accounts}
        self._by_account: dict[str, list[Account]] = {}
        for account in (
            one for one in accounts if not one.foreign
        ):  # a foreign account that only asked for a connection speaks for no agent here
            self._by_account.setdefault(account.account_id, []).append(account)
        before = (self._before(topic) for topic in topics if topic.kind == FORMER)
        self._former = {account.operator_id: account for account in before if account is not None}

    def _before(self, topic: Topic) -> Account | None:
        """An agent as it was while a topic belonged to it."""
        now = self.of(topic.agent or "")
        return None if now is None else msgspec.structs.replace(now, account_id=topic.about, inbound_topic_id=topic.topic_id)

    def signed_by(self, envelope: Envelope, payer: str, peer: str | None = None) -> Account:
        """The agent that wrote an operation: the one it names, if that agent's account also paid.

        A `peer` has a topic with us and is known by its account. Several agents of its office may share an account, each with an inbound topic.
        """
        topic, account = read_operator(envelope.operator_id)
        if account != payer:
            raise Forged(why=f"it says to be from {account}, but {payer} paid for it")
        signer = self._by_inbound.get(topic) or (self.of(account) if account == peer else None)
        if signer is None or signer.account_id != account:
            signer = self._former.get(envelope.operator_id)
        if signer is None:
            raise NotOurs(why=f"its sender {envelope.operator_id} is not known here")
        return signer

    def known(self, envelope: Envelope, payer: str) -> str | None:
        """The agent that wrote an operation, if we know it."""
        try:
            return self.signed_by(envelope, payer).agent
        except NotOurs:
            return None

    def of(self, agent: str) -> Account | None:
        """An agent's place on the ledger."""
        return self._by_agent.get(folded(agent))

    def check_payer(self, payer: str) -> None:
        """Refuse a message whose payer has nothing to do with this office."""
        if payer != self._operator and payer not in self._by_account:
            raise NotOurs(why=f"{payer}, who paid for it, is not known here")

    def named(self, agent: str, payer: str) -> Account:
        """Our agent of that name, if its account paid."""
        for account in self._by_account.get(payer, ()):
            if folded(account.agent) == folded(agent):
                return account
        raise Forged(why=f"it says to be from {agent[:100]!r}, and no agent of that name here has the account {payer}, which paid for it")


def operation(whole: Whole) -> str | None:
    """The HCS-10 operation in a message; None if there is none."""
    try:
        return read_envelope(whole.data).op
    except NotOurs:
        return None


def on_inbound(whole: Whole, topic_id: str, owner: str, book: Book, *, former: bool = False) -> Sighting:
    """A message on a topic that is or was an agent's own."""
    return or_refused(whole, lambda: _message(whole, topic_id, book, lambda _: owner, former=former))


def on_connection(whole: Whole, topic_id: str, agent: str, peer: str, book: Book) -> Sighting:
    """A message on the topic of one of our agents and one of other software: it goes to the one who did not write it."""

    def other(sender: str) -> str:
        if folded(sender) not in (folded(agent), folded(peer)):
            raise NotOurs(why=f"{sender} is not one of the two that meet here")
        return peer if folded(sender) == folded(agent) else agent

    return or_refused(whole, lambda: _message(whole, topic_id, book, other, peer))


def _message(
    whole: Whole, topic_id: str, book: Book, recipient: Callable[[str], str], peer: str | None = None, *, former: bool = False
) -> Sighting:
    envelope = _envelope(whole)
    if envelope.op != "message":
        raise NotOurs(why=f"its operation {envelope.op[:40]!r} does not belong on this topic")
    sender = book.signed_by(envelope, whole.payer, peer)
    body, to = read_body(envelope), recipient(sender.agent)
    if sender.foreign and body.message_type == TASK:
        raise NotOurs(why="a task's requester has to hear how it goes, and this one cannot; send a message")
    # Another office may have signed a message a second time while its mirror was far behind: the same id makes both one.
    name = body.id if body.id is not None and is_id(body.id) else f"{topic_id}:{whole.sequence}"
    mail = () if body.hash is not None else (Delivery(sender=sender.agent, draft=_draft(body, to, name)),)
    former = former or sender != book.of(sender.agent)
    return sighting(whole, sender=sender.agent, mailbox=to, body=body, deliveries=mail, former=former)


def on_entity(whole: Whole, topic_id: str, entity_type: str, book: Book, routed: Routed) -> Sighting:
    """A note or event on an entity's topic."""

    def read() -> Sighting:
        said = _object(whole)
        type, name = said.get("type"), f"{topic_id}:{whole.sequence}"
        if not isinstance(type, str) or not type:
            raise NotOurs(why="it names no type")
        if not is_note(type):
            book.check_payer(whole.payer)
            drafts = routed(topic_id, type, said, entity_type=entity_type, client_id=name)
            return sighting(whole, deliveries=tuple(Delivery(sender=SYSTEM, draft=draft) for draft in drafts))
        if not isinstance(said.get("from_agent"), str) or not isinstance(said.get("note"), str):
            raise NotOurs(why="a note needs from_agent and note")
        sender = book.named(said["from_agent"], whole.payer)
        notify = said.get("notify") or []
        if not isinstance(notify, list) or any(not isinstance(one, str) for one in notify):
            raise NotOurs(why="notify is a list of agents")
        draft = Draft(
            to=EVERYONE if notify == [EVERYONE] else tuple(notify),
            type=type,
            content=said["note"],
            ref_id=topic_id,
            ref_type=entity_type,
            client_id=name,
        )
        body = Body(id=said["id"]) if isinstance(said.get("id"), str) else None
        return sighting(whole, sender=sender.agent, body=body, deliveries=(Delivery(sender=sender.agent, draft=draft),))

    return or_refused(whole, read)


def _draft(body: Body, to: str, client_id: str) -> Draft:
    empty = body.content is None and not body.parts and body.payload is msgspec.UNSET
    return Draft(
        to=to,
        type=body.message_type,
        subject=body.subject,
        content=body.subject if empty else body.content,
        parts=body.parts,
        payload=body.payload,
        context=body.context,
        ref_id=body.ref_id,
        ref_type=body.ref_type,
        priority=body.priority,
        client_id=client_id,
    )


def or_refused(whole: Whole, read: Callable[[], Sighting]) -> Sighting:
    """What a message means, or why it is set aside."""
    try:
        return read()
    except MailError as error:
        return refused(whole, error)


def refused(whole: Whole, error: MailError) -> Sighting:
    """A message to set aside, and why."""
    return sighting(whole, refusal=str(error), verdict=error.code)


def torn(whole: Whole) -> Sighting:
    """Set aside a message some of whose pieces never came."""
    return refused(whole, NotOurs(why="some of its pieces never came"))


def _envelope(whole: Whole) -> Envelope:
    _check_size(whole)
    return read_envelope(whole.data)


def _object(whole: Whole) -> dict[str, Any]:
    _check_size(whole)
    try:
        value = msgspec.json.decode(whole.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        value = None
    if not isinstance(value, dict):
        raise NotOurs(why="it is not a JSON object")
    return value


def _check_size(whole: Whole) -> None:
    if len(whole.data) > _MOST_BYTES:
        raise NotOurs(why=f"it is {len(whole.data)} bytes, more than the {_MOST_BYTES} taken from the ledger")


def sighting(whole: Whole, **fields: Any) -> Sighting:
    """A message on the ledger, with all we know of it."""
    return Sighting(sequence=whole.sequence, payer=whole.payer, at=whole.at, raw=shown(whole), **fields)


def shown(whole: Whole) -> str:
    """The part of it that is kept, as text."""
    return whole.data[:_SHOWN_BYTES].decode(errors="backslashreplace").replace("\0", "\\0")

"""What a message on a topic is to us: mail coming back, mail of others, a note, an event, or something to be set aside."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from postoffice.core.chunks import Whole
from postoffice.core.errors import MailError, NotOurs
from postoffice.core.ledger import (
    Account,
    Body,
    Delivery,
    Envelope,
    Sighting,
    read_body,
    read_envelope,
    read_operator,
)
from postoffice.core.message import Draft, is_note
from postoffice.core.names import SYSTEM, folded

_MOST_BYTES = 64 * 1024
_SHOWN = 8192
Routed = Callable[..., list[Draft]]


class Book:
    """Who is who on the ledger, at one moment."""

    def __init__(self, accounts: list[Account]) -> None:
        self.accounts = accounts
        self._by_inbound: Mapping[str, Account] = {account.inbound_topic_id: account for account in accounts}
        self._by_account: dict[str, list[Account]] = {}
        for account in accounts:
            self._by_account.setdefault(account.account_id, []).append(account)

    def signed_by(self, envelope: Envelope, payer: str) -> Account:
        """The agent that wrote an operation: the one it names, if that one's account also paid for it."""
        topic, account = read_operator(envelope.operator_id)
        if account != payer:
            raise NotOurs(why=f"it says to be from {account}, but {payer} paid for it")
        known = self._by_inbound.get(topic)
        if known is None or known.account_id != account:
            raise NotOurs(why=f"its sender {envelope.operator_id} is not known here")
        return known

    def named(self, agent: str, payer: str) -> Account:
        """The agent of that name, if its account paid."""
        for account in self._by_account.get(payer, ()):
            if folded(account.agent) == folded(agent):
                return account
        raise NotOurs(why=f"it says to be from {agent[:100]}, whose account did not pay for it")


def on_inbound(whole: Whole, topic_id: str, owner: str, book: Book) -> Sighting:
    """A message on an agent's own topic, or on one it shares with another."""

    def read() -> Sighting:
        envelope = _envelope(whole)
        if envelope.op != "message":
            return _sighting(whole)  # the handshake's business
        sender = book.signed_by(envelope, whole.payer)
        body = read_body(envelope)
        mail = () if body.hash is not None else (Delivery(sender=sender.agent, draft=_draft(body, owner, f"{topic_id}:{whole.sequence}")),)
        return _sighting(whole, sender=sender.agent, mailbox=owner, body=body, deliveries=mail)

    return _or_refused(whole, read)


def on_entity(whole: Whole, topic_id: str, entity_type: str, book: Book, routed: Routed) -> Sighting:
    """A note or an event on an entity's topic."""

    def read() -> Sighting:
        said = _object(whole)
        type, name = said.get("type"), f"{topic_id}:{whole.sequence}"
        if not isinstance(type, str) or not type:
            raise NotOurs(why="it names no type")
        if not is_note(type):
            drafts = routed(topic_id, type, said, entity_type=entity_type, client_id=name)
            return _sighting(whole, deliveries=tuple(Delivery(sender=SYSTEM, draft=draft) for draft in drafts))
        if not isinstance(said.get("from_agent"), str) or not isinstance(said.get("note"), str):
            raise NotOurs(why="a note needs from_agent and note")
        sender = book.named(said["from_agent"], whole.payer)
        notify = tuple(one for one in said.get("notify") or () if isinstance(one, str))
        draft = Draft(to=notify, type=type, content=said["note"], ref_id=topic_id, ref_type=entity_type, client_id=name)
        body = Body(id=said["id"]) if isinstance(said.get("id"), str) else None
        return _sighting(whole, sender=sender.agent, body=body, deliveries=(Delivery(sender=sender.agent, draft=draft),))

    return _or_refused(whole, read)


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


def _or_refused(whole: Whole, read: Callable[[], Sighting]) -> Sighting:
    try:
        return read()
    except MailError as error:
        return _sighting(whole, refusal=str(error))


def _envelope(whole: Whole) -> Envelope:
    _check_size(whole)
    return read_envelope(whole.data)


def _object(whole: Whole) -> dict[str, Any]:
    _check_size(whole)
    try:
        said = msgspec.json.decode(whole.data)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        said = None
    if not isinstance(said, dict):
        raise NotOurs(why="it is not a JSON object")
    return said


def _check_size(whole: Whole) -> None:
    if len(whole.data) > _MOST_BYTES:
        raise NotOurs(why=f"it is {len(whole.data)} bytes, more than the {_MOST_BYTES} taken from the ledger")


def _sighting(whole: Whole, **fields: Any) -> Sighting:
    raw = whole.data[:_SHOWN].decode(errors="backslashreplace").replace("\0", "\\0")
    return Sighting(sequence=whole.sequence, payer=whole.payer, at=whole.at, raw=raw, **fields)

"""Where a message stands: the verb, and what other verbs need of a message that the caller has sent."""

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.errors import AmbiguousId, NoSuchMessage
from postoffice.core.names import folded
from postoffice.core.views import Proof
from postoffice.office.checks import Checks
from postoffice.office.rules import LedgerRules
from postoffice.office.short_ids import ShortIds
from postoffice.store.store import Store


class Proofs:
    """A sender sees every delivery of its message, a recipient only its own."""

    def __init__(self, store: Store, checks: Checks, short_ids: ShortIds, ledger: LedgerRules | None) -> None:
        self._store = store
        self._checks = checks
        self._short_ids = short_ids
        self._ledger = ledger

    async def status(self, caller: Caller, ref: str, cursor: str | None = None, limit: int | None = None) -> Proof:
        """Where a message stands, for whoever sent it, got it, or runs the server. With the members of a list: in numbers, and page by page."""
        reader, most = None if caller.owner else caller.name, self._checks.page(limit)
        after = "" if cursor is None else self._checks.cursor(cursor)
        return await self._short_ids.named(reader, self._checks.ref(ref), lambda whole: self._status(caller, whole, after, most))

    async def of_sent(self, caller: Caller, ref: str) -> Proof:
        """Where a message stands that the caller has sent; the owner may name anybody's."""
        reader = None if caller.owner else caller.name
        return await self._short_ids.named(reader, self._checks.ref(ref), lambda whole: self._sent(caller, whole))

    async def _status(self, caller: Caller, ref: str, after: str, limit: int) -> Proof:
        proofs = await self._store.mail.proofs(ref, None if caller.owner else caller.name, after, limit)
        if not proofs:
            raise NoSuchMessage(name=caller.name, ref=ref)
        if len(proofs) > 1:
            raise AmbiguousId(ref=ref, name=caller.name)
        (proof,) = proofs
        if self._ledger is not None:
            proof = await self._with_ledger(proof)
        me = folded(caller.name)
        if caller.owner or proof.message is None or folded(proof.message.sender) == me:
            return proof
        own = tuple(standing for standing in proof.standings if me in (folded(standing.recipient), folded(standing.taken_by or "")))
        return msgspec.structs.replace(proof, standings=own)

    async def _with_ledger(self, proof: Proof) -> Proof:
        """With what the ledger knows of each delivery."""
        by_recipient = await self._store.ledger.on_ledger(proof.message_id)
        standings = (
            msgspec.structs.replace(one, ledger=by_recipient[one.recipient]) if one.recipient in by_recipient else one
            for one in proof.standings
        )
        return msgspec.structs.replace(proof, standings=tuple(standings))

    async def _sent(self, caller: Caller, ref: str) -> Proof:
        proofs = await self._store.mail.proofs(ref, None if caller.owner else caller.name)
        sent = [one for one in proofs if one.message is not None and (caller.owner or folded(one.message.sender) == folded(caller.name))]
        if not sent:
            raise NoSuchMessage(name=caller.name, ref=ref)
        if len(sent) > 1:
            raise AmbiguousId(ref=ref, name=caller.name)
        return sent[0]

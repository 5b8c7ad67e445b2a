"""Verbs that send mail, and take it back."""

from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

import msgspec

from postoffice.acts.mail.send import Send
from postoffice.core.agent import Caller
from postoffice.core.clock import steady
from postoffice.core.delivery import Recalled
from postoffice.core.draft import Draft, LedgerWish
from postoffice.core.entity import check_entity_type
from postoffice.core.errors import (
    AmbiguousId,
    Invalid,
    MailError,
    NoSuchAgent,
    NoSuchMessage,
    NothingToAnswer,
    TooLateToCancel,
)
from postoffice.core.ledger import DIRECT, is_ledger_id
from postoffice.core.message import Accepted, is_note
from postoffice.core.names import EVERYONE, SYSTEM, folded
from postoffice.core.policy import Auth
from postoffice.core.routing import routes_for
from postoffice.core.views import Proof
from postoffice.office.counter import Counter
from postoffice.office.hooks import Hooks
from postoffice.office.house import House
from postoffice.office.recalling import recall
from postoffice.office.trace import Trace
from postoffice.store.store import Store
from postoffice.wake.protocol import Wake

_NOW = timedelta(0)


class SendingVerbs(Counter):
    """Sending."""

    def __init__(self, store: Store, wake: Wake, house: House | None = None, trace: Trace | None = None) -> None:
        super().__init__(store, wake, house, trace)
        self.hooks = Hooks(store, self._clock, self.send)

    async def send(self, caller: Caller, draft: Draft) -> Accepted:
        """Accept a message: to an agent, to many, to ALL, as a note, or forwarded. Durable when it returns."""
        begun = steady()
        try:
            checked = self._checks.draft(self._abroad(draft))
            accepted = await self._accept(caller, checked)
        except NoSuchAgent as error:
            raise await self._near_names.unknown(str(error.facts["name"])) from None
        self._count_sent(caller, accepted, begun)
        return await self._reached(caller, await self._warned(accepted))

    async def send_many(self, caller: Caller, drafts: Sequence[Draft | MailError]) -> list[Accepted | BaseException]:
        """Accept several messages; each is accepted or refused by itself, also what its door could not read."""
        self._checks.batch(drafts)
        begun = steady()
        judged = [self._judged(draft) if isinstance(draft, Draft) else draft for draft in drafts]
        answers = iter(await self.store.do_each([self._act(caller, one) for one in judged if isinstance(one, Draft)]))
        outcomes = [await self._again(caller, one, next(answers)) if isinstance(one, Draft) else one for one in judged]
        for place, outcome in enumerate(outcomes):
            if isinstance(outcome, Accepted):
                self._count_sent(caller, outcome, begun)
                outcomes[place] = await self._reached(caller, await self._warned(outcome))
            elif isinstance(outcome, NoSuchAgent):
                outcomes[place] = await self._near_names.unknown(str(outcome.facts["name"]))
        return outcomes

    async def _accept(self, caller: Caller, draft: Draft) -> Accepted:
        outcome: Accepted | BaseException
        try:
            outcome = await self.store.do(self._act(caller, draft))
            if not outcome.duplicate:
                return outcome
        except (NoSuchMessage, NothingToAnswer) as error:
            outcome = error
        sure = await self._again(caller, draft, outcome)
        if isinstance(sure, BaseException):
            raise sure
        return sure

    async def _warned(self, accepted: Accepted) -> Accepted:
        """A name that nobody has had may be a slip: name the nearest one."""
        if not any(one.unseen for one in accepted.posted):
            return accepted
        posted = [
            msgspec.structs.replace(one, near=await self._near_names.nearest(one.recipient)) if one.unseen else one
            for one in accepted.posted
        ]
        return msgspec.structs.replace(accepted, posted=tuple(posted))

    def _act(self, caller: Caller, draft: Draft, **more: Any) -> Send:
        return Send(caller.name, draft, verified=caller.verified, strangers=self.house.auth is Auth.OPEN, **more)

    async def _again(self, caller: Caller, draft: Draft, outcome: Accepted | BaseException) -> Accepted | BaseException:
        """What seems a repetition may be the next message of an exchange under one id, and what is not known may be named by a short one."""
        if isinstance(outcome, Accepted):
            repeated = outcome.duplicate and isinstance(draft.to, str)
            return await self.store.do(self._act(caller, draft, looks=True)) if repeated else outcome
        if not isinstance(outcome, NoSuchMessage | NothingToAnswer):
            return outcome
        try:
            refs = {ref: await self.short_ids.whole(caller.name, ref) for ref in (draft.reply_to, draft.forward_of) if ref}
            whole = {ref: id for ref, id in refs.items() if id}
            return await self.store.do(self._act(caller, draft, whole=whole)) if whole else outcome
        except MailError as error:
            return error

    async def _reached(self, caller: Caller, accepted: Accepted) -> Accepted:
        """The answer, and of each recipient whether it can take the message now. What is accepted stays so, whether that is known or not."""
        if not self._board.current:
            with suppress(MailError):
                await self._board.look()
        posted = tuple(
            [
                msgspec.structs.replace(
                    one, known=None, reach=None if one.refusal or one.known is None else self._reach(caller, one.recipient, one.known)
                )
                for one in accepted.posted
            ]
        )
        return msgspec.structs.replace(accepted, posted=posted)

    def _count_sent(self, caller: Caller, accepted: Accepted, begun: int) -> None:
        self.sent += not accepted.duplicate
        if self.trace is not None and not accepted.duplicate:
            self.trace.sent(caller.name, accepted, timedelta(microseconds=(steady() - begun) // 1000))

    def _judged(self, draft: Draft) -> Draft | MailError:
        try:
            return self._checks.draft(self._abroad(draft))
        except MailError as error:
            return error

    def _by_ledger(self, draft: Draft) -> Draft:
        rules = self.house.ledger
        return draft if rules is None else msgspec.structs.replace(draft, ledger=LedgerWish(rules.private, rules.log))

    def _abroad(self, draft: Draft) -> Draft:
        """Agents of other software can only be reached over the ledger, whatever door the mail came in by."""
        rules = self.house.ledger
        if rules is None or draft.ledger is not None:
            return draft
        to = (draft.to,) if isinstance(draft.to, str) else draft.to
        if not any(name == EVERYONE or is_ledger_id(str(name)) for name in to):
            return draft
        return msgspec.structs.replace(draft, ledger=LedgerWish(private=rules.private, abroad=True))

    async def _own(self, caller: Caller, ref: str) -> Proof:
        """A message that the caller has sent; the owner anybody's."""
        proofs = await self.store.mail.proofs(ref, None if caller.owner else caller.name)
        sent = [one for one in proofs if one.message is not None and (caller.owner or folded(one.message.sender) == folded(caller.name))]
        if not sent:
            raise NoSuchMessage(name=caller.name, ref=ref)
        if len(sent) > 1:
            raise AmbiguousId(ref=ref, name=caller.name)
        return sent[0]

    async def note(
        self, caller: Caller, entity_id: str, entity_type: str, note: str, notify: Sequence[str] = (), *, client_id: str | None = None
    ) -> Accepted:
        """Keep a note with an entity, and send it to whoever should know."""
        check_entity_type(entity_type)
        draft = Draft(
            to=EVERYONE if list(notify) == [EVERYONE] else tuple(notify),
            type=f"{entity_type}.note",
            content=note,
            ref_id=entity_id,
            ref_type=entity_type,
            client_id=client_id,
        )
        return self._said(await self.send(caller, self._by_ledger(draft)), note=True)

    async def publish(self, caller: Caller, draft: Draft) -> Accepted:
        """Send by the ledger, where there is one."""
        return self._said(await self.send(caller, self._by_ledger(draft)))

    async def event(
        self, caller: Caller, entity_id: str, type: str, data: Any = None, *, entity_type: str | None = None, client_id: str | None = None
    ) -> list[Accepted]:
        """Something happened to an entity: whoever the routes name is told by the office. One who refuses keeps it from nobody else."""
        payload = {"entity_id": entity_id, "event": type, "by": caller.name, "data": data}
        if entity_type is not None:
            check_entity_type(entity_type)
        if is_note(type):
            raise Invalid(what="type", why="a note is posted as a note, with who should know")
        drafts = self.routed(entity_id, type, payload, entity_type=entity_type, client_id=client_id)
        strangers = self.house.auth is Auth.OPEN
        outcomes = await self.store.do_each([Send(SYSTEM, draft, verified=True, strangers=strangers, doer=caller.name) for draft in drafts])
        refusals = [outcome for outcome in outcomes if isinstance(outcome, BaseException)]
        if refusals:
            raise refusals[0]
        return [outcome for outcome in outcomes if isinstance(outcome, Accepted)]

    def routed(
        self, entity_id: str, type: str, payload: Any, *, entity_type: str | None = None, client_id: str | None = None
    ) -> list[Draft]:
        """The mail that an event comes to by the routes."""
        return [
            self._checks.draft(
                Draft(
                    to=name,
                    type=type,
                    subject=f"{type} {entity_id}",
                    payload=payload,
                    ref_id=entity_id,
                    ref_type=entity_type or type.partition(".")[0],
                    priority=route.priority,
                    client_id=client_id,
                )
            )
            for route in routes_for(type, self.house.routes)
            for name in route.to
        ]

    def _said(self, sent: Accepted, *, note: bool = False) -> Accepted:
        """The answer with how it goes, also where there is no ledger."""
        if self.house.ledger is not None:
            return sent
        posted = tuple(msgspec.structs.replace(one, ledger=DIRECT) for one in sent.posted)
        return msgspec.structs.replace(sent, posted=posted, ledger=DIRECT if note else None)

    async def cancel(self, caller: Caller, ref: str) -> tuple[str, tuple[Recalled, ...]]:
        """Take back what the caller has sent: its id, and what became of it with each recipient. A task ends also where it was taken."""
        return await self.short_ids.named(
            None if caller.owner else caller.name, self._checks.ref(ref), lambda whole: self._cancel(caller, whole)
        )

    async def _cancel(self, caller: Caller, ref: str) -> tuple[str, tuple[Recalled, ...]]:
        proof = await self._own(caller, ref)
        assert proof.message is not None
        if proof.message.ask is not None:
            raise Invalid(what="message", why="it asks a question, which its sender withdraws instead (POST /questions/{id}/withdraw)")
        sender = proof.message.sender
        acts = [recall(caller, sender, proof.message_id, standing.recipient) for standing in proof.standings]
        outcomes = await self.store.do_each(acts)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        recalled = tuple(outcome for outcome in outcomes if isinstance(outcome, Recalled))
        if not any(one.canceled for one in recalled):
            raise TooLateToCancel(ref=ref, states=", ".join(f"{one.state} with {one.recipient}" for one in recalled) or "it went to nobody")
        return proof.message_id, recalled

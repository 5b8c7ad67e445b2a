"""Verbs that send mail."""

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import msgspec

from postoffice.acts.lists.sending import sending
from postoffice.acts.mail.send import Send
from postoffice.core.agent import Caller
from postoffice.core.clock import steady
from postoffice.core.draft import Draft, LedgerWish, named_in
from postoffice.core.errors import MailError, NoSuchAgent
from postoffice.core.ledger import DIRECT, is_ledger_id
from postoffice.core.message import Accepted
from postoffice.core.names import EVERYONE, is_list, is_role
from postoffice.core.policy import Auth
from postoffice.core.reach import Known, Reach
from postoffice.office.checks import Checks
from postoffice.office.directory import Directory
from postoffice.office.reachability import Reachability
from postoffice.office.rota import Rota
from postoffice.office.rules import OfficeRules
from postoffice.office.short_ids import UNKNOWN, ShortIds
from postoffice.office.tallies import Tallies
from postoffice.office.trace import Trace
from postoffice.store.store import Store


class Sending:
    """What is accepted is durable. The answer says whether somebody can take it now."""

    def __init__(
        self,
        store: Store,
        checks: Checks,
        rules: OfficeRules,
        directory: Directory,
        short_ids: ShortIds,
        reachability: Reachability,
        rota: Rota,
        tallies: Tallies,
        trace: Trace | None,
    ) -> None:
        self._store = store
        self._checks = checks
        self._rules = rules
        self._directory = directory
        self._short_ids = short_ids
        self._reachability = reachability
        self._rota = rota
        self._tallies = tallies
        self._trace = trace

    async def send(self, caller: Caller, draft: Draft) -> Accepted:
        """Accept a message: to an agent, to many, to ALL, as a note, or forwarded. Durable when it returns."""
        begun = steady()
        try:
            checked = self._checks.draft(self._abroad(draft))
            accepted = await self._accept(caller, checked)
        except NoSuchAgent as error:
            raise await self._directory.unknown(str(error.facts["name"])) from None
        self._count_sent(caller, accepted, begun)
        return await self._reached(caller, await self._warned(accepted))

    async def send_many(self, caller: Caller, drafts: Sequence[Draft | MailError]) -> list[Accepted | BaseException]:
        """Accept several messages. Each is accepted or refused by itself, including those its door could not read."""
        self._checks.batch(drafts)
        begun = steady()
        judged = [self._judged(draft) if isinstance(draft, Draft) else draft for draft in drafts]
        roles = await self._rota.ways(caller)
        answers = iter(await self._store.do_each([self._act(caller, one, roles=roles) for one in judged if isinstance(one, Draft)]))
        outcomes = [await self._again(caller, one, next(answers)) if isinstance(one, Draft) else one for one in judged]
        for place, outcome in enumerate(outcomes):
            if isinstance(outcome, Accepted):
                self._count_sent(caller, outcome, begun)
                outcomes[place] = await self._reached(caller, await self._warned(outcome))
            elif isinstance(outcome, NoSuchAgent):
                outcomes[place] = await self._directory.unknown(str(outcome.facts["name"]))
        return outcomes

    async def publish(self, caller: Caller, draft: Draft, *, note: bool = False) -> Accepted:
        """Send by the ledger, where there is one."""
        return self._said(await self.send(caller, self._by_ledger(draft)), note=note)

    async def _accept(self, caller: Caller, draft: Draft) -> Accepted:
        outcome: Accepted | BaseException
        try:
            outcome = await self._store.do(self._act(caller, draft, roles=await self._rota.ways(caller)))
            if not outcome.duplicate:
                return outcome
        except UNKNOWN as error:
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
            msgspec.structs.replace(one, near=await self._directory.nearest(one.recipient)) if one.unseen else one
            for one in accepted.posted
        ]
        return msgspec.structs.replace(accepted, posted=tuple(posted))

    def _act(self, caller: Caller, draft: Draft, **more: Any) -> Send:
        return sending(caller.name, draft, verified=caller.verified, strangers=self._rules.auth is Auth.OPEN, **more)

    async def _again(self, caller: Caller, draft: Draft, outcome: Accepted | BaseException) -> Accepted | BaseException:
        """Try again: a seeming repetition may be the next message of an exchange under one id, and an unknown ref may be a short id."""
        if isinstance(outcome, Accepted):
            repeated = outcome.duplicate and isinstance(draft.to, str)
            roles = await self._rota.ways(caller)
            return await self._store.do(self._act(caller, draft, looks=True, roles=roles)) if repeated else outcome
        if not isinstance(outcome, UNKNOWN):
            return outcome
        try:
            refs = {ref: await self._short_ids.whole(caller.name, ref) for ref in named_in(draft)}
            whole = {ref: id for ref, id in refs.items() if id}
            roles = await self._rota.ways(caller)
            return await self._store.do(self._act(caller, draft, whole=whole, roles=roles)) if whole else outcome
        except MailError as error:
            return error

    async def _reached(self, caller: Caller, accepted: Accepted) -> Accepted:
        """The answer, saying for each recipient whether it can take the message now. If that cannot be found out, the message is accepted all the same."""
        await self._reachability.try_to_look()
        posted = tuple(
            [
                msgspec.structs.replace(
                    one,
                    known=None,
                    reach=None if one.refusal or one.known is None else await self._reach(caller, one.recipient, one.known),
                )
                for one in accepted.posted
            ]
        )
        return msgspec.structs.replace(accepted, posted=posted)

    async def _reach(self, caller: Caller, name: str, known: Known) -> Reach:
        return await self._reachability.of_role(name) if is_role(name) else self._reachability.of(caller, name, known)

    def _count_sent(self, caller: Caller, accepted: Accepted, begun: int) -> None:
        self._tallies.sent += not accepted.duplicate
        self._short_ids.note_sent(caller, accepted)
        if self._trace is not None and not accepted.duplicate:
            self._trace.sent(caller.name, accepted, timedelta(microseconds=(steady() - begun) // 1000))

    def _judged(self, draft: Draft) -> Draft | MailError:
        try:
            return self._checks.draft(self._abroad(draft))
        except MailError as error:
            return error

    def _by_ledger(self, draft: Draft) -> Draft:
        ledger_rules = self._rules.ledger
        return draft if ledger_rules is None else msgspec.structs.replace(draft, ledger=LedgerWish(ledger_rules.private, ledger_rules.log))

    def _abroad(self, draft: Draft) -> Draft:
        """Agents of other software can only be reached over the ledger, whatever door the mail came in by."""
        ledger_rules = self._rules.ledger
        if ledger_rules is None or draft.ledger is not None:
            return draft
        to = (draft.to,) if isinstance(draft.to, str) else draft.to
        if not any(name == EVERYONE or is_list(name) or is_ledger_id(str(name)) for name in to):
            return draft
        return msgspec.structs.replace(draft, ledger=LedgerWish(private=ledger_rules.private, abroad=True))

    def _said(self, sent: Accepted, *, note: bool = False) -> Accepted:
        """The answer with how it goes, also where there is no ledger."""
        if self._rules.ledger is not None:
            return sent
        posted = tuple(msgspec.structs.replace(one, ledger=DIRECT) for one in sent.posted)
        return msgspec.structs.replace(sent, posted=posted, ledger=DIRECT if note else None)

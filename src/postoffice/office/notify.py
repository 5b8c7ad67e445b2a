"""Notify addresses: the owner's verbs about them, and what is told there."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from postoffice.acts.webhooks.keeping import AddWebhook, RemoveWebhook, ResumeWebhook
from postoffice.acts.webhooks.rows import WebhookRow
from postoffice.core.agent import Caller
from postoffice.core.clock import Clock, is_id
from postoffice.core.connection import Status
from postoffice.core.delivery import Standing, State
from postoffice.core.errors import Invalid, NoSuchNotify, Unavailable
from postoffice.core.event import Event
from postoffice.core.letter import text_of
from postoffice.core.message import Message
from postoffice.core.names import OWNER, folded
from postoffice.core.notify import (
    SHOWN_AT_ONCE,
    Candidate,
    Line,
    Manner,
    Notify,
    NotifyKind,
    Outcome,
    Stuck,
    Word,
    candidate_of,
    check_address,
    check_quiet,
    may_be_told,
    words,
)
from postoffice.core.question import QuestionState
from postoffice.core.webhook import Outgoing, Shape, Tried, WebhookState, check_webhook_name
from postoffice.office.answer_links import AnswerLinks
from postoffice.office.checks import Checks
from postoffice.office.rules import OfficeRules
from postoffice.store.store import Store

Carry = Callable[[Word], Awaitable[Outcome]]
_POSTS_AT_ONCE = 200
_ENDED = (WebhookState.DEAD, WebhookState.GONE)
_manner = msgspec.json.Decoder(Manner).decode
_candidate = msgspec.json.Decoder(Candidate).decode


class NotifyAddresses:
    """All of them are the owner's. They are kept as webhooks are, and told of events by the same bridge."""

    def __init__(self, store: Store, checks: Checks, rules: OfficeRules, clock: Clock, links: AnswerLinks) -> None:
        self._store = store
        self._checks = checks
        self._rules = rules
        self._clock = clock
        self._links = links
        self._carry: Carry | None = None

    def carried_by(self, carry: Carry) -> None:
        """What takes words to an address."""
        self._carry = carry

    async def all(self, caller: Caller) -> tuple[Notify, ...]:
        """Every address, and how it does."""
        self._checks.owner_only(caller, "keep notify addresses")
        return await self._store.webhooks.notify()

    async def get(self, caller: Caller, name: str) -> Notify:
        """One address."""
        self._checks.owner_only(caller, "keep notify addresses")
        for found in await self._store.webhooks.notify(check_webhook_name(name)):
            return found
        raise NoSuchNotify(name=name)

    async def add(
        self,
        caller: Caller,
        name: str,
        address: str,
        *,
        kinds: Sequence[NotifyKind] = (),
        quiet: str | None = None,
        zone: str = "",
        bodies: bool = False,
        trusted: bool = False,
    ) -> Notify:
        """Tell an address of what waits for the owner from now on. No kinds given means all."""
        self._checks.owner_only(caller, "keep notify addresses")
        check_quiet(quiet, zone)
        outcome = await self._carried(Word(address=check_address(address)))
        if outcome.error is not None:
            raise Invalid(what="address", why=outcome.error)
        manner = Manner(service=outcome.service, quiet=quiet, zone=zone, trusted=trusted)
        row = WebhookRow(
            name=check_webhook_name(name),
            id=self._clock.new_id(),
            url=address,
            secrets="[]",
            kinds=_json(sorted(set(kinds))),
            agents="[]",
            shape=Shape.STANDARD,
            bodies=int(bodies),
            state=WebhookState.ACTIVE,
            since=0,
            error=None,
            place=await self._store.log.last(),
            counted=0,
            created_at=0,
            delivered_at=None,
            notify=_json(manner),
        )
        await self._store.do(AddWebhook(row))
        return await self.get(caller, name)

    async def remove(self, caller: Caller, name: str) -> None:
        """Tell it nothing more; links that it was told open nothing any more."""
        await self.get(caller, name)
        await self._store.do(RemoveWebhook(name))

    async def resume(self, caller: Caller, name: str) -> Notify:
        """Try it again, with all that still waits."""
        await self.get(caller, name)
        await self._store.do(ResumeWebhook(name))
        return await self.get(caller, name)

    async def try_out(self, caller: Caller, name: str) -> Outcome:
        """Say a word there now, whatever the hour, and tell how that went."""
        await self.get(caller, name)
        row = await self._store.webhooks.row(name)
        if row is None:
            raise NoSuchNotify(name=name)
        return await self._carried(Word(address=row.url, title="Postoffice", text="This address is told what waits for you."))

    # For the bridge

    async def noted(self, row: WebhookRow, events: list[Event]) -> tuple[tuple[str, str], ...]:
        """What of these events the address may have to be told of, each once."""
        kinds = frozenset(msgspec.json.decode(row.kinds)) or frozenset(NotifyKind)
        own = [one for one in events if one.agent == OWNER and is_id(one.ref)]
        messages, _ = await self._store.webhooks.behind(own) if own else ({}, {})
        candidates = [candidate_of(event, messages.get(event.ref)) for event in events]
        return tuple((f"{one.matter}:{one.id}:{one.agent}", _json(one)) for one in candidates if one is not None and one.matter in kinds)

    async def due(self, row: WebhookRow) -> tuple[Outgoing, ...]:
        """What the address is to be told now; nothing in quiet hours, and soon after the last word."""
        assert row.notify is not None
        told_at = next((one.told_at for one in await self._store.webhooks.notify(row.name)), None)
        now = await self._store.webhooks.now()
        if not may_be_told(_manner(row.notify), told_at, now, self._rules.limits.notify_pause):
            return ()
        return await self._store.webhooks.due(row.id, _POSTS_AT_ONCE)

    async def tell(self, row: WebhookRow, due: Sequence[Outgoing]) -> tuple[Tried, ...]:
        """Say in one word what still waits of it, and how that went."""
        assert row.notify is not None
        entries = [(one, await self._line(_candidate(one.body), bodies=bool(row.bodies))) for one in due]
        lines = [(_candidate(one.body), line) for one, line in entries if line is not None]
        error = None
        if lines:
            shown = await self._linked(row, lines[:SHOWN_AT_ONCE])
            title, text = words(shown, len(lines) - len(shown), self._rules.public_url)
            error = (await self._carried(Word(address=row.url, title=title, text=text))).error
        return tuple(
            Tried(number=one.number, attempts=one.attempts + 1, error=error if line is not None else None, lapsed=line is None)
            for one, line in entries
        )

    async def _linked(self, row: WebhookRow, lines: list[tuple[Candidate, Line]]) -> list[Line]:
        """Each question with a link that opens it."""
        links = await self._links.made(row.id, [waiting.id for waiting, _ in lines if waiting.matter is NotifyKind.QUESTION])
        return [msgspec.structs.replace(line, link=links.get(waiting.id)) for waiting, line in lines]

    async def _line(self, one: Candidate, *, bodies: bool) -> Line | None:
        """What is to be told of it; nothing once it no longer waits."""
        if one.stuck is Stuck.WEBHOOK:
            return await self._webhook(one)
        if one.matter is NotifyKind.CONSENT:
            return await self._consent(one, bodies=bodies)
        proofs = await self._store.mail.proofs(one.id, None)
        message = proofs[0].message if proofs else None
        standing = next((at for at in proofs[0].standings if folded(at.recipient) == folded(one.agent)), None) if proofs else None
        if message is None or standing is None or not await self._waits(one, standing):
            return None
        return _line(one, message, standing, bodies=bodies)

    async def _waits(self, one: Candidate, standing: Standing) -> bool:
        if one.stuck is Stuck.DEAD:
            return standing.state is State.DEAD
        if standing.state is not State.PENDING or standing.seen_at is not None:
            return False
        if one.matter is not NotifyKind.QUESTION:
            return True
        question = await self._store.questions.named(one.id)
        return question is not None and question.state is QuestionState.OPEN

    async def _consent(self, one: Candidate, *, bodies: bool) -> Line | None:
        asked = await self._store.connections.named(one.id)
        if asked is None or asked.status is not Status.PENDING or folded(asked.requester) == OWNER:
            return None
        return Line(matter=NotifyKind.CONSENT, who=asked.requester, whom=asked.target, what="", text=(asked.note or "") if bodies else "")

    async def _webhook(self, one: Candidate) -> Line | None:
        webhooks, addresses = await self._store.webhooks.page(one.id), await self._store.webhooks.notify(one.id)
        if not any(found.state in _ENDED for found in webhooks) and not any(found.state in _ENDED for found in addresses):
            return None
        return Line(matter=NotifyKind.STUCK, who=one.id, what="It is told nothing more")

    async def _carried(self, word: Word) -> Outcome:
        if self._carry is None:
            raise Unavailable(why="nothing here takes words to notify addresses")
        return await self._carry(word)


def _line(one: Candidate, message: Message, standing: Standing, *, bodies: bool) -> Line:
    stuck = one.matter is NotifyKind.STUCK
    return Line(
        matter=one.matter,
        who=message.sender,
        whom=standing.recipient if stuck else "",
        what=message.subject,
        text=text_of(message) if bodies else "",
    )


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()

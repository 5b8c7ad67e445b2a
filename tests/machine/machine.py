"""A machine that does to an office whatever agents, time and bad luck can do, and compares it with the model after every step."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import initialize, invariant, rule

from postoffice.acts.mail.dead import Release
from postoffice.acts.mail.take_and_settle import TakeAndSettle
from postoffice.core.agent import Caller
from postoffice.core.delivery import (
    UNREAD,
    WAITING,
    Ack,
    Collected,
    Extend,
    GiveBack,
    Leased,
    Nack,
    Settled,
    Settlement,
    Standing,
    State,
    Wish,
)
from postoffice.core.draft import Draft
from postoffice.core.errors import (
    DatabaseLost,
    IdConflict,
    LeaseLost,
    MailboxFull,
    NoSuchMessage,
    NotDead,
    NotWaiting,
    OutcomeUnknown,
    TooLateToCancel,
)
from postoffice.core.event import Kind
from postoffice.core.limits import Limits
from postoffice.core.message import NOTICE, TASK, Accepted
from postoffice.office import PostOffice
from tests.machine.ground import Ground
from tests.machine.grounded import GroundedMachine, T
from tests.machine.model import SYSTEM, UNIT, Letter, Model, SessionKey

NAMES = ("ann", "ben", "cid")
PERSON = "cid"
SPELLED = {"ann": "ann", "ben": "Ben", "cid": "CID", "dot": "dot"}  # as their agents write them; dot never comes
LIMITS = Limits(max_attempts=2, depth=12)
ALL = 100

agents = st.sampled_from(NAMES)
doors = st.integers(0, 1)
picks = st.integers(0, 1000)
units = st.integers(1, 3)
Sent = tuple[str, Draft, Accepted]


class OfficeMachine(GroundedMachine):
    def __init__(self, ground: Callable[[], Ground]) -> None:
        super().__init__(ground)
        self.broken = False
        self.model = Model(NAMES, LIMITS.max_attempts, [PERSON])
        self.sent: list[Sent] = []
        self.callers: dict[str, Caller] = {}
        self.cursors = dict.fromkeys(NAMES, 0)
        self.receipts: Counter[tuple[str, str]] = Counter()
        self.made = 0
        self.do(self.begin())

    # Running

    def do(self, work: Coroutine[Any, Any, T]) -> T:
        try:
            return super().do(work)
        except BaseException:
            self.broken = True
            raise

    async def begin(self) -> None:
        await self.ground.open()
        for name in NAMES:
            self.callers[name] = await self.office().identify(name=SPELLED[name])
        await self.office().update_card(self.office().owner(), {"person": True}, of=PERSON)

    def teardown(self) -> None:
        try:
            if not self.broken:
                self.do(self.come_to_rest())
        finally:
            super().teardown()

    def offices(self, count: int) -> list[PostOffice]:
        return [self.office(n) for n in range(count)]

    # Sending

    @initialize(letters=st.lists(st.tuples(agents, agents), min_size=3, max_size=8))
    def begin_with_some_mail(self, letters: list[tuple[str, str]]) -> None:
        for sender, to in letters:
            self.do(self.sends(sender, self.draft([to]), 0))

    @rule(
        sender=agents,
        to=st.lists(agents, min_size=1, max_size=2, unique=True),
        subject=st.sampled_from(["", "Plan", "pLAN"]),
        priority=st.sampled_from([None, 1]),
        type=st.sampled_from(["message", "message", TASK]),
        hold=st.sampled_from([False, False, False, True]),
        comes=st.sampled_from([None, None, 1, 2]),
        ends=st.sampled_from([None, None, 1, 3]),
        door=doors,
    )
    def send(
        self,
        sender: str,
        to: list[str],
        subject: str,
        priority: int | None,
        type: str,
        hold: bool,  # noqa: FBT001
        comes: int | None,
        ends: int | None,
        door: int,
    ) -> None:
        times = {} if hold else {"deliver_at": comes and comes * UNIT, "expires_at": ends and ((comes or 0) + ends) * UNIT}
        self.do(self.sends(sender, self.draft(to, subject=subject, priority=priority, type=type, hold=hold, **times), door))

    def draft(self, to: list[str], **fields: Any) -> Draft:
        self.made += 1
        single = len(to) == 1 or fields.get("type") == TASK
        return Draft(to=to[0] if single else tuple(to), content=f"letter {self.made}", client_id=f"id-{self.made}", **fields)

    async def sends(self, sender: str, draft: Draft, door: int) -> None:
        to = (draft.to,) if isinstance(draft.to, str) else draft.to
        full = any(self.model.depth(name) >= LIMITS.depth for name in to)
        try:
            accepted = await self.office(door).send(self.callers[sender], draft)
        except MailboxFull:
            assert full
            return
        assert not full
        await self.accept(sender, draft, accepted)

    async def accept(self, sender: str, draft: Draft, accepted: Accepted) -> None:
        """Put into the model what the office says it has accepted."""
        to = [draft.to] if isinstance(draft.to, str) else list(draft.to)
        assert not accepted.duplicate
        assert [posted.recipient for posted in accepted.posted] == [SPELLED[name] for name in to]
        proof = await self.office().status(self.callers[sender], accepted.message_id)
        assert proof.message is not None
        assert (proof.message.content, proof.message.client_id) == (draft.content, draft.client_id)
        numbers = {standing.recipient.lower(): standing.number for standing in proof.standings}
        assert sorted(numbers) == sorted(to)
        for name in to:
            comes, ends = [
                self.model.now + span // UNIT if isinstance(span, timedelta) else None for span in (draft.deliver_at, draft.expires_at)
            ]
            self.model.post(proof.message, name, numbers[name], subject=proof.message.subject, held=draft.hold, comes=comes, ends=ends)
        self.sent.append((sender, draft, accepted))

    async def sends_again(self, sender: str, draft: Draft, accepted: Accepted) -> None:
        louder = draft.to.upper() if isinstance(draft.to, str) else tuple(name.upper() for name in draft.to)
        drafts = (draft, msgspec.structs.replace(draft, to=louder), draft)
        again = await asyncio.gather(*(self.office(n).send(self.callers[sender], said) for n, said in enumerate(drafts)))
        assert [_without_reach(one) for one in again] == [msgspec.structs.replace(_without_reach(accepted), duplicate=True)] * 3

    @rule(sender=agents, to=agents, count=st.integers(2, 4), twins=st.booleans())
    def send_at_every_door_at_once(self, sender: str, to: str, count: int, twins: bool) -> None:  # noqa: FBT001
        self.do(self.sends_together(sender, to, count, twins=twins))

    async def sends_together(self, sender: str, to: str, count: int, *, twins: bool) -> None:
        """Many messages at once, or one message many times at once."""
        room = LIMITS.depth - self.model.depth(to)
        before = self.model.last_number(to)
        drafts = [self.draft([to])] * count if twins else [self.draft([to]) for _ in range(count)]
        answers = await asyncio.gather(
            *(office.send(self.callers[sender], draft) for office, draft in zip(self.offices(count), drafts, strict=True)),
            return_exceptions=True,
        )
        refused = [answer for answer in answers if isinstance(answer, BaseException)]
        assert all(isinstance(refusal, MailboxFull) for refusal in refused), refused
        taken = [(draft, answer) for draft, answer in zip(drafts, answers, strict=True) if isinstance(answer, Accepted)]
        fresh = [(draft, answer) for draft, answer in taken if not answer.duplicate]
        assert len(fresh) == max(0, min(room, 1 if twins else count))
        assert len({answer.message_id for _, answer in taken}) == len(fresh)
        for draft, answer in fresh:
            await self.accept(sender, draft, answer)
        numbers = [self.model.letters[answer.message_id, to].number for _, answer in fresh]
        assert len(set(numbers)) == len(numbers)
        assert all(number > before for number in numbers)

    # Taking

    @rule(
        agent=agents,
        limit=st.sampled_from([1, 2, ALL]),
        lasts=units,
        forever=st.sampled_from([False, False, False, True]),
        narrow=st.sampled_from(["", "", "one per session", "one session"]),
        pick=picks,
        door=doors,
    )
    def receive(self, agent: str, limit: int, lasts: int, forever: bool, narrow: str, pick: int, door: int) -> None:  # noqa: FBT001
        self.do(self.receives(agent, limit, None if forever else lasts, narrow, pick, door))

    async def receives(self, agent: str, limit: int, lasts: int | None, narrow: str, pick: int, door: int) -> None:
        session, session_id = None, None
        if narrow:
            # Which message of a session comes first is promised among those that wait, not those just falling due.
            await self.sweeps(door)
        if narrow == "one session":
            session, session_id = await self.some_session(agent, pick, door)
            if session is None:
                return
        wish = Wish(
            limit=limit,
            visible_for=None if lasts is None else lasts * UNIT,
            one_per_session=narrow == "one per session",
            session_id=session_id,
        )
        turned = await self.office(door).store.do(TakeAndSettle(agent, (), wish))
        await self.before_taking(agent, limit)
        expected = self.model.takeable(agent, limit, session, one_per_session=narrow == "one per session")
        self.took(expected, turned.leased)
        for letter, leased in zip(expected, turned.leased, strict=True):
            self.model.lease(letter, leased, lasts)
        await self.hear()

    def took(self, expected: list[Letter], leased: tuple[Leased, ...]) -> None:
        """In the order of priorities and numbers, these and no others; notices are known by their message."""
        assert [item.message.id for item in leased] == [letter.id for letter in expected]

    @rule(agent=agents, limit=st.sampled_from([1, 2]), door=doors)
    def pop(self, agent: str, limit: int, door: int) -> None:
        self.do(self.pops(agent, limit, door))

    async def pops(self, agent: str, limit: int, door: int) -> None:
        popped = await self.office(door).pop(self.callers[agent], limit)
        await self.before_taking(agent, limit)
        expected = self.model.takeable(agent, limit)
        self.took(expected, popped)
        for letter in expected:
            self.model.pop(letter)
        await self.hear()

    @rule(agent=agents, limit=st.sampled_from([1, 2, ALL]), takers=st.integers(2, 4), lasts=units)
    def receive_at_every_door_at_once(self, agent: str, limit: int, takers: int, lasts: int) -> None:
        self.do(self.receives_together(agent, limit, takers, lasts))

    async def receives_together(self, agent: str, limit: int, takers: int, lasts: int) -> None:
        await self.sweeps(0)
        there = self.model.takeable(agent, limit * takers)
        turns = await asyncio.gather(
            *(office.receive(self.callers[agent], limit, visible_for=lasts * UNIT) for office in self.offices(takers))
        )
        taken = [leased for turned in turns for leased in turned.leased]
        assert len({leased.message.id for leased in taken}) == len(taken), "two takers got one message"
        for turned in turns:
            assert len(turned.leased) <= limit
            places = [(leased.message.priority, leased.number) for leased in turned.leased]
            assert places == sorted(places)
        if len(self.ground.doors) == 1:
            # One writer: takers come one after another. Replicas may pass over what another has in hand.
            assert len(taken) == len(there)
        for leased in taken:
            self.model.lease(self.model.letters[leased.message.id, agent], leased, lasts)

    @rule(agent=agents, limit=st.sampled_from([1, ALL]), patience=st.integers(0, 12), mail=st.booleans(), door=doors)
    def cancel_a_waiting_receive(self, agent: str, limit: int, patience: int, mail: bool, door: int) -> None:  # noqa: FBT001
        self.do(self.cancels(agent, limit, patience, door, mail=mail))

    async def cancels(self, agent: str, limit: int, patience: int, door: int, *, mail: bool) -> None:
        """A taker goes away: before it is served, while it is, or just after; with mail coming in or not."""
        await self.sweeps(door)
        waiter = asyncio.create_task(self.office(door).wait(self.callers[agent], limit, within=timedelta(seconds=50), visible_for=UNIT))
        sender = NAMES[patience % 3]
        sending = asyncio.create_task(self.sends(sender, self.draft([agent]), door + 1)) if mail else None
        for _ in range(patience):
            await asyncio.sleep(0.0002 if patience % 2 else 0)
        waiter.cancel()
        (turned,) = await asyncio.gather(waiter, return_exceptions=True)
        if sending is not None:
            await sending
        for one in self.ground.doors:
            await one.drained()
        if isinstance(turned, asyncio.CancelledError):
            self.model.doubt(agent)
            return
        assert not isinstance(turned, BaseException), turned
        for leased in turned.leased:
            self.model.lease(self.model.letters[leased.message.id, agent], leased, 1)

    # Settling

    @rule(
        pick=picks,
        how=st.sampled_from(["ack", "ack", "nack", "nack later", "nack untried", "extend", "give back"]),
        wait=units,
        bare=st.booleans(),
        door=doors,
    )
    def settle(self, pick: int, how: str, wait: int, bare: bool, door: int) -> None:  # noqa: FBT001
        if not self.model.held():
            self.do(self.receives(NAMES[pick % 3], 2, wait, "", 0, door))
        if held := self.model.held():
            self.do(self.settles(held[pick % len(held)], how, wait, door, bare=bare))

    async def settles(self, letter: Letter, how: str, wait: int, door: int, *, bare: bool) -> None:
        """In time or late: nobody else has taken it."""
        token = None if bare and not letter.lent and how != "give back" else letter.token
        outcome = await self.settlement(letter, how, token, wait, door)
        match how:
            case "ack":
                self.model.ack(letter)
            case "extend":
                self.model.extend(letter, self.model.now + wait)
            case "give back":
                self.model.give_back(letter)
            case _:
                self.model.nack(letter, wait if how == "nack later" else 0, untried=how == "nack untried", by_name=token is None)
        assert outcome == Settled(letter.id, letter.state)
        await self.hear()

    async def settlement(self, letter: Letter, how: str, token: str | None, wait: int, door: int) -> Settled | Exception:
        settlements: dict[str, Settlement] = {
            "ack": Ack(letter.id, token),
            "nack": Nack(letter.id, token),
            "nack later": Nack(letter.id, token, wait * UNIT),
            "nack untried": Nack(letter.id, token, untried=True),
            "extend": Extend(letter.id, wait * UNIT, token),
            "give back": GiveBack(letter.id, token or ""),
        }
        (outcome,) = await self.office(door).settle(self.callers[letter.mailbox], [settlements[how]])
        return outcome

    @rule(pick=picks, door=doors)
    def answer(self, pick: int, door: int) -> None:
        asked = [letter for letter in self.model.within(State.PENDING, State.LEASED) if letter.sender not in (SYSTEM, letter.mailbox)]
        if asked:
            self.do(self.answers(asked[pick % len(asked)], door))

    async def answers(self, letter: Letter, door: int) -> None:
        """In its session, and done with it but for a task, and what lies elsewhere."""
        known = len(self.model.letters)
        await self.sends(letter.mailbox, self.draft([letter.sender], reply_to=letter.id), door)
        if len(self.model.letters) == known:
            return  # there was no room for it
        assert list(self.model.letters.values())[-1].session == letter.session
        if letter.type != TASK and not (letter.lent and letter.state is State.LEASED):
            self.model.ack(letter)
        await self.hear()

    @rule(agent=agents, how=st.sampled_from(["ack", "nack", "nack later", "nack untried", "extend", "give back"]), door=doors)
    def settle_all(self, agent: str, how: str, door: int) -> None:
        for letter in self.model.of(agent, State.LEASED):
            self.do(self.settles(letter, how, 1, door, bare=False))

    @rule(pick=picks, what=st.sampled_from(["send", "ack", "nack"]), door=doors)
    def say_it_again(self, pick: int, what: str, door: int) -> None:
        """The same id, the same token: the same answer, and nothing happens twice."""
        acked = [letter for letter in self.model.within(State.ACKED) if letter.acked_with]
        nacked = [letter for letter in self.model.within(State.PENDING, State.HELD, State.DEAD) if letter.nacked_with]
        if what == "nack" and nacked:
            letter = nacked[pick % len(nacked)]
            again = self.do(self.settlement(letter, "nack", letter.nacked_with, 1, door))
            assert again == Settled(letter.id, letter.state), f"{again!r} for {letter!r}"
        elif what != "send" and acked:
            letter = acked[pick % len(acked)]
            assert self.do(self.settlement(letter, "ack", letter.acked_with, 1, door)) == Settled(letter.id, State.ACKED)
        elif self.sent:
            self.do(self.sends_again(*self.sent[pick % len(self.sent)]))

    @rule(
        pick=picks,
        agent=agents,
        how=st.sampled_from(["ack", "nack", "nack later", "nack untried", "extend", "give back"]),
        what=st.sampled_from(["a token that lost", "no token", "same id, other body", "not dead"]),
        door=doors,
    )
    def try_what_must_be_refused(self, pick: int, agent: str, how: str, what: str, door: int) -> None:
        if what == "a token that lost":
            self.take_and_never_come_back(agent, 1, door)
        lost = self.model.lost_tokens()
        held = [
            letter
            for letter in self.model.within(State.LEASED, State.PENDING)
            if letter.lent or not (letter.token or letter.unsure or letter.put_off)
        ]
        alive = [letter for letter in self.model.of(agent, *State) if letter.state is not State.DEAD and letter.shown_to(agent)]
        if what == "a token that lost" and lost:
            letter, token = lost[pick % len(lost)]
            outcome = self.do(self.settlement(letter, how, token, 1, door))
            assert isinstance(outcome, LeaseLost), outcome
        elif what == "no token" and held:
            outcome = self.do(self.settlement(held[pick % len(held)], how, None, 1, door))
            assert isinstance(outcome, LeaseLost), outcome
        elif what == "not dead" and alive:
            self.do(self.cannot_revive(alive[pick % len(alive)], door))
        elif self.sent:
            sender, draft, _ = self.sent[pick % len(self.sent)]
            other = msgspec.structs.replace(draft, content="something else")
            self.do(self.refused(self.office(door).send(self.callers[sender], other), IdConflict))

    @rule(pick=picks)
    def ack_and_nack_at_once(self, pick: int) -> None:
        held = [letter for letter in self.model.within(State.LEASED) if not self.model.is_due(letter)]
        if held:
            self.do(self.duels(held[pick % len(held)]))

    async def duels(self, letter: Letter) -> None:
        acked, nacked = await asyncio.gather(
            self.settlement(letter, "ack", letter.token, 1, 0), self.settlement(letter, "nack", letter.token, 1, 1)
        )
        assert isinstance(acked, LeaseLost) is not isinstance(nacked, LeaseLost), (acked, nacked)
        if isinstance(acked, Settled):
            self.model.ack(letter)
        else:
            self.model.nack(letter, 0)
            assert nacked == Settled(letter.id, letter.state)
        await self.hear()

    @rule(agent=agents, settled=st.integers(1, 3), lasts=units, door=doors)
    def settle_and_take_in_one_turn(self, agent: str, settled: int, lasts: int, door: int) -> None:
        self.do(self.takes_a_turn(agent, settled, lasts, door))

    async def takes_a_turn(self, agent: str, settled: int, lasts: int, door: int) -> None:
        done = [letter for letter in self.model.of(agent, State.LEASED) if not self.model.is_due(letter)][:settled]
        acks = [Ack(letter.id, letter.token) for letter in done]
        turned = await self.office(door).receive(self.callers[agent], 2, settle=acks, visible_for=lasts * UNIT)
        assert list(turned.settled) == [Settled(letter.id, State.ACKED) for letter in done]
        for letter in done:
            self.model.ack(letter)
        await self.before_taking(agent, 2)
        expected = self.model.takeable(agent, 2)
        self.took(expected, turned.leased)
        for letter, leased in zip(expected, turned.leased, strict=True):
            self.model.lease(letter, leased, lasts)
        await self.hear()

    # Reading

    async def some_session(self, agent: str, pick: int, door: int) -> tuple[SessionKey | None, str | None]:
        threads = (await self.office(door).inbox(self.callers[agent], limit=ALL, lines=0)).items
        if not threads:
            return None, None
        by_key = {session_key(agent, thread.other, thread.subject): thread.id for thread in threads}
        key = sorted(by_key)[pick % len(by_key)]
        return key, by_key[key]

    @rule(agent=agents, pick=picks, peek=st.booleans(), door=doors)
    def read_a_session(self, agent: str, pick: int, peek: bool, door: int) -> None:  # noqa: FBT001
        self.do(self.reads(agent, pick, door, peek=peek))

    async def reads(self, agent: str, pick: int, door: int, *, peek: bool) -> None:
        key, session_id = await self.some_session(agent, pick, door)
        if key is None or session_id is None:
            return
        thread = await self.office(door).history(self.callers[agent], session_id, limit=ALL, peek=peek)
        if not peek:
            self.model.read(key, agent)
        shown = {(line.message.id, line.to): line.state for line in thread.lines}
        assert shown == {(letter.id, letter.mailbox): letter.state for letter in self.model.lines(key, agent)}
        numbers = [line.number for line in thread.lines]
        assert numbers == sorted(set(numbers), reverse=True)
        assert thread.unread == self.model.threads(agent)[key]

    @rule(agent=st.sampled_from([name for name in NAMES if name != PERSON]), pick=picks, lasts=units)
    def read_and_receive_at_once(self, agent: str, pick: int, lasts: int) -> None:
        self.do(self.reads_while_taking(agent, pick, lasts))

    async def reads_while_taking(self, agent: str, pick: int, lasts: int) -> None:
        await self.sweeps(0)
        key, session_id = await self.some_session(agent, pick, 0)
        if key is None or session_id is None:
            return
        _, turned = await asyncio.gather(
            self.office(0).history(self.callers[agent], session_id, limit=ALL),
            self.office(1).receive(self.callers[agent], 2, visible_for=lasts * UNIT),
        )
        for leased in turned.leased:
            self.model.lease(self.model.letters[leased.message.id, agent], leased, lasts)
        self.model.read(key, agent)

    # What people do

    @rule(what=st.sampled_from(["seen", "keep_unread", "done", "snooze"]), pick=picks, lasts=units, door=doors)
    def finish(self, what: str, pick: int, lasts: int, door: int) -> None:
        letters = [letter for letter in self.model.of(PERSON, *State) if letter.shown_to(PERSON)]
        if letters:
            self.do(self.finishes(what, letters[pick % len(letters)], lasts, door))

    async def finishes(self, what: str, letter: Letter, lasts: int, door: int) -> None:
        office, me = self.office(door), self.callers[PERSON]
        may: dict[str, Any] = {
            "seen": set(State),
            "keep_unread": WAITING,
            "done": {*WAITING, State.ACKED},
            "snooze": {State.PENDING, State.HELD},
        }
        call = office.snooze(me, letter.id, lasts * UNIT) if what == "snooze" else getattr(office, what)(me, letter.id)
        if letter.state not in may[what]:
            await self.refused(call, NotWaiting)
            return
        standing = await call
        if what == "snooze":
            self.model.snooze(letter, lasts)
        elif what == "done" and letter.state is not State.ACKED:
            self.model.ack(letter)
        elif what == "keep_unread":
            letter.seen = False
        elif what == "seen":
            letter.seen |= letter.state is State.PENDING
        assert (standing.state, standing.seen_at is not None) == (letter.state, letter.seen)

    @rule(agent=agents, lasts=st.none() | units, resumes=st.booleans(), door=doors)
    def pause_or_resume(self, agent: str, lasts: int | None, resumes: bool, door: int) -> None:  # noqa: FBT001
        self.do(self.pauses(agent, lasts, door, resumes=resumes))

    async def pauses(self, agent: str, lasts: int | None, door: int, *, resumes: bool) -> None:
        if resumes:
            self.model.paused.pop(agent, None)
            assert (await self.office(door).resume(self.callers[agent])).paused is None
            return
        self.model.paused[agent] = None if lasts is None else self.model.now + lasts
        pause = await self.office(door).pause(self.callers[agent], None if lasts is None else lasts * UNIT)
        assert (pause.until is None) == (lasts is None)

    # Dead letters, held mail

    @rule(pick=picks, again=st.booleans(), door=doors)
    def requeue_or_discard_a_dead_letter(self, pick: int, again: bool, door: int) -> None:  # noqa: FBT001
        if not self.model.within(State.DEAD):
            self.take_and_never_come_back(NAMES[pick % 3], LIMITS.max_attempts, door)
            self.do(self.sweeps(door))
        dead = [letter for letter in self.model.within(State.DEAD) if not letter.canceled]
        if dead:
            self.do(self.revives(dead[pick % len(dead)], door, again=again))

    async def revives(self, letter: Letter, door: int, *, again: bool) -> None:
        office, caller = self.office(door), self.callers[letter.mailbox]
        if again:
            assert await office.requeue(caller, letter.id) == Settled(letter.id, State.PENDING)
            self.model.requeue(letter)
        else:
            assert await office.discard(caller, letter.id) == Settled(letter.id, State.ACKED)
            letter.nacked_with = None
            self.model.ack(letter, receipt=False)

    async def cannot_revive(self, letter: Letter, door: int) -> None:
        """Only the dead are revived, and only in their own mailbox."""
        office = self.office(door)
        for name, caller in self.callers.items():
            other = self.model.letters.get((letter.id, name))
            if other is None or other.state is not State.DEAD:
                error = NoSuchMessage if other is None else NotDead
                await self.refused(office.requeue(caller, letter.id), error)
                await self.refused(office.discard(caller, letter.id), error)

    @rule(pick=picks, taken=st.booleans(), door=doors)
    def cancel_and_perhaps_take_at_once(self, pick: int, taken: bool, door: int) -> None:  # noqa: FBT001
        letters = [letter for letter in self.model.within(*WAITING) if letter.type != TASK and letter.sender != SYSTEM]
        if letters:
            self.do(self.cancels_letter(letters[pick % len(letters)], door, taken=taken))

    async def cancels_letter(self, letter: Letter, door: int, *, taken: bool) -> None:
        """Of a cancel and a take one wins, with each of those it went to."""
        await self.sweeps(door)
        canceling = asyncio.create_task(self.office(door).cancel(self.callers[letter.sender], letter.id))
        turned = await self.office(door + 1).receive(self.callers[letter.mailbox], ALL, visible_for=UNIT) if taken else Collected((), ())
        (outcome,) = await asyncio.gather(canceling, return_exceptions=True)
        for leased in turned.leased:
            self.model.lease(self.model.letters[leased.message.id, letter.mailbox], leased, 1)
        unread = [one for one in self.model.letters.values() if one.id == letter.id and one.state in UNREAD]
        assert isinstance(outcome, TooLateToCancel) is not bool(unread), outcome
        for one in unread:
            self.model.cancel(one)
        await self.hear()

    @rule(pick=picks, refuse=st.booleans(), door=doors)
    def release_held_mail(self, pick: int, refuse: bool, door: int) -> None:  # noqa: FBT001
        held = [letter for letter in self.model.within(State.HELD) if letter.due is None and letter.comes is None]
        if held:
            self.do(self.releases(held[pick % len(held)], door, refuse=refuse))

    async def releases(self, letter: Letter, door: int, *, refuse: bool) -> None:
        settled = await self.office(door).store.do(Release(letter.mailbox, letter.id, "refused by the ledger" if refuse else None))
        if refuse:
            self.model.die(letter)
        else:
            self.model.move(letter, State.PENDING)
        assert settled == Settled(letter.id, letter.state)
        await self.hear()

    # Time and bad luck

    @rule(by=units)
    def let_time_pass(self, by: int) -> None:
        self.do(self.passes(by))

    async def passes(self, by: int) -> None:
        await self.ground.engine.advance(by * UNIT)
        self.model.now += by

    @rule(by=st.sampled_from([0, 1, 3]), door=doors)
    def sweep(self, by: int, door: int) -> None:
        """At once, or after everything has run out that can."""
        self.do(self.passes(by))
        self.do(self.sweeps(door))

    @rule(agent=agents, tries=st.integers(1, LIMITS.max_attempts), door=doors)
    def take_and_never_come_back(self, agent: str, tries: int, door: int) -> None:
        for _ in range(tries):
            self.do(self.receives(agent, 2, 1, "", 0, door))
            self.do(self.passes(1))

    async def sweeps(self, door: int) -> None:
        await self.office(door).upkeep.sweep()
        self.model.return_due()
        await self.learn_places()
        await self.hear()

    async def before_taking(self, agent: str, limit: int) -> None:
        self.model.before_taking(agent, limit)
        await self.learn_places()

    async def learn_places(self) -> None:
        """What waited for its time has a new place, after all that was there."""
        for letter in [letter for letter in self.model.letters.values() if letter.number == 0]:
            (standing,) = [one for one in await self.standings(letter) if one.recipient.lower() == letter.mailbox]
            assert standing.number > letter.number
            letter.number = standing.number

    async def standings(self, letter: Letter) -> tuple[Standing, ...]:
        knows = letter.mailbox in self.callers and letter.shown_to(letter.mailbox)
        reader = letter.mailbox if knows else letter.sender
        return (await self.office().status(self.callers[reader], letter.id)).standings

    @rule()
    def close_and_reopen(self) -> None:
        self.do(self.ground.reopen())

    @rule(
        sender=agents,
        to=agents,
        count=st.integers(0, 3),
        pick=picks,
        patience=st.integers(0, 20),
        door=doors,
    )
    def crash(self, sender: str, to: str, count: int, pick: int, patience: int, door: int) -> None:
        self.do(self.crashes(sender, to, count, pick, patience, door))

    async def crashes(self, sender: str, to: str, count: int, pick: int, patience: int, door: int) -> None:
        """Bad luck strikes while mail is being accepted and acked: whoever does not know asks again, and nothing is lost or doubled."""
        room = max(0, LIMITS.depth - self.model.depth(to))
        drafts = [self.draft([to]) for _ in range(min(count, room))]
        held = [letter for letter in self.model.within(State.LEASED) if not self.model.is_due(letter)]
        letter = held[pick % len(held)] if held else None
        await self.ground.arm()
        sending = [asyncio.create_task(self.office(door + n).send(self.callers[sender], draft)) for n, draft in enumerate(drafts)]
        acking = None if letter is None else asyncio.create_task(self.settlement(letter, "ack", letter.token, 1, door))
        for _ in range(patience):
            await asyncio.sleep(0.0002 if patience % 2 else 0)
        told = [task.result() for task in sending if task.done() and task.exception() is None]
        await self.ground.crash()
        answers = await asyncio.gather(*sending, return_exceptions=True)
        for draft, answer in zip(drafts, answers, strict=True):
            await self.asks_again(sender, draft, answer, told)
        if letter is not None and acking is not None:
            await asyncio.gather(acking, return_exceptions=True)
            assert await self.settlement(letter, "ack", letter.token, 1, door) == Settled(letter.id, State.ACKED)
            self.model.ack(letter)

    async def asks_again(self, sender: str, draft: Draft, answer: Accepted | BaseException, told: list[Accepted]) -> None:
        assert isinstance(answer, Accepted | OutcomeUnknown | DatabaseLost), answer
        again, unsure = await asked_again(self.office(), self.callers[sender], draft)
        if answer in told:
            # It was answered before the crash, so it was on disk.
            assert _without_reach(again) == msgspec.structs.replace(_without_reach(answer), duplicate=True)
        elif isinstance(answer, DatabaseLost):
            assert unsure or not again.duplicate, "what was said not to be stored was stored"
        await self.accept(sender, draft, msgspec.structs.replace(again, duplicate=False))

    # What is always so

    async def refused(self, call: Coroutine[Any, Any, object], error: type[Exception]) -> None:
        try:
            answer = await call
        except error:
            return
        pytest.fail(f"{answer} where {error.__name__} was due")

    async def hear(self) -> None:
        """Read the news: each death is told to its sender by exactly one notice."""
        if +self.model.owed:
            for name in NAMES:
                await self.hear_news(name)
        assert not +self.model.owed, f"no notice came: {self.model.owed}"

    async def hear_news(self, name: str) -> None:
        while events := await self.office().news(self.callers[name], self.cursors[name], limit=ALL):
            for event in events:
                assert event.number > self.cursors[name]
                self.cursors[name] = event.number
                if event.kind is Kind.RECEIPT:
                    self.receipts[event.ref, event.data["by"].lower()] += 1
                elif event.kind is Kind.NEW_MESSAGE and (event.ref, name) not in self.model.letters:
                    await self.take_notice(name, event.ref, event.number)

    async def take_notice(self, name: str, ref: str, number: int) -> None:
        message = (await self.office().status(self.callers[name], ref)).message
        assert message is not None
        assert (message.sender, message.type) == (SYSTEM, NOTICE), f"mail nobody sent: {message}"
        owed = (name, message.reply_to or "", message.payload["to"].lower())
        assert self.model.owed[owed] > 0, f"a notice of a death that did not happen: {message}"
        self.model.owed[owed] -= 1
        self.model.post(message, name, number)

    @invariant()
    def every_count_is_the_models(self) -> None:
        self.do(self.compare())

    async def compare(self) -> None:
        await asyncio.gather(*(self.compare_mailbox(name, self.office(n)) for n, name in enumerate(NAMES)))
        totals = await self.office().totals()
        letters = self.model.letters.values()
        for state in (State.HELD, State.PENDING, State.LEASED, State.DEAD):
            assert getattr(totals, state) == sum(letter.state is state for letter in letters)

    async def compare_mailbox(self, name: str, office: PostOffice) -> None:
        caller = self.callers[name]
        counts, waiting, inbox, dead = await asyncio.gather(
            office.counts(office.owner(), of=name),
            office.waiting(caller, limit=ALL),
            office.inbox(caller, limit=ALL, lines=1),
            office.dead_letters(caller, limit=ALL),
        )
        assert {state: getattr(counts, state) for state in self.model.counts(name)} == self.model.counts(name)
        assert counts.unread == sum(not letter.seen for letter in self.model.of(name, State.PENDING))
        assert [message.id for message in waiting.items] == [letter.id for letter in self.model.waiting(name)]
        assert {session_key(name, thread.other, thread.subject): thread.unread for thread in inbox.items} == self.model.threads(name)
        assert {item.message.id for item in dead.items} == {
            letter.id for letter in self.model.of(name, State.DEAD) if letter.shown_to(name)
        }

    async def come_to_rest(self) -> None:
        """Everybody takes and acks until nothing waits; then every message accepted is acked or dead, once."""
        for name in NAMES:
            await self.pauses(name, None, 0, resumes=True)
        for letter in self.model.within(State.HELD):
            if letter.due is None and letter.comes is None:
                await self.releases(letter, 0, refuse=False)
        for letter in self.model.within(State.LEASED):
            if letter.due is None:
                await self.settles(letter, "ack", 1, 0, bare=False)
        for _ in range(20):
            await self.passes(10)
            await self.sweeps(0)
            for name in NAMES:
                await self.receives(name, ALL, 1, "", 0, 1)
                for letter in self.model.of(name, State.LEASED):
                    await self.settles(letter, "ack", 1, 0, bare=False)
            await self.compare()
            if not any(letter.state in (State.HELD, State.PENDING, State.LEASED) for letter in self.model.letters.values()):
                break
        await self.audit()

    async def audit(self) -> None:
        for name in NAMES:
            await self.hear_news(name)
        for letter in self.model.letters.values():
            assert letter.state in (State.ACKED, State.DEAD)
            (standing,) = [one for one in await self.standings(letter) if one.recipient.lower() == letter.mailbox]
            assert (standing.state, standing.attempts, standing.number) == (letter.state, letter.attempts, letter.number)
            assert self.receipts[letter.id, letter.mailbox] == letter.receipts, "acked more than once, or without a word to its sender"


async def asked_again(office: PostOffice, caller: Caller, draft: Draft) -> tuple[Accepted, bool]:
    """A connection that has just been ended may leave this answer open as well: whether it did, and what is known in the end."""
    try:
        return await office.send(caller, draft), False
    except OutcomeUnknown:
        return await office.send(caller, draft), True


def _without_reach(accepted: Accepted) -> Accepted:
    """What the office keeps of its answer: whether the mail can be taken now is told anew each time."""
    return msgspec.structs.replace(accepted, posted=tuple(msgspec.structs.replace(one, reach=None) for one in accepted.posted))


def session_key(agent: str, other: str, subject: str) -> SessionKey:
    low, high = sorted((agent, other.lower()))
    return low, high, subject.lower()

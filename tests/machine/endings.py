"""The machine with what ends mail by another way than its taker's: putting it off, taking it back, tasks, and names nobody ever had."""

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import rule

from postoffice.core.agent import Card
from postoffice.core.delivery import Recalled, Settled, State
from postoffice.core.draft import Draft
from postoffice.core.errors import (
    BadTaskMove,
    LeaseLost,
    MailboxFull,
    NoSuchAgent,
    NoSuchMessage,
    NoSuchTask,
    NotAssignee,
    NotRequester,
    OverQuota,
    TaskFinal,
    TooLateToCancel,
    WasCanceled,
)
from postoffice.core.message import TASK_UPDATE
from postoffice.core.task import FINAL, UNDER_WAY, TaskState
from tests.machine.machine import ALL, LIMITS, NAMES, SPELLED, OfficeMachine, agents, doors, picks, units
from tests.machine.model import Letter

NOBODY = "dot"
UNREAD = (State.HELD, State.PENDING)
ROAD = (TaskState.PENDING, TaskState.ACCEPTED, TaskState.WORKING, TaskState.COMPLETED)


class EndingMachine(OfficeMachine):
    """Everything the other does, and these."""

    # Put off

    @rule(pick=picks, how=st.sampled_from(["ack", "nack", "nack later", "nack untried", "extend", "give back"]), wait=units, door=doors)
    def end_what_was_put_off(self, pick: int, how: str, wait: int, door: int) -> None:
        if not self.put_off() and (held := [letter for letter in self.model.held() if not letter.lent]):
            self.do(self.settles(held[pick % len(held)], "nack later", wait, door, bare=True))
        if letters := self.put_off():
            self.do(self.ends_early(letters[pick % len(letters)], how, wait, door))

    def put_off(self) -> list[Letter]:
        return [letter for letter in self.model.within(*UNREAD) if letter.put_off]

    async def ends_early(self, letter: Letter, how: str, wait: int, door: int) -> None:
        """Before it comes again, or after that while nobody has taken it. Nobody has it in hand to keep it longer."""
        outcome = await self.settlement(letter, how, None, wait, door)
        if how in ("extend", "give back"):
            assert isinstance(outcome, LeaseLost), outcome
            return
        if how == "ack":
            self.model.ack(letter)
            letter.put_off = False
        else:
            self.model.nack(letter, wait if how == "nack later" else 0, untried=how == "nack untried", by_name=True)
        assert outcome == Settled(letter.id, letter.state)
        await self.hear()

    # Taken back

    @rule(pick=picks, by_another=st.booleans(), door=doors)
    def cancel(self, pick: int, by_another: bool, door: int) -> None:  # noqa: FBT001
        if self.sent:
            sender, _, accepted = self.sent[pick % len(self.sent)]
            self.do(self.takes_back(sender, accepted.message_id, door, by_another=by_another))

    async def takes_back(self, sender: str, id: str, door: int, *, by_another: bool) -> None:
        office, letters = self.office(door), [letter for letter in self.model.letters.values() if letter.id == id]
        if by_another:
            another = next(name for name in NAMES if name != sender)
            await self.refused(office.cancel(self.callers[another], id), NoSuchMessage)
            return
        told = [letter for letter in letters if _is_told(letter)]
        for letter in letters:
            self.model.cancel(letter)
        canceled = [letter for letter in letters if letter.canceled or letter.task is TaskState.CANCELED]
        if not any(_counts(letter) for letter in canceled):
            await self.refused(office.cancel(self.callers[sender], id), TooLateToCancel)
            return
        _, recalled = await office.cancel(self.callers[sender], id)
        expected = {SPELLED[letter.mailbox]: (letter.state, letter in canceled and _counts(letter)) for letter in letters}
        assert {one.recipient: (one.state, one.canceled) for one in recalled} == expected
        assert all(isinstance(one, Recalled) for one in recalled)
        for letter in told:
            await self.finds_the_update(letter.mailbox, letter)
        await self.hear()

    @rule(pick=picks, door=doors)
    def revive_what_was_taken_back(self, pick: int, door: int) -> None:
        canceled = [letter for letter in self.model.within(State.DEAD) if letter.canceled]
        if canceled:
            letter = canceled[pick % len(canceled)]
            error = WasCanceled if letter.shown_to(letter.mailbox) else NoSuchMessage
            self.do(self.refused(self.office(door).requeue(self.callers[letter.mailbox], letter.id), error))

    # Tasks

    @rule(requester=agents, assignee=agents, door=doors)
    def ask_for_work(self, requester: str, assignee: str, door: int) -> None:
        self.do(self.sends(requester, self.draft([assignee], type="task", subject="Plan"), door))

    @rule(
        pick=picks,
        state=st.sampled_from([state for state in TaskState if state is not TaskState.PENDING]),
        door=doors,
    )
    def report(self, pick: int, state: TaskState, door: int) -> None:
        tasks = [letter for letter in self.model.within(*State) if letter.task is not None]
        if tasks:
            letter = tasks[pick % len(tasks)]
            self.do(self.ends_task(letter, door) if state is TaskState.CANCELED else self.reports(letter, state, door))

    async def reports(self, letter: Letter, state: TaskState, door: int) -> None:
        me = self.callers[letter.mailbox]
        call = self.office(door).update_task(me, letter.id, state, Draft(to=me.name, content="so far"))
        error = self.refusal(letter, state)
        if error is not None:
            await self.refused(call, error)
            return
        task = await call
        assert task.state is state
        letter.task, letter.undelivered = state, False
        if letter.state in UNREAD:
            self.model.ack(letter)
            letter.put_off = False
        await self.finds_the_update(letter.sender, letter)
        await self.hear()

    def refusal(self, letter: Letter, state: TaskState) -> Any:
        """The error that this report must get, if any."""
        now = letter.task
        assert now is not None
        if not letter.shown_to(letter.mailbox):
            return NotAssignee if letter.sender == letter.mailbox else NoSuchTask
        if now in FINAL:
            return TaskFinal
        forward = state in ROAD and ROAD.index(state) >= ROAD.index(now)
        if not (forward or state is TaskState.FAILED or (state is TaskState.REJECTED and now is TaskState.PENDING)):
            return BadTaskMove
        busy = sum(one.task in UNDER_WAY for one in self.model.letters.values() if one.mailbox == letter.mailbox)
        if now is TaskState.PENDING and state in UNDER_WAY and busy >= Card().max_concurrent_tasks:
            return OverQuota
        return MailboxFull if state is now and self.model.depth(letter.sender) >= LIMITS.depth else None

    async def ends_task(self, letter: Letter, door: int) -> None:
        """Whoever asked for it alone takes it back, whoever has it."""
        office = self.office(door)
        if letter.mailbox != letter.sender and letter.shown_to(letter.mailbox):
            await self.refused(office.update_task(self.callers[letter.mailbox], letter.id, TaskState.CANCELED), NotRequester)
        call = office.update_task(self.callers[letter.sender], letter.id, TaskState.CANCELED)
        told = _is_told(letter)
        self.model.cancel(letter)
        if letter.task is not TaskState.CANCELED or not _counts(letter):
            await self.refused(call, TaskFinal)
            return
        assert (await call).state is TaskState.CANCELED
        if told:
            await self.finds_the_update(letter.mailbox, letter)
        await self.hear()

    async def finds_the_update(self, to: str, letter: Letter) -> None:
        """One letter that reports of it, and only one, to the other side."""
        waiting = (await self.office().waiting(self.callers[to], limit=ALL)).items
        (update,) = [message for message in waiting if message.type == TASK_UPDATE and (message.id, to) not in self.model.letters]
        assert (update.reply_to, update.task is not None and update.task.state) == (letter.id, letter.task)
        proof = await self.office().status(self.callers[to], update.id)
        (number,) = (one.number for one in proof.standings if one.recipient.lower() == to)
        self.model.post(update, to, number, subject=update.subject)

    # Nobody

    @rule(sender=agents, door=doors)
    def write_to_nobody(self, sender: str, door: int) -> None:
        self.do(self.sends(sender, self.draft([NOBODY]), door))

    @rule(door=doors)
    def forget_nobody(self, door: int) -> None:
        self.do(self.forgets(door))

    async def forgets(self, door: int) -> None:
        office, waiting = self.office(door), self.model.of(NOBODY, *UNREAD)
        known = NOBODY in {agent.name for agent in (await office.agents()).items}
        if not known:
            assert not waiting
            await self.refused(office.forget(office.owner(), NOBODY), NoSuchAgent)
            return
        forgotten = await office.forget(office.owner(), NOBODY)
        assert (forgotten.name, forgotten.dead) == (NOBODY, len(waiting))
        for letter in waiting:
            self.model.die(letter)
        assert NOBODY not in {agent.name for agent in (await office.agents()).items}
        await self.hear()

    async def come_to_rest(self) -> None:
        await self.forgets(0)
        await super().come_to_rest()


def _is_told(letter: Letter) -> bool:
    """Whether whoever has the task hears that it is taken back: it may be at work."""
    if letter.task is None or letter.task in FINAL:
        return False
    return letter.state not in UNREAD or letter.attempts > 0 or letter.task is not TaskState.PENDING


def _counts(letter: Letter) -> bool:
    """Whether taking it back has done something, now or before: what died by another way was not taken back."""
    return letter.canceled if letter.state is State.DEAD else letter.task is TaskState.CANCELED

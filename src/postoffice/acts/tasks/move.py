"""Move a task, and tell the one who asked for it."""

import msgspec

from postoffice.acts.act import Act
from postoffice.acts.attachments.carrying import Carrying
from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import settle
from postoffice.acts.needs import Needs
from postoffice.acts.rows import Box, TaskRow
from postoffice.acts.rules.codes import ask_codes
from postoffice.acts.rules.depth import check_depth
from postoffice.acts.rules.idempotency import Once
from postoffice.acts.rules.rates import ask_rate, count_sent
from postoffice.acts.tasks.steps import step
from postoffice.acts.tasks.update import Update
from postoffice.core.clock import moment
from postoffice.core.delivery import State
from postoffice.core.draft import Draft
from postoffice.core.errors import AmbiguousId, DeadlinePassed, NoSuchTask, NotAdmitted, NotAssignee, OverQuota
from postoffice.core.message import TASK
from postoffice.core.names import folded, is_role
from postoffice.core.policy import admitted
from postoffice.core.session import pair
from postoffice.core.task import UNDER_WAY, Blocker, Step, Task, TaskState, moves
from postoffice.core.text import render

_task = msgspec.json.Decoder(Task).decode
_steps = msgspec.json.Decoder(tuple[Step, ...]).decode


class MoveTask(Act[Task]):
    """The assignee moves its task; the requester gets a `task_update` with the task's callback."""

    def __init__(self, caller: str, ref: str, wanted: TaskState, report: Draft, *, verified: bool) -> None:
        self.caller = folded(caller)
        self.ref = ref
        self.wanted = wanted
        self.report = report
        self.verified = verified
        self.parts = f"open_parts:{ref}"
        """How many of its parts are still open, as is said when it is completed."""
        self.carrying = Carrying(self.caller, report.attachments)
        self.once = Once.of(self.caller, f"task:{ref}", report.client_id, (wanted, report))

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.caller)
        needs.tasks.add(self.ref)
        needs.workers.add(self.caller)
        self.carrying.ask(needs)
        if self.wanted is TaskState.COMPLETED:
            needs.extra[self.parts] = (self.ref,)
        if self.once is not None:
            needs.dedupe.add(self.once.key)

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        needs.takes.update(key for key, row in desk.mail.items() if row.type == TASK and is_role(row.mailbox))
        ask_rate(needs, desk, self.caller)
        self.carrying.ask_more(needs)
        ask_codes(needs, self.report, {agent for members in needs.pairs if self.caller in members for agent in members})

    def run(self, desk: Desk) -> Task:
        if self.once is not None and (earlier := self.once.earlier(desk)) is not None:
            return _task(earlier)
        task = self._find(desk)
        state = TaskState(task.state)
        road = moves(task.id, state, self.wanted)
        if TaskState.ACCEPTED in road and state is TaskState.PENDING:
            self._check_accept(desk, task)
        open_parts = next((count for id, count in desk.extra.get(self.parts, ()) if id == task.message_id), 0)
        update = Update(
            desk,
            task,
            self.caller,
            self.wanted,
            self.report,
            verified=self.verified,
            open_parts=open_parts,
            attachments=self.carrying.find(desk),
        )
        if self.wanted is state and not self.report.settled:
            self._check_report(desk, desk.boxes[task.requester], update.size)
        desk.room.take(update.size)
        desk.tasks[task.message_id] = task
        if task.role is not None:
            desk.write("assign_task", (task.message_id, task.assignee, task.role), task.message_id)
        percent = None if self.report.task is None else self.report.task.percent
        step(desk, task, self.wanted, render(update.message.content, update.message.parts) or None, road[:-1], percent)
        # This settles the mail that asked for it, unless somebody holds that: then its holder settles it. Of a role's it is its taker's now.
        mail = desk.mail.get((task.message_id, task.mailbox))
        if mail is not None and (mail.state in (State.PENDING, State.HELD) or (task.role is not None and mail.state == State.LEASED)):
            settle(desk, mail)
        update.post(desk, settled=self.report.settled, moved=self.wanted is not state)
        self.carrying.keep(desk, update.message)
        answer = as_task(task, {agent: desk.boxes[agent].name for agent in (task.requester, task.assignee)})
        if self.once is not None:
            self.once.remember(desk, answer)
        return answer

    def _find(self, desk: Desk) -> TaskRow:
        named = [t for t in desk.tasks.values() if self.ref in (t.id, t.message_id)]
        mine = [t for one in named if (t := self._taken(desk, one)).assignee == self.caller and not _held_back(desk, t)]
        mine = [t for t in mine if t.message_id == self.ref] or mine  # the office's id before any sender's
        if len(mine) == 1:
            return mine[0]
        name = desk.boxes[self.caller].name
        if mine:
            raise AmbiguousId(ref=self.ref, name=name)
        for task in named:
            if task.requester == self.caller:
                raise NotAssignee(task=self.ref, assignee=desk.boxes[task.assignee].name, name=name)
        raise NoSuchTask(task=self.ref, name=name)

    def _taken(self, desk: Desk, task: TaskRow) -> TaskRow:
        """What was sent to a role is the task of whoever took it, from its first move on."""
        take = desk.takes.get((task.message_id, task.assignee))
        if take is None or take.agent != self.caller or task.role is not None:
            return task
        return msgspec.structs.replace(task, assignee=self.caller, role=task.assignee)

    def _check_report(self, desk: Desk, requester: Box, size: int) -> None:
        """Nothing keeps a task from ending, but progress may be reported without end: reports are bounded like other mail."""
        check_depth(desk, requester)
        count_sent(desk, self.caller, size)

    def _check_accept(self, desk: Desk, task: TaskRow) -> None:
        box = desk.boxes[task.assignee]
        requester = desk.boxes[task.requester]
        connected = pair(task.requester, task.assignee) in desk.connected
        if task.role is None and not admitted(task.requester, task.assignee, box.card.allow_from, connected=connected):
            raise NotAdmitted(sender=requester.name, recipient=box.name)
        if task.deadline is not None and task.deadline <= desk.now:
            raise DeadlinePassed(task=task.id, deadline=moment(task.deadline).isoformat())
        count = desk.under_way.get(task.assignee, 0)
        if count >= box.card.max_concurrent_tasks and self.wanted in UNDER_WAY:
            raise OverQuota(name=box.name, count=count, limit=box.card.max_concurrent_tasks)


def _held_back(desk: Desk, task: TaskRow) -> bool:
    """Whether its assignee has not been asked yet."""
    mail = desk.mail.get((task.message_id, task.mailbox))
    return mail is not None and mail.hidden


def as_task(row: TaskRow, names: dict[str, str]) -> Task:
    """A task as it stands, with its agents' names as they write them."""
    return Task(
        id=row.id,
        message_id=row.message_id,
        requester=names.get(row.requester, row.requester),
        assignee=names.get(row.assignee, row.assignee),
        state=TaskState(row.state),
        subject=row.subject,
        created_at=moment(row.created_at),
        updated_at=moment(row.updated_at),
        steps=_steps(row.steps),
        deadline=None if row.deadline is None else moment(row.deadline),
        callback=None if row.callback is None else msgspec.json.decode(row.callback),
        overdue=bool(row.overdue),
        percent=row.percent,
        parent=row.parent,
        blocked_by=blockers_of(row),
        open_parts=row.open_parts,
        role=row.role,
    )


def blockers_of(row: TaskRow) -> tuple[Blocker, ...]:
    """What a task waits for, ended or not, the first asked for first."""
    told = (text.split(":") for text in sorted((row.blockers or "").split()))
    return tuple(Blocker(id, TaskState(state), assignee) for id, state, assignee in told)

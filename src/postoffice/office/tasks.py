"""Verbs about tasks."""

import msgspec

from postoffice.acts.tasks.move import MoveTask
from postoffice.core.agent import Caller
from postoffice.core.draft import Draft, check_draft
from postoffice.core.errors import (
    AmbiguousId,
    BadMessage,
    Forbidden,
    NoSuchTask,
    NotRequester,
    TaskFinal,
)
from postoffice.core.limits import Limits, bounded
from postoffice.core.message import TASK_UPDATE, TaskRef
from postoffice.core.names import check_name, folded
from postoffice.core.task import FINAL, Task, TaskState
from postoffice.core.views import Page
from postoffice.office.cancellations import recall
from postoffice.office.checks import Checks
from postoffice.office.short_ids import ShortIds
from postoffice.store.store import Store

_WHOLE = 100
"""Percent."""


class Tasks:
    """A task is moved by its assignee, and canceled by its requester."""

    def __init__(self, store: Store, checks: Checks, limits: Limits, short_ids: ShortIds) -> None:
        self._store = store
        self._checks = checks
        self._limits = limits
        self._short_ids = short_ids

    async def update_task(
        self, caller: Caller, ref: str, state: TaskState, report: Draft | None = None, *, percent: int | None = None
    ) -> Task:
        """Move a task, as its assignee, or cancel it, as its requester. The other gets a task_update, the requester with the task's callback."""
        task = await self._moved(caller, ref, state, report, percent)
        if state in FINAL:
            await self._store.sweeps.report_unblocked()  # whoever waited for it hears of it at once, and not with the next tick
        return task

    async def _moved(self, caller: Caller, ref: str, state: TaskState, report: Draft | None, percent: int | None) -> Task:
        draft = report or Draft(to=caller.name, content="")
        progress = None if percent is None else TaskRef(percent=bounded("percent", percent, 0, 0, _WHOLE))
        answered = self._checks.ref(ref) if draft.automatic else draft.reply_to  # the task itself is what an automatic report answers
        checked = check_draft(msgspec.structs.replace(draft, type=TASK_UPDATE, task=progress, reply_to=answered), self._limits)
        if state is TaskState.CANCELED:
            if checked.attachments:
                raise BadMessage(field="attachments", why="what cancels a task carries none; send them in a letter")
            named = None if caller.owner else caller.name
            return await self._short_ids.named(named, self._checks.ref(ref), lambda whole: self._cancel_task(caller, whole, checked))
        return await self._short_ids.named(
            caller.name,
            self._checks.ref(ref),
            lambda whole: self._store.do(MoveTask(caller.name, whole, state, checked, verified=caller.verified)),
        )

    async def _cancel_task(self, caller: Caller, ref: str, report: Draft) -> Task:
        task = await self._task(caller, ref)
        if not caller.owner and folded(task.requester) != folded(caller.name):
            raise NotRequester(task=ref, requester=task.requester, name=caller.name)
        recalled = await self._store.do(recall(caller, task.requester, task.message_id, task.role or task.assignee, report))
        task = await self._task(caller, task.message_id)
        if not recalled.canceled:
            raise TaskFinal(task=ref, state=task.state)
        return task

    async def tasks(
        self,
        caller: Caller,
        *,
        assignee: str | None = None,
        requester: str | None = None,
        state: TaskState | None = None,
        cursor: str | None = None,
        limit: int | None = None,
    ) -> Page[Task]:
        """Tasks asked of the caller or by it; those asked of it unless told otherwise. The owner sees any."""
        me = folded(caller.name)
        for name in (assignee, requester):
            if name is not None:
                check_name(name)
        if not caller.owner:
            if assignee is None and requester is None:
                assignee = caller.name
            if me not in (folded(assignee or ""), folded(requester or "")):
                raise Forbidden(name=caller.name, why="it sees only tasks asked of it or by it")
        return await self._store.tasks.page(
            assignee=assignee, requester=requester, state=state, before=cursor, limit=self._checks.page(limit)
        )

    async def open_tasks(self, caller: Caller, state: TaskState, cursor: str | None = None, limit: int | None = None) -> Page[Task]:
        """Unfinished tasks in one state, the longest open first: asked of the agent or by it; the owner sees all."""
        return await self._store.tasks.open(None if caller.owner else caller.name, state, cursor, self._checks.page(limit))

    async def finished_tasks(self, caller: Caller, limit: int | None = None) -> tuple[Task, ...]:
        """The newest tasks that are done, one way or the other."""
        most = self._checks.page(limit)
        if caller.owner:
            return (await self._store.tasks.finished(None, most)).items
        tasks: dict[str, Task] = {}
        for state in FINAL:
            assigned = await self._store.tasks.page(assignee=caller.name, state=state, limit=most)
            mine = await self._store.tasks.page(requester=caller.name, state=state, limit=most)
            tasks |= {task.message_id: task for task in (*assigned.items, *mine.items)}
        return tuple(tasks[id] for id in sorted(tasks, reverse=True)[:most])

    async def task(self, caller: Caller, ref: str) -> Task:
        """One task, for either side of it."""
        return await self._short_ids.named(
            None if caller.owner else caller.name, self._checks.ref(ref), lambda whole: self._task(caller, whole)
        )

    async def _task(self, caller: Caller, ref: str) -> Task:
        me = folded(caller.name)
        tasks = await self._store.tasks.named(ref)
        mine = [task for task in tasks if caller.owner or me in (folded(task.requester), folded(task.assignee))]
        # What asks for it may be held back from its assignee, who has not been asked yet.
        mine = [task for task in mine if caller.owner or folded(task.requester) == me or await self._store.mail.proofs(task.message_id, me)]
        if not mine:
            raise NoSuchTask(task=ref, name=caller.name)
        mine = [task for task in mine if task.message_id == ref] or mine  # the office's id before any sender's
        if len(mine) > 1:
            raise AmbiguousId(ref=ref, name=caller.name)
        return mine[0]

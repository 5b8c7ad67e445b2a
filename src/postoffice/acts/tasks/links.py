"""What a task is part of, and what it waits for. No task ever waits for itself."""

from collections.abc import Iterable

import msgspec

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.rows import TaskRow
from postoffice.core.draft import Draft
from postoffice.core.errors import AmbiguousId, NoSuchTask, TaskCycle, TaskFinal
from postoffice.core.message import Message, TaskRef
from postoffice.core.names import OWNER, SYSTEM
from postoffice.core.task import FINAL

_REACH = "task_reach:"


class Links:
    """The tasks that a draft names: each has to be its sender's own, asked by it or of it."""

    def __init__(self, sender: str, task: TaskRef | None) -> None:
        self.sender = sender
        self.parent = None if task is None else task.parent
        self.blockers = () if task is None else task.blocked_by
        self.refs = (*((self.parent,) if self.parent else ()), *self.blockers)

    def ask(self, needs: Needs) -> None:
        """Have them on the desk."""
        needs.tasks.update(self.refs)
        if self.parent is not None and self.blockers:
            needs.boxes.add(SYSTEM)  # of two that would close a circle together, one comes after the other
            needs.extra |= {f"{_REACH}{blocker}": (blocker,) for blocker in self.blockers}

    def resolved(self, desk: Desk, draft: Draft) -> Draft:
        """The draft with the office's ids of them, if they may be linked so."""
        if not self.refs or draft.task is None:
            return draft
        parent = None if self.parent is None else self._find(desk, self.parent)
        blockers = [self._find(desk, ref) for ref in self.blockers]
        if parent is not None:
            if parent.state in FINAL:
                raise TaskFinal(task=parent.message_id, state=parent.state)
            self._check_circle(desk, parent, blockers)
            desk.linked.append((parent.message_id, self.blockers))
        ids = tuple(dict.fromkeys(blocker.message_id for blocker in blockers))
        linked = msgspec.structs.replace(draft.task, parent=None if parent is None else parent.message_id, blocked_by=ids)
        return msgspec.structs.replace(draft, task=linked)

    def _find(self, desk: Desk, ref: str) -> TaskRow:
        named = [task for task in desk.tasks.values() if ref in (task.id, task.message_id)]
        mine = [task for task in named if self.sender in (task.requester, task.assignee) or self.sender == OWNER]
        mine = [task for task in mine if task.message_id == ref] or mine  # the office's id before any sender's
        if len(mine) != 1:
            name = desk.boxes[self.sender].name
            raise AmbiguousId(ref=ref, name=name) if mine else NoSuchTask(task=ref, name=name)
        return mine[0]

    def _check_circle(self, desk: Desk, parent: TaskRow, blockers: Iterable[TaskRow]) -> None:
        """A parent waits for its parts: none of them may wait for it, by however many others."""
        for ref, blocker in zip(self.blockers, blockers, strict=True):
            if parent.message_id in self._awaited(desk, ref):
                raise TaskCycle(task=blocker.message_id, parent=parent.message_id)

    @staticmethod
    def _awaited(desk: Desk, ref: str) -> set[str]:
        """All that a task waits for, itself among them; also by what this group has linked."""
        todo, found, seen = [ref], set[str](), set[str]()
        while todo:
            seen.add(at := todo.pop())
            found.update(id for (id,) in desk.extra.get(f"{_REACH}{at}", ()))
            todo += [other for parent, others in desk.linked if parent in found for other in others if other not in seen]
        return found


def link(desk: Desk, message: Message) -> bool:
    """Keep what a new task waits for; whether it has to wait at all."""
    task = message.task
    assert task is not None
    for blocker in task.blocked_by:
        desk.write("add_task_link", (message.id, blocker), (message.id, blocker))
    return any(desk.tasks[blocker].state not in FINAL for blocker in task.blocked_by if blocker in desk.tasks)

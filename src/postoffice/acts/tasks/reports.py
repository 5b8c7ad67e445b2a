"""What is told of tasks without anybody moving them: a deadline passes, an assignee goes away, what one waited for is over. Each once."""

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import notify
from postoffice.acts.needs import Needs
from postoffice.acts.rows import TaskRow
from postoffice.acts.rules.notices import assignee_gone, task_overdue, task_unblocked
from postoffice.acts.tasks.move import blockers_of
from postoffice.acts.tasks.steps import write_task
from postoffice.core.clock import moment
from postoffice.core.event import Kind
from postoffice.core.names import SYSTEM
from postoffice.core.session import pair
from postoffice.core.task import FINAL, UNDER_WAY, TaskState


class _OfTasks(Act[int]):
    """Something told of some tasks, as far as it is still so."""

    def __init__(self, ids: tuple[str, ...]) -> None:
        self.ids = ids

    def ask(self, needs: Needs) -> None:
        needs.tasks.update(self.ids)

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        members = {agent for members in needs.pairs for agent in members}
        needs.thread_keys.update((*pair(SYSTEM, agent), "") for agent in members if agent in desk.boxes)

    def run(self, desk: Desk) -> int:
        return sum(self.tell(desk, desk.tasks[id]) for id in self.ids if id in desk.tasks and desk.tasks[id].state not in FINAL)

    def tell(self, desk: Desk, task: TaskRow) -> bool:
        """Tell of one; False if there is nothing to tell any more."""
        raise NotImplementedError


class ReportOverdue(_OfTasks):
    """Tell those who asked for work that its deadline has passed."""

    def tell(self, desk: Desk, task: TaskRow) -> bool:
        if task.overdue or task.deadline is None or task.deadline > desk.now:
            return False
        task.overdue = True
        write_task(desk, task)
        notify(desk, desk.boxes[task.requester], task_overdue(task, desk.boxes[task.assignee].name))
        desk.tell(desk.boxes[task.requester], Kind.TASK, task.id, {"state": task.state, "overdue": True})
        return True


class ReportGone(_OfTasks):
    """Tell those who asked for work that whoever does it has closed its window, and was not heard of since."""

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.agents = True  # when it was heard of last

    def tell(self, desk: Desk, task: TaskRow) -> bool:
        if task.gone or task.state not in UNDER_WAY:
            return False
        task.gone = True
        write_task(desk, task)
        assignee = desk.boxes[task.assignee]
        notify(desk, desk.boxes[task.requester], assignee_gone(task, assignee.name, moment(assignee.last_seen or task.updated_at)))
        desk.tell(desk.boxes[task.requester], Kind.TASK, task.id, {"state": task.state, "gone": True})
        return True


class ReportUnblocked(_OfTasks):
    """Tell those who are to do work that all it waited for is over."""

    def tell(self, desk: Desk, task: TaskRow) -> bool:
        blockers, mail = blockers_of(task), desk.mail.get((task.message_id, task.mailbox))
        if mail is not None and mail.hidden:  # its assignee has not been asked yet
            return False
        if not task.blocked or any(one.state not in FINAL for one in blockers):
            return False
        task.blocked = False
        write_task(desk, task)
        notify(desk, desk.boxes[task.assignee], task_unblocked(task, [one.id for one in blockers if one.state is not TaskState.COMPLETED]))
        desk.tell(desk.boxes[task.assignee], Kind.TASK, task.id, {"state": task.state, "unblocked": True})
        return True

"""What can be wrong with tasks."""

from postoffice.core.errors.kinds import Conflict, Forbidden, Limited, NotFound


class NotAssignee(Forbidden):
    """Task {task} is assigned to {assignee}, so {name} cannot move it."""


class NotRequester(Forbidden):
    """Task {task} was asked for by {requester}, who alone cancels it; {name} can report it rejected or failed."""


class NoSuchTask(NotFound):
    """There is no task {task!r} that {name} has to do with."""


class TaskFinal(Conflict):
    """Task {task} is {state} already, which is final."""


class BadTaskMove(Conflict):
    """Task {task} cannot go from {state} to {wanted}."""


class DeadlinePassed(Conflict):
    """The deadline of task {task} passed at {deadline}; it can only be rejected or failed."""


class TaskCycle(Conflict):
    """A part of task {parent} cannot wait for {task}, which itself waits for {parent}: neither would ever end."""


class OverQuota(Limited):
    """{name} has {count} tasks under way, its limit is {limit}; finish one first."""

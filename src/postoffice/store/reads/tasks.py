"""What a store can be asked about tasks."""

from postoffice.acts.rows import Row, TaskRow
from postoffice.acts.tasks.move import as_task
from postoffice.core.names import folded
from postoffice.core.task import Task, TaskState
from postoffice.core.views import Page
from postoffice.store.engine import Engine
from postoffice.store.reads.agents import name_of
from postoffice.store.reads.pages import FIRST_ID, id_cursor, page_of

_QUERIES = {(False, False): "tasks", (True, False): "tasks_asked_of", (False, True): "tasks_asked_by", (True, True): "tasks_between"}
"""By whether an assignee and a requester are named."""


class TaskReads:
    """Tasks."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def page(
        self,
        *,
        assignee: str | None = None,
        requester: str | None = None,
        state: TaskState | None = None,
        before: str | None = None,
        limit: int,
    ) -> Page[Task]:
        rows = await self._engine.fetch(
            _QUERIES[assignee is not None, requester is not None],
            assignee=None if assignee is None else folded(assignee),
            requester=None if requester is None else folded(requester),
            state=state,
            before=id_cursor(before),
            limit=limit + 1,
        )
        items = [as_task(TaskRow(*row[:-2]), {row[2]: row[-2], row[3]: row[-1]}) for row in rows[:limit]]
        return page_of(items, rows, limit, lambda row: row[0])

    async def named(self, ref: str) -> list[Task]:
        tasks = [TaskRow(*row) for row in await self._engine.fetch_each("tasks_by_ref", [(ref,)])]
        names = {agent: await name_of(self._engine, agent) for task in tasks for agent in (task.requester, task.assignee)}
        return [as_task(task, names) for task in tasks]

    async def open(self, name: str | None, state: TaskState, after: str | None, limit: int) -> Page[Task]:
        agent = None if name is None else folded(name)
        rows = await self._engine.fetch("open_tasks", agent=agent, state=state, after=id_cursor(after, FIRST_ID), limit=limit + 1)
        return page_of([_task(row) for row in rows[:limit]], rows, limit, lambda row: row[0])

    async def finished(self, before: str | None, limit: int) -> Page[Task]:
        rows = await self._engine.fetch("finished_tasks", before=id_cursor(before), limit=limit + 1)
        return page_of([_task(row) for row in rows[:limit]], rows, limit, lambda row: row[0])


def _task(row: Row) -> Task:
    return as_task(TaskRow(*row[:-2]), {row[2]: row[-2], row[3]: row[-1]})

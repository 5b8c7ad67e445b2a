"""Tasks: what was asked of whom, and how it goes."""

from typing import Annotated, Any

import msgspec
from fastapi import Path, Query, Response
from pydantic import Field

from postoffice.core.draft import Draft
from postoffice.core.task import Task, TaskState
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import MOST_ITEMS, Body, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.examples import MESSAGE_ID, WHEN
from postoffice.doors.rest.paging import Cursor, Limit
from postoffice.doors.rest.send_body import AttachmentBody

routes = router("tasks")

TaskId = Annotated[str, Path(max_length=255, examples=[MESSAGE_ID])]


class TaskUpdateBody(Body):
    """Where the task goes, and what to tell its requester."""

    state: TaskState
    content: str | None = Field(None, max_length=10_000)
    parts: list[dict[str, Any]] | None = None
    payload: Any = None
    attachments: list[AttachmentBody] = Field([], max_length=MOST_ITEMS, description="Results, at most 100 by default.")
    percent: int | None = Field(None, ge=0, le=100, description="How far it is.")
    automatic: bool = Field(False, description="Written by a program, with nobody looking.")
    id: str | None = Field(None, max_length=255, description="Your own id: the same update is made once.")


class Tasks(msgspec.Struct, frozen=True):
    """Tasks, newest first."""

    tasks: tuple[Task, ...]
    cursor: str | None


_TASK = {
    "id": MESSAGE_ID,
    "message_id": MESSAGE_ID,
    "requester": "alice-agent",
    "assignee": "bob-agent",
    "state": "working",
    "created_at": WHEN,
    "updated_at": WHEN,
    "steps": [{"state": "pending", "at": WHEN}, {"state": "accepted", "at": WHEN, "implied": True}, {"state": "working", "at": WHEN}],
    "subject": "Review",
    "deadline": None,
    "callback": None,
    "overdue": False,
    "percent": 40,
    "parent": None,
    "blocked_by": [{"id": MESSAGE_ID, "state": "completed", "assignee": "carol-agent"}],
    "open_parts": 0,
}


@routes.get("/tasks", **gives(Tasks, {"tasks": [_TASK], "cursor": None}))
async def tasks(
    call: Identified,
    assignee: Annotated[str | None, Query(description="Asked of this agent.")] = None,
    requester: Annotated[str | None, Query(description="Asked by this agent.")] = None,
    state: TaskState | None = None,
    cursor: Cursor = None,
    limit: Limit = None,
) -> Response:
    """Tasks asked of the caller, or by it. The owner sees any."""
    page = await call.office.tasks(call.caller, assignee=assignee, requester=requester, state=state, cursor=cursor, limit=limit)
    return answer(Tasks(page.items, page.cursor))


@routes.get("/tasks/{task_id:path}", **gives(Task, _TASK))
async def task(task_id: TaskId, call: Identified) -> Response:
    """One task, for either side of it."""
    return answer(await call.office.task(call.caller, task_id))


@routes.post("/tasks/{task_id:path}/update", **gives(Task, _TASK))
async def update(task_id: TaskId, body: TaskUpdateBody, call: Identified) -> Response:
    """Move a task, as its assignee, or cancel it, as its requester. The other is told; the requester with the task's callback."""
    report = Draft(
        to=call.caller.name,
        content="" if body.content is None and not body.parts else body.content,
        parts=tuple(body.parts or ()),
        payload=body.payload if "payload" in body.model_fields_set else msgspec.UNSET,
        attachments=tuple(one.attachment() for one in body.attachments),
        automatic=body.automatic,
        client_id=body.id,
    )
    return answer(await call.office.update_task(call.caller, task_id, body.state, report, percent=body.percent))

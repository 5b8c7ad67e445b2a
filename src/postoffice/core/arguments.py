"""What each tool takes, as a model is told it: few words, all of them needed."""

from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType


def _says(description: str) -> Meta:
    return Meta(description=description)


def _from(least: int, limit: str) -> Meta:
    """The most is a setting, which the office knows, and whoever lists the tools says; the bound only keeps what is read within reach."""
    return Meta(ge=least, le=1_000_000_000_000, extra_json_schema={"most": limit})


_Me = Annotated[str, _says("Your own agent name, where neither address nor key says it.")]
_Refs = Annotated[str | list[str], _says("One id or a list.")]
_Limit = Annotated[int, _from(1, "batch")]
_Own = Annotated[str, _says("Your own id; a retry with it does nothing twice.")]


class Arguments(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a tool takes."""


class SendToAgent(Arguments, frozen=True, kw_only=True):
    """What `send_to_agent` takes."""

    name: Annotated[str, _says("Recipient")]
    msg: str
    msg_id: Annotated[str, _says("Your own id; a retry with it sends nothing twice")] | None = None


class CheckMail(Arguments, frozen=True, kw_only=True):
    """What `check_mail` takes: nothing."""


class Send(Arguments, frozen=True, kw_only=True, rename={"sender": "from"}):
    """What `mailbox_send` takes."""

    to: Annotated[str | list[str], _says("Agent name, a list of names, or ALL.")]
    sender: _Me | None = None
    content: Annotated[str, _says("What you say, as text.")] | None = None
    subject: Annotated[str, _says("Topic: mail with the same subject is one conversation.")] | None = None
    session_id: Annotated[str, _says("The conversation to go on with.")] | None = None
    payload: Annotated[Any, _says("Any JSON; arrives exactly as sent.")] | UnsetType = UNSET
    parts: list[dict[str, Any]] | None = None
    type: Annotated[str, _says("Kind of message; `task` asks for work.")] | None = None
    correlation_id: Annotated[str, _says("Your mark; ask the other side to answer with it, then wait for it.")] | None = None
    reply_to: Annotated[str, _says("Id of the message you answer.")] | None = None
    priority: Annotated[int, Meta(ge=1, le=5, description="1 urgent, 3 normal, 5 fyi.")] | None = None
    deadline: Annotated[str, _says("For a task: when it must be done, ISO 8601 with zone.")] | None = None
    id: Annotated[str, _says("Your own id; a retry with it sends nothing twice.")] | None = None


class Receive(Arguments, frozen=True, kw_only=True):
    """What `mailbox_receive` takes."""

    agent_id: _Me | None = None
    limit: _Limit | None = None
    ack: Annotated[list[str], _says("Ids handled before: acked first.")] = []
    correlation_id: Annotated[str, _says("Only mail with this mark.")] | None = None
    session_id: Annotated[str, _says("Only mail of this conversation.")] | None = None


class Wait(Arguments, frozen=True, kw_only=True):
    """What `mailbox_wait` takes."""

    agent_id: _Me | None = None
    timeout_ms: Annotated[int, _from(0, "wait_most")] | None = None
    limit: _Limit = 1
    ack: Annotated[list[str], _says("Ids handled before: acked first.")] = []
    correlation_id: Annotated[str, _says("Only mail with this mark.")] | None = None
    session_id: Annotated[str, _says("Only mail of this conversation.")] | None = None


class Acked(Arguments, frozen=True, kw_only=True):
    """What `mailbox_ack` takes."""

    message_id: _Refs
    agent_id: _Me | None = None


class Nacked(Arguments, frozen=True, kw_only=True):
    """What `mailbox_nack` takes."""

    message_id: _Refs
    agent_id: _Me | None = None
    reason: str | None = None
    delay_ms: Annotated[int, _from(0, "visibility_most")] = 0


class Check(Arguments, frozen=True, kw_only=True):
    """What `mailbox_check` takes."""

    agent_id: _Me | None = None
    unread_only: bool = False
    cursor: str | None = None


class Connect(Arguments, frozen=True, kw_only=True):
    """What `mailbox_connect` takes."""

    target_agent_name: str
    agent_id: _Me | None = None
    message: Annotated[str, _says("A word to introduce yourself.")] | None = None


class Approve(Arguments, frozen=True, kw_only=True):
    """What `mailbox_approve` takes."""

    code: Annotated[str, _says("Like XC-992.")]
    agent_id: _Me | None = None


class Read(Arguments, frozen=True, kw_only=True):
    """What `mailbox_read` takes."""

    session_id: str
    agent_id: _Me | None = None
    limit: Annotated[int, Meta(ge=1, le=50)] = 10
    before: Annotated[str, _says("Id of a message: those before it.")] | None = None


class Agents(Arguments, frozen=True, kw_only=True):
    """What `mailbox_agents` takes."""

    agent_id: _Me | None = None
    cursor: str | None = None


class TaskUpdate(Arguments, frozen=True, kw_only=True):
    """What `mailbox_task_update` takes."""

    task_id: str
    state: Annotated[str, _says("accepted, working, completed, rejected or failed.")]
    agent_id: _Me | None = None
    content: Annotated[str, _says("Progress, result or reason, for the one who asked.")] | None = None
    payload: Any | UnsetType = UNSET
    id: _Own | None = None


class Tasks(Arguments, frozen=True, kw_only=True):
    """What `mailbox_tasks` takes."""

    agent_id: _Me | None = None
    asked_by_me: bool = False
    state: str | None = None
    cursor: str | None = None


class Status(Arguments, frozen=True, kw_only=True):
    """What `mailbox_status` takes."""

    message_id: str
    agent_id: _Me | None = None


class Search(Arguments, frozen=True, kw_only=True):
    """What `mailbox_search` takes."""

    query: Annotated[str, _says("Words that all have to be there.")]
    agent_id: _Me | None = None
    limit: Annotated[int, Meta(ge=1, le=100)] = 10


class Forward(Arguments, frozen=True, kw_only=True):
    """What `mailbox_forward` takes."""

    message_id: str
    to: str
    agent_id: _Me | None = None
    content: Annotated[str, _says("Your own words in place of the original's.")] | None = None
    id: _Own | None = None


class SendMessage(Arguments, frozen=True, kw_only=True):
    """What `send_message` takes."""

    to_agent: Annotated[str, _says("Agent, or ALL.")]
    subject: str
    message_type: Annotated[str, _says("feedback, fyi, review.request, task.note …")] = "fyi"
    payload: Any | UnsetType = UNSET
    ref_id: Annotated[str, _says("The entity it is about.")] | None = None
    ref_type: Annotated[str, _says("task, phase, stage, project or agent.")] | None = None
    priority: Annotated[int, Meta(ge=1, le=5)] = 3
    agent_id: _Me | None = None
    id: _Own | None = None


class PostNote(Arguments, frozen=True, kw_only=True):
    """What `post_note` takes."""

    entity_id: str
    entity_type: Annotated[str, _says("task, phase, stage or project.")]
    note: str
    notify: Annotated[list[str], _says("Agents that get it as mail.")] = []
    agent_id: _Me | None = None
    id: _Own | None = None

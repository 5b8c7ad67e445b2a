"""What the tools answer with."""

from datetime import datetime
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from postoffice.core.connection import Assurance
from postoffice.core.delivery import Standing
from postoffice.core.letter import Letter
from postoffice.core.task import Task
from postoffice.doors.listing import Listing
from postoffice.doors.thread import History, Inbox


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """What a tool gives: raw values, for programs."""

    def bare(self) -> object:
        """What a shell script wants of it."""
        return self

    def structured(self) -> Any:
        """The object that MCP carries."""
        return msgspec.to_builtins(self.bare())


class SentId(Result, frozen=True, kw_only=True):
    """The id of a message sent."""

    id: str
    unseen: str | None = None
    """The recipient, if nobody of that name has been here yet."""

    def bare(self) -> str:
        return self.id

    def structured(self) -> Any:
        return {"id": self.id}


class PoppedMail(Result, frozen=True, kw_only=True, rename={"sender": "from"}):
    """A message taken out of a mailbox."""

    id: str
    sender: str
    content: str
    """Always text."""
    from_verified: bool
    parts: tuple[dict[str, Any], ...] | UnsetType = UNSET
    payload: Any | UnsetType = UNSET
    """As sent: it will not be given out again."""


class Popped(Result, frozen=True, kw_only=True):
    """The oldest message, or null."""

    message: PoppedMail | None
    letter: Letter | None = None
    """The same with all that was sent, for whoever reads it out."""

    def bare(self) -> object:
        shown = msgspec.to_builtins(self.message)
        return shown and {name: value for name, value in shown.items() if name != "from_verified"}

    def structured(self) -> Any:
        return {"message": msgspec.to_builtins(self.message)}


class Sent(Result, frozen=True, kw_only=True):
    """A message accepted: stored for good."""

    id: str
    message_id: str
    session_id: str | None
    status: str
    created_at: datetime
    recipients: tuple[dict[str, Any], ...]
    duplicate: bool
    ledger: str | UnsetType = UNSET
    """Of a note: `awaiting` where its entity's topic will tell of it, else `direct`."""


class HeldLetter(Letter, frozen=True, kw_only=True, rename={"sender": "from"}):
    """A message in its taker's hands."""

    status: str
    attempt: int
    leased_until: datetime | None


class Mail(Result, frozen=True, kw_only=True):
    """Messages taken, and what became of the acks that came with the call."""

    messages: tuple[HeldLetter, ...]
    acked: tuple[dict[str, Any], ...]
    more: bool | UnsetType = UNSET
    """True where more came than the answer could hold: it waits for the next call."""


class Settled(Result, frozen=True, kw_only=True):
    """Where a message stands after it was settled; of several, each by itself."""

    message_id: str | UnsetType = UNSET
    status: str | UnsetType = UNSET
    results: tuple[dict[str, Any], ...] | UnsetType = UNSET


class WholeInbox(Inbox, frozen=True, kw_only=True):
    """An inbox, and what waits outside of its sessions: notes, and mail to oneself."""

    notes: tuple[Letter, ...]


class Overview(Result, frozen=True, kw_only=True):
    """A mailbox at a glance."""

    inbox: WholeInbox
    unread_only: bool = False
    """Whether what was read is left out of it."""

    def bare(self) -> WholeInbox:
        return self.inbox


class Conversation(Result, frozen=True, kw_only=True):
    """A session's messages, newest first."""

    history: History

    def bare(self) -> History:
        return self.history


class Requested(Result, frozen=True, kw_only=True):
    """A connection asked for."""

    connection_id: str
    verification_code: str
    target_agent_name: str
    status: str


class Approved(Result, frozen=True, kw_only=True):
    """A connection made."""

    connection_id: str
    status: str
    connected_agent_name: str
    assurance: Assurance | None


class Directory(Result, frozen=True, kw_only=True):
    """Who is there."""

    agents: tuple[Listing, ...]
    cursor: str | None


class TaskResult(Result, frozen=True, kw_only=True):
    """A task as it stands."""

    task: Task

    def bare(self) -> Task:
        return self.task


class TaskList(Result, frozen=True, kw_only=True):
    """Tasks, newest first."""

    tasks: tuple[Task, ...]
    cursor: str | None


class Whereabouts(Result, frozen=True, kw_only=True):
    """Where a message stands with everyone it went to."""

    message_id: str
    standings: tuple[Standing, ...]
    purged_at: datetime | None


class Hits(Result, frozen=True, kw_only=True):
    """What a search found."""

    messages: tuple[Letter, ...]


def output_schema(shape: type[Result]) -> dict[str, Any]:
    """The shape of an answer as JSON schema, one level deep: whoever wants more looks at the answer."""
    carried = {Overview: WholeInbox, Conversation: History, TaskResult: Task}.get(shape, shape)
    found = msgspec.json.schema(carried)["$defs"][carried.__name__]
    properties = {name: _shallow(schema) for name, schema in found["properties"].items() if name not in ("letter", "unseen")}
    return {"type": "object", "properties": properties, "required": found["required"]}


def _shallow(schema: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in schema:
        return {}
    if "anyOf" in schema:
        return {"anyOf": [_shallow(choice) for choice in schema["anyOf"]]}
    if schema.get("type") == "array":
        return {"type": "array"}
    return {name: value for name, value in schema.items() if name in ("type", "format", "enum")}

"""A message to send, as REST takes it."""

from datetime import datetime
from typing import Annotated, Any, Self

import msgspec
from pydantic import Field, model_validator

from postoffice.core.attachment import Attachment
from postoffice.core.draft import Draft
from postoffice.core.errors import BadMessage, MailError
from postoffice.core.message import TaskRef
from postoffice.core.names import EVERYONE, is_list
from postoffice.core.question import Ask
from postoffice.core.times import one_time
from postoffice.doors.rest.body import BY_ITSELF, MOST_ITEMS, MOST_SECONDS, Body, Unfit, Uuid

_CONTENT_CHARACTERS = 10_000
Seconds = Annotated[float, Field(ge=0, le=MOST_SECONDS)]
_NONE: Any = ()  # a list would be copied for each call that does not give it
_OTHERWISE = frozenset(
    {"to", "parts", "task", "ask", "id", "attachments", "deliver_at", "deliver_in", "expires_at", "expires_in"}
)  # what a draft has in another form


class TaskBody(Body):
    """The work a message asks for."""

    id: str | None = None
    deadline: datetime | None = None
    parent: str | None = Field(None, description="The task it is part of, by its id or the end of it.")
    blocked_by: list[str] = Field([], description="The tasks that have to end first; at most 20.")


class AskBody(Body):
    """What a letter asks a person, who answers with a choice, in words, or both."""

    choices: list[str] = Field([], max_length=10, examples=[["ship it", "wait"]])
    text: bool = Field(True, description="Whether the person may say something of their own.")
    default: str | None = Field(None, description="What counts if nobody has answered by the deadline.")
    deadline: datetime | None = None


class AttachmentBody(Body):
    """What a letter carries: bytes that its sender uploaded, or may fetch."""

    digest: str = Field(max_length=255, description="`sha256:` and 64 hexadecimal digits, as the upload gave it.")
    name: str = Field("", max_length=255, description="A file's name, without any folder; if none is given, that of the upload.")
    type: str = Field("", max_length=255, description="Its media type; if none is given, that of the upload.")
    size: int | None = Field(None, description="Nothing is made of it: the office knows.")

    def attachment(self) -> Attachment:
        """The same as the office takes it."""
        return Attachment(self.digest, self.name, self.type)


class SendBody(Body):
    """A message to send. `to` is an agent, several agents, `ALL`, or a list (`#backend` or `list:backend`); its body is content, parts or a payload."""

    to: str | list[str] = Field(examples=["bob-agent"])
    subject: str | None = Field(None, max_length=255, examples=["Project collaboration"])
    content: str | None = Field(None, max_length=_CONTENT_CHARACTERS, examples=["Hello Bob, shall we start?"])
    session_id: Uuid | None = None
    type: str = Field("message", max_length=255)
    parts: list[dict[str, Any]] | None = None
    payload: Any = None
    context: Any = None
    correlation_id: str | None = None
    reply_to: str | None = None
    priority: int | None = Field(None, ge=1, le=5)
    ttl: int | None = Field(None, ge=0, description="How often it may be forwarded; at most 10 by default.")
    task: TaskBody | None = None
    ask: AskBody | None = Field(None, description="Makes it a question to a person: to `owner`, or to whom the directory calls a person.")
    callback: dict[str, Any] | None = None
    ref_id: str | None = None
    ref_type: str | None = None
    metadata: dict[str, Any] | None = None
    id: str | None = Field(None, max_length=255, description="Your own id: the same id and body is one message, however often it is sent.")
    forward_of: str | None = Field(None, description="The message this passes on, with what it carries.")
    attachments: list[AttachmentBody] = Field(_NONE, max_length=MOST_ITEMS, description="At most 100 by default.")
    automatic: bool = Field(False, description="Written by a program in answer to `reply_to`, with nobody looking.")
    deliver_at: datetime | None = Field(None, description="When its recipients get it; a time that is over means at once.")
    deliver_in: Seconds | None = Field(None, description="The same as seconds from now.")
    expires_at: datetime | None = Field(None, description="Whoever has not taken it by then does not get it any more, and you are told.")
    expires_in: Seconds | None = Field(None, description="The same as seconds from now.")

    @model_validator(mode="after")
    def _in_some_session(self) -> Self:
        """A plain letter says what it is about, unless something else does."""
        plain = (
            self.content is not None
            and self.ask is None
            and self.type == "message"
            and isinstance(self.to, str)
            and self.to != EVERYONE
            and not is_list(self.to)
        )
        if plain and self.subject is None and self.session_id is None and self.reply_to is None and self.forward_of is None:
            message = "subject is required where no session_id is given"
            raise ValueError(message)
        return self

    def draft(self, key: str | None = None) -> Draft:
        """The message as the office takes it."""
        if key is not None and self.id is not None and key != self.id:
            raise BadMessage(field="id", why="it differs from the Idempotency-Key; send one of them")
        # Most messages give few of the fields, and what is not given a draft has by itself.
        fields: dict[str, Any] = {name: getattr(self, name) for name in self.model_fields_set if name not in _OTHERWISE}
        return Draft(
            **fields,
            to=self.to if isinstance(self.to, str) else tuple(self.to),
            parts=tuple(self.parts or ()),
            attachments=tuple(one.attachment() for one in self.attachments),
            task=None
            if self.task is None
            else TaskRef(self.task.id, None, self.task.deadline, self.task.parent, tuple(self.task.blocked_by)),
            ask=None if self.ask is None else msgspec.convert(self.ask.model_dump(), Ask),
            deliver_at=one_time("deliver", self.deliver_at, self.deliver_in),
            expires_at=one_time("expires", self.expires_at, self.expires_in),
            client_id=self.id or key,
        )


class SendManyBody(Body):
    """Messages to send, each by itself; at most 100 by default."""

    messages: list[Annotated[SendBody, BY_ITSELF]] = Field(max_length=MOST_ITEMS)

    def drafts(self, key: str | None) -> list[Draft | MailError]:
        """Each message as the office takes it, or what is wrong with it."""
        return [self._draft(item, key) for item in self.messages]

    def _draft(self, item: SendBody | Unfit, key: str | None) -> Draft | MailError:
        if isinstance(item, Unfit):
            return item.why
        # One key cannot tell several messages apart, and passed over it would promise what nobody keeps.
        if key and not item.id:
            return BadMessage(field="id", why="an Idempotency-Key is for one message; give each message of several an id of its own")
        return item.draft()

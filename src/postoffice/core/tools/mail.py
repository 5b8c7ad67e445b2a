"""Mail for minds: the few tools a model needs for all that a mailbox is for, in as few words as will do."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from postoffice.core.tools.tool import Arguments, Me, OwnId, Tool, Unlisted, from_least, plainly, says

LEASE_MINUTES = 30
"""How long a mind keeps what it takes. Any call about a message begins the time anew."""
MAIL_LIMIT = 10
_LATER_MOST_MINUTES = 7 * 24 * 60
_DEADLINE_MOST_MINUTES = 366 * 24 * 60


class Asking(Struct, frozen=True, forbid_unknown_fields=True):
    """What a mind asks a person."""

    choices: list[str] = []
    default: str | None = None
    deadline: Annotated[float, Meta(gt=0, le=_DEADLINE_MOST_MINUTES)] | None = None
    """In minutes: a mind knows no clock."""


_ASK = {
    "type": "object",
    "properties": {
        "choices": {"type": "array", "items": {"type": "string"}},
        "default": {"type": "string"},
        "deadline": {"type": "number", "description": "Minutes."},
    },
}


class Linked(Struct, frozen=True, forbid_unknown_fields=True):
    """What work belongs to."""

    parent: str | None = None
    blocked_by: list[str] = []


_TASK = {"type": "object"}
# How many there may be at most only whoever asks for too many has to know.
_Limit = Annotated[int, from_least(1, "batch"), plainly({"type": "integer", "default": MAIL_LIMIT})]
_Minutes = Annotated[int, Meta(ge=1, le=_LATER_MOST_MINUTES), plainly({"type": "integer"})]
_Ids = Annotated[str | list[str], plainly({"type": "array", "items": {"type": "string"}})]
_To = Annotated[str | list[str], plainly({"type": "string"}, "Names by commas, ALL, #list. A reply needs none.")]

_Files = Annotated[list[str], says("Digests of files, from mail or `postoffice upload`.")]

_When = float | str
"""In minutes, as a mind knows no clock, or as a time for one who does."""


class Get(Arguments, frozen=True, kw_only=True):
    """What `mail_get` takes."""

    wait_seconds: Annotated[int, from_least(0, "wait_most", "Waits so long for mail.", unit=timedelta(seconds=1))] = 0
    answer_to: Annotated[str, says("Id of mail you sent: only its answer.")] | None = None
    limit: Annotated[_Limit, says("At most.")] = MAIL_LIMIT
    agent_id: Me | None = None


GET = Tool(
    name="mail_get",
    title="Get mail",
    arguments=Get,
    description=f"Takes new mail for {LEASE_MINUTES} minutes, urgent and oldest first. Lists what you still hold.",
    brief=True,
    comes_again=True,
)


class Send(Arguments, frozen=True, kw_only=True):
    """What `mail_send` takes."""

    to: _To | None = None
    text: Annotated[str, says("Your words.")] | None = None
    subject: Annotated[str, says("Topic.")] | None = None
    reply_to: Annotated[str, says("Id of mail you answer; that is then done.")] | None = None
    forward: Annotated[str, says("Id of mail to pass on.")] | None = None
    task: Annotated[bool | Linked, plainly(_TASK, "Asks for work: {} or {parent: id, blocked_by: [ids]}.")] = False
    ask: Annotated[dict[str, Any], plainly(_ASK, "Asks a person, such as owner; {} takes any words.")] | None = None
    urgent: Annotated[bool, says("Read first.")] = False
    deliver_at: Annotated[_When, plainly({"type": "string"}, "Minutes from now or ISO time.")] | None = None
    expires_at: Annotated[_When, plainly({"type": "string"}, "Likewise: dead if not taken.")] | None = None
    attachments: _Files | None = None
    data: Annotated[Any, says("Any JSON.")] | UnsetType = UNSET
    id: Annotated[OwnId, Unlisted] | None = None
    agent_id: Me | None = None


SEND = Tool(name="mail_send", title="Send mail", arguments=Send, description="Sends mail.", brief=True)


class Done(Arguments, frozen=True, kw_only=True):
    """What `mail_done` takes."""

    ids: Annotated[_Ids, says("Ids of mail.")]
    later_minutes: Annotated[_Minutes, says("Comes again then.")] | None = None
    reason: Annotated[str, says("Why later; alone, refuses it and tells its sender.")] | None = None
    agent_id: Me | None = None


DONE = Tool(
    name="mail_done",
    title="Mail is done",
    arguments=Done,
    description="Ends mail (its sender sees it as read), puts it off, or refuses it.",
    brief=True,
    repeatable=True,
)


class Find(Arguments, frozen=True, kw_only=True, rename={"other": "with"}):
    """What `mail_find` takes."""

    words: Annotated[str, says('Words or a question; "…", from:, to:, before:.')] | None = None
    other: Annotated[str, says("Only with this agent.")] | None = None
    id: Annotated[str, says("One message, whole.")] | None = None
    agent_id: Me | None = None


FIND = Tool(
    name="mail_find",
    title="Find mail",
    arguments=Find,
    description="Finds mail you sent or got, and whether what you sent was read. No arguments: the latest.",
    brief=True,
    reads_only=True,
)


class Report(StrEnum):
    """How far a task is, in the words a mind may use."""

    WORKING = "working"
    COMPLETED = "completed"
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELED = "canceled"


class Update(Arguments, frozen=True, kw_only=True):
    """What `task_update` takes."""

    id: Annotated[str, says("Id of the task or, for canceled, of mail you sent.")]
    state: Annotated[str, plainly({"type": "string", "enum": list(Report)}, "How it stands.")]
    text: Annotated[str, says("Result, progress or reason.")] | None = None
    percent: Annotated[int, Meta(ge=0, le=100), says("How far.")] | None = None
    attachments: Annotated[list[str], says("Results: digests.")] | None = None
    agent_id: Me | None = None


UPDATE = Tool(
    name="task_update",
    title="Report on a task",
    arguments=Update,
    description="Reports on a task you were given. canceled ends one you gave, or takes back mail nobody has taken.",
    brief=True,
)


class Agents(Arguments, frozen=True, kw_only=True):
    """What `mail_agents` takes."""

    agent_id: Me | None = None


AGENTS = Tool(
    name="mail_agents",
    title="Who is here",
    arguments=Agents,
    description="Lists agents, who is there now, #lists.",
    reads_only=True,
    brief=True,
)


class Connect(Arguments, frozen=True, kw_only=True):
    """What `mail_connect` takes."""

    agent: Annotated[str, says("Whom to write to; gives a code for your person to pass on. #list: joins.")] | None = None
    code: Annotated[str, says("From your person, who got it from the other's: accepts.")] | None = None
    agent_id: Me | None = None


CONNECT = Tool(
    name="mail_connect",
    title="Connect",
    arguments=Connect,
    description="Connects you with an agent, where mail is refused without.",
    brief=True,
)

TOOLS = (GET, SEND, DONE, FIND, UPDATE, AGENTS, CONNECT)

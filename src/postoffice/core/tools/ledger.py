"""Messages and notes about entities, by the ledger where there is one."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, field

from postoffice.core.entity import ENTITY_TYPES
from postoffice.core.tools.tool import Arguments, Me, OwnId, Tool, says


class SendMessage(Arguments, frozen=True, kw_only=True):
    """What `send_message` takes."""

    to_agent: Annotated[str, says("Agent, or ALL.")]
    subject: str
    message_type: Annotated[str, says("feedback, fyi, review.request, task.note …")] = "fyi"
    payload: Any | UnsetType = UNSET
    ref_id: Annotated[str, says("The entity it is about.")] | None = None
    ref_type: Annotated[str, says(f"{', '.join(ENTITY_TYPES)} or agent.")] | None = None
    priority: Annotated[int, Meta(ge=1, le=5)] = 3
    agent_id: Me | None = None
    id: OwnId | None = None


SEND_MESSAGE = Tool(
    name="send_message",
    arguments=SendMessage,
    description="Send a message to another agent, a person, or ALL, by the ledger where there is one; says how it goes.",
)


class PostNote(Arguments, frozen=True, kw_only=True):
    """What `post_note` takes."""

    entity_id: str
    entity_type: Annotated[str, Meta(extra_json_schema={"enum": list(ENTITY_TYPES)})]
    note: str
    notify: Annotated[list[str], says("Agents that get it as mail.")] = field(default_factory=list)
    agent_id: Me | None = None
    id: OwnId | None = None


POST_NOTE = Tool(
    name="post_note",
    arguments=PostNote,
    description="Keep a note with a task, phase, stage or project, and send it to those who should know.",
)

TOOLS = (SEND_MESSAGE, POST_NOTE)

"""Messages and notes about entities, by the ledger where there is one."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, field

from postoffice.core.entity import ENTITY_TYPES
from postoffice.core.tools.tool import Arguments, Me, OwnId, Tool, says


class SendMessage(Arguments, frozen=True, kw_only=True):
    """What `send_message` takes."""

    to_agent: Annotated[str, says("Agent, or ALL.")]
    subject: Annotated[str, says("Topic.")]
    message_type: Annotated[str, says("feedback, fyi, review.request, task.note …")] = "fyi"
    payload: Annotated[Any, says("Any JSON; without it the subject is the message.")] | UnsetType = UNSET
    ref_id: Annotated[str, says("The entity it is about.")] | None = None
    ref_type: Annotated[str, says(f"{', '.join(ENTITY_TYPES)} or agent.")] | None = None
    priority: Annotated[int, Meta(ge=1, le=5, description="1 urgent, 3 normal, 5 fyi.")] = 3
    agent_id: Me | None = None
    id: OwnId | None = None


SEND_MESSAGE = Tool(
    name="send_message",
    title="Send about an entity",
    arguments=SendMessage,
    description="Send a message to another agent, a person, or ALL, by the ledger where there is one; says how it goes.",
)


class PostNote(Arguments, frozen=True, kw_only=True):
    """What `post_note` takes."""

    entity_id: Annotated[str, says("Your id of it.")]
    entity_type: Annotated[str, Meta(description="What it is.", extra_json_schema={"enum": list(ENTITY_TYPES)})]
    note: Annotated[str, says("Your words.")]
    notify: Annotated[list[str], says("Agents that get it as mail.")] = field(default_factory=list)
    agent_id: Me | None = None
    id: OwnId | None = None


POST_NOTE = Tool(
    name="post_note",
    title="Post a note",
    arguments=PostNote,
    description="Keep a note with a task, phase, stage or project, and send it to those who should know.",
)

TOOLS = (SEND_MESSAGE, POST_NOTE)

"""The queue: send, take, wait, ack, nack."""

from typing import Annotated, Any

from msgspec import UNSET, Meta, UnsetType, field

from postoffice.core.tools.tool import Arguments, Me, Tool, from_least, says

_Refs = Annotated[str | list[str], says("One id or a list.")]
_Limit = Annotated[int, from_least(1, "batch", "Messages at most.")]


class Send(Arguments, frozen=True, kw_only=True, rename={"sender": "from"}):
    """What `mailbox_send` takes."""

    to: Annotated[str | list[str], says("Agent name, a list of names, or ALL.")]
    sender: Me | None = None
    content: Annotated[str, says("What you say, as text.")] | None = None
    subject: Annotated[str, says("Topic: mail with the same subject is one conversation.")] | None = None
    session_id: Annotated[str, says("The conversation to go on with.")] | None = None
    payload: Annotated[Any, says("Any JSON; arrives exactly as sent.")] | UnsetType = UNSET
    parts: Annotated[list[dict[str, Any]], says("Text, data and file parts, instead of content.")] | None = None
    type: Annotated[str, says("Kind of message; `task` asks for work.")] | None = None
    correlation_id: Annotated[str, says("Your mark; ask the other side to answer with it, then wait for it.")] | None = None
    reply_to: Annotated[str, says("Id of the message you answer.")] | None = None
    priority: Annotated[int, Meta(ge=1, le=5, description="1 urgent, 3 normal, 5 fyi.")] | None = None
    deadline: Annotated[str, says("For a task: when it must be done, ISO 8601 with zone.")] | None = None
    id: Annotated[str, says("Your own id; a retry with it sends nothing twice.")] | None = None


SEND = Tool(
    name="mailbox_send",
    title="Send a message",
    arguments=Send,
    description=(
        "Send a message to another agent: content (text) or payload (JSON). It is stored for good before this returns and waits until "
        "the recipient takes it. Returns its id and session_id."
    ),
)


class Receive(Arguments, frozen=True, kw_only=True):
    """What `mailbox_receive` takes."""

    agent_id: Me | None = None
    limit: Annotated[int, from_least(1, "batch", "Messages at most.", usual="receive")] | None = None
    ack: Annotated[list[str], says("Ids handled before: acked first.")] = field(default_factory=list)
    correlation_id: Annotated[str, says("Only mail with this mark.")] | None = None
    session_id: Annotated[str, says("Only mail of this conversation.")] | None = None


RECEIVE = Tool(
    name="mailbox_receive",
    title="Take messages",
    arguments=Receive,
    description="Take waiting messages, at once, perhaps none. Each is yours for a while: mailbox_ack it when handled, or it is delivered again.",
    comes_again=True,
)


class Wait(Arguments, frozen=True, kw_only=True):
    """What `mailbox_wait` takes."""

    agent_id: Me | None = None
    timeout_ms: Annotated[int, from_least(0, "wait_most", "How long to wait.", usual="wait")] | None = None
    limit: _Limit = 1
    ack: Annotated[list[str], says("Ids handled before: acked first.")] = field(default_factory=list)
    correlation_id: Annotated[str, says("Only mail with this mark.")] | None = None
    session_id: Annotated[str, says("Only mail of this conversation.")] | None = None


WAIT = Tool(
    name="mailbox_wait",
    title="Wait for messages",
    arguments=Wait,
    description=(
        "Like mailbox_receive, but waits until a message comes or timeout_ms is over; then the list is empty, and waiting again is fine. "
        "To wait for one answer, give its correlation_id or session_id."
    ),
    comes_again=True,
)


class Ack(Arguments, frozen=True, kw_only=True):
    """What `mailbox_ack` takes."""

    message_id: _Refs
    agent_id: Me | None = None


ACK = Tool(
    name="mailbox_ack",
    title="Mark as handled",
    arguments=Ack,
    description="Say that you have handled a message: it will not be delivered again.",
    repeatable=True,
)


class Nack(Arguments, frozen=True, kw_only=True):
    """What `mailbox_nack` takes."""

    message_id: _Refs
    agent_id: Me | None = None
    reason: Annotated[str, says("Why; its sender can see it.")] | None = None
    delay_ms: Annotated[int, from_least(0, "visibility_most", "Not before so long.")] = 0


NACK = Tool(
    name="mailbox_nack",
    title="Give back",
    arguments=Nack,
    description="Give a message back unhandled: it is delivered again, after delay_ms.",
)

TOOLS = (SEND, RECEIVE, WAIT, ACK, NACK)

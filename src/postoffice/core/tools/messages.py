"""Single messages: where one stands, finding one, and passing one on."""

from typing import Annotated

from msgspec import Meta

from postoffice.core.query import WHAT_TO_ASK
from postoffice.core.tools.tool import Arguments, Me, OwnId, Tool, says


class Status(Arguments, frozen=True, kw_only=True):
    """What `mailbox_status` takes."""

    message_id: Annotated[str, says("Id of a message you sent or got.")]
    agent_id: Me | None = None


STATUS = Tool(
    name="mailbox_status",
    title="Where a message stands",
    arguments=Status,
    description="Where a message you sent stands: awaiting ledger, pending, leased, acked or dead, and why.",
    reads_only=True,
)


class Search(Arguments, frozen=True, kw_only=True):
    """What `mailbox_search` takes."""

    query: Annotated[str, says(WHAT_TO_ASK)]
    agent_id: Me | None = None
    limit: Annotated[int, Meta(ge=1, le=100, description="Results at most.")] = 10


SEARCH = Tool(
    name="mailbox_search", title="Search mail", arguments=Search, description="Search the messages you sent or got.", reads_only=True
)


class Forward(Arguments, frozen=True, kw_only=True):
    """What `mailbox_forward` takes."""

    message_id: Annotated[str, says("Id of the message.")]
    to: Annotated[str, says("Agent name.")]
    agent_id: Me | None = None
    content: Annotated[str, says("Your own words in place of the original's.")] | None = None
    id: OwnId | None = None


FORWARD = Tool(
    name="mailbox_forward",
    title="Forward a message",
    arguments=Forward,
    description="Pass a message on to another agent, with its subject and author; never to one it has been to.",
)

TOOLS = (STATUS, SEARCH, FORWARD)

"""The first two tools: send a message, and pop the oldest."""

from typing import Annotated

from postoffice.core.tools.tool import Arguments, Tool, says


class SendToAgent(Arguments, frozen=True, kw_only=True):
    """What `send_to_agent` takes."""

    name: Annotated[str, says("Recipient")]
    msg: Annotated[str, says("Your words")]
    msg_id: Annotated[str, says("Your own id; a retry with it sends nothing twice")] | None = None


SEND_TO_AGENT = Tool(
    name="send_to_agent",
    title="Send a message",
    arguments=SendToAgent,
    description="Put a message into another agent's mailbox. Returns its id.",
)


class CheckMail(Arguments, frozen=True, kw_only=True):
    """What `check_mail` takes: nothing."""


CHECK_MAIL = Tool(
    name="check_mail",
    title="Take the oldest message",
    arguments=CheckMail,
    description="Take the oldest message out of your mailbox; null if it is empty.",
    takes_away=True,
)

TOOLS = (SEND_TO_AGENT, CHECK_MAIL)

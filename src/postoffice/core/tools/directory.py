"""The directory: who is there."""

from postoffice.core.tools.tool import Arguments, Me, Tool


class Agents(Arguments, frozen=True, kw_only=True):
    """What `mailbox_agents` takes."""

    agent_id: Me | None = None
    cursor: str | None = None


AGENTS = Tool(
    name="mailbox_agents",
    arguments=Agents,
    description="Who is there: names, what they can do, and whether they are idle, busy or offline.",
    reads_only=True,
)

TOOLS = (AGENTS,)

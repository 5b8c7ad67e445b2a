"""The directory: who is there."""

from postoffice.core.tools.tool import Arguments, Cursor, Me, Tool


class Agents(Arguments, frozen=True, kw_only=True):
    """What `mailbox_agents` takes."""

    agent_id: Me | None = None
    cursor: Cursor | None = None


AGENTS = Tool(
    name="mailbox_agents",
    title="Who is here",
    arguments=Agents,
    description="Who is there: names, what they can do, and whether they are idle, busy or offline.",
    reads_only=True,
)

TOOLS = (AGENTS,)

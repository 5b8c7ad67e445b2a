"""The directory at work: who is there."""

from postoffice.core.fence import Fence
from postoffice.core.tools import directory
from postoffice.doors.listing import Listing, listing
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.result import Result, more
from postoffice.doors.mcp.tools.verb import Verb


class Directory(Result, frozen=True, kw_only=True):
    """Who is there."""

    agents: tuple[Listing, ...]
    cursor: str | None

    def text(self) -> str:
        if not self.agents:
            return "Nobody is here yet."
        fence = Fence()
        lines = []
        for agent in self.agents:
            lines.append(f"{agent.name}: {agent.presence}, {agent.current_tasks} of {agent.max_concurrent_tasks} tasks{_reach(agent)}.")
            card = "\n".join(filter(None, [agent.description, ", ".join(agent.capabilities)]))
            if card:
                lines.append(fence.words(agent.name, card))
        if self.cursor:
            lines.append(more(self.cursor))
        return "\n".join(lines)


def _reach(agent: Listing) -> str:
    return f"; {agent.reach.text}" if agent.reach else ""


async def agents(request: McpRequest, given: directory.Agents) -> Directory:
    """Who is there."""
    if given.agent_id is not None:
        await request.caller(given.agent_id)
    page = await request.office.agents(given.cursor)
    return Directory(agents=tuple(map(listing, page.items)), cursor=page.cursor)


VERBS = (Verb(directory.AGENTS, agents, Directory),)

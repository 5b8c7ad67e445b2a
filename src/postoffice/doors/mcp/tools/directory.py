"""The directory's tool: who is there."""

from typing import ClassVar

import msgspec

from postoffice.core.fence import Fence
from postoffice.core.tools import directory
from postoffice.doors.listing import Listing, listing
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.reading import Readable
from postoffice.doors.mcp.tools.result import more
from postoffice.doors.mcp.tools.verb import Verb

_AGENTS_READ = 50
"""A model is shown at most so many agents at once."""
_CARD_TOKENS = 80


class Agents(msgspec.Struct, frozen=True, kw_only=True):
    """Who is there."""

    agents: tuple[Listing, ...]
    cursor: str | None


class Directory(Readable, frozen=True, kw_only=True):
    """The same to be read."""

    shape: ClassVar = Agents
    listed: Agents

    def bare(self) -> Agents:
        return self.listed

    def text(self) -> str:
        if not self.listed.agents:
            return "Nobody is here yet."
        fence = Fence()
        lines = []
        for agent in self.listed.agents:
            lines.append(f"{agent.name}: {agent.presence}, {agent.current_tasks} of {agent.max_concurrent_tasks} tasks{_reach(agent)}.")
            card = "\n".join(filter(None, [agent.description, ", ".join(agent.capabilities)]))
            if card:
                lines.append(fence.clipped(agent.name, card, _CARD_TOKENS) if self.in_text else fence.words(agent.name, card))
        if self.listed.cursor:
            lines.append(more(self.listed.cursor))
        return "\n".join(lines)


def _reach(agent: Listing) -> str:
    return f"; {agent.reach.text}" if agent.reach else ""


async def agents(request: McpRequest, given: directory.Agents) -> Directory:
    """Who is there."""
    if given.agent_id is not None:
        await request.caller(given.agent_id)
    page = await request.office.agents(given.cursor, min(_AGENTS_READ, request.office.rules.limits.page) if request.in_text else None)
    return Directory(listed=Agents(agents=tuple(map(listing, page.items)), cursor=page.cursor), in_text=request.in_text)


VERBS = (Verb(directory.AGENTS, agents, Directory),)

"""Who is there, and connecting with them."""

import msgspec

from postoffice.core.agent import Presence
from postoffice.core.connection import Status
from postoffice.core.fence import Fence
from postoffice.core.mailing_list import MailingList, Place
from postoffice.core.names import folded, is_list
from postoffice.core.role import Role
from postoffice.core.tokens import about_tokens
from postoffice.core.tools import inbox, mail
from postoffice.doors.consent import Pending, pending_view
from postoffice.doors.listing import Listing, listing
from postoffice.doors.mcp.request import McpRequest
from postoffice.doors.mcp.tools.inbox import Approved, Requested, approve
from postoffice.doors.mcp.tools.inbox import connect as request_connection
from postoffice.doors.mcp.tools.reading import ANSWER_TOKENS
from postoffice.doors.mcp.tools.result import Result
from postoffice.doors.mcp.tools.verb import Verb

_CARD_TOKENS = 120
_LISTS_SHOWN = 50
_PLACES: dict[Place | None, str] = {Place.MEMBER: ", you are on it", Place.INVITED: ", you are invited"}


class Present(Result, frozen=True, kw_only=True):
    """Who can get mail; those that are present come first."""

    agents: tuple[Listing, ...]
    roles: tuple[Role, ...] = ()
    lists: tuple[MailingList, ...] = ()
    me: str
    more: bool

    def text(self) -> str:
        marks, lines, left = Fence(), [], ANSWER_TOKENS
        for agent in self.agents:
            line = _presence(agent, self.me)
            card = "\n".join(filter(None, [agent.description, ", ".join(agent.capabilities)]))
            if card and agent.name != self.me:
                line = f"{line}\n{marks.clipped(agent.name, card, _CARD_TOKENS)}"
            left -= about_tokens(line)
            if left < 0:
                break
            lines.append(line)
        for role in self.roles:
            line = f"{role.name}, a role: {role.reach.text if role.reach else 'nobody knows'}{', you among them' if self.me in role.staff else ''}."
            line += f"\n{marks.clipped(role.made_by, role.description, _CARD_TOKENS)}" if role.description else ""
            left -= about_tokens(line)
            if left >= 0:
                lines.append(line)
        if hidden := len(self.agents) + len(self.roles) - len(lines):
            lines.append(f"And {hidden} more.")
        lines += ["There are more agents than are listed here."] if self.more else []
        for one in self.lists:
            line = f"{one.name}: a list of {one.members}{_PLACES.get(one.you, '')}."
            if one.description:
                line = f"{line}\n{marks.clipped(one.owner, one.description, _CARD_TOKENS)}"
            left -= about_tokens(line)
            if left < 0:
                lines.append("There are more lists than are listed here.")
                break
            lines.append(line)
        return "\n".join(lines)


def _presence(agent: Listing, me: str) -> str:
    """One agent on one line, in our own words."""
    if agent.name == me:
        return f"{agent.name}: you."
    if agent.person:
        return f"{agent.name}: a person; mail_send with ask asks a question."
    busy = f", busy with {agent.current_tasks} of {agent.max_concurrent_tasks} tasks" if agent.current_tasks else ""
    return f"{agent.name}: {agent.reach.text if agent.reach else agent.presence}{busy}."


async def agents(request: McpRequest, given: mail.Agents) -> Present:
    """Who is there."""
    me = await request.caller(given.agent_id)
    page = await request.office.agents(limit=request.office.rules.limits.page_most)
    there = sorted(map(listing, page.items), key=lambda agent: agent.presence is Presence.OFFLINE)
    lists = await request.office.lists.all(me, limit=min(_LISTS_SHOWN, request.office.rules.limits.page_most))
    mine_first = sorted(lists.items, key=lambda one: one.you not in _PLACES)
    roles = await request.office.roles.all()
    return Present(agents=tuple(there), roles=roles, lists=tuple(mine_first), me=me.name, more=page.cursor is not None)


class Connections(msgspec.Struct, frozen=True, kw_only=True):
    """Requests from others, own requests, and connections."""

    asking: tuple[Pending, ...]
    asked: tuple[Pending, ...]
    connected: tuple[str, ...]

    def text(self) -> str:
        """The text for a model."""
        marks, lines = Fence(), []
        for one in self.asking:
            lines.append(f"{one.from_agent_name} asks to connect; code {one.verification_code}.")
            if one.message:
                lines.append(marks.words(one.from_agent_name, one.message))
        lines += [f"You asked {one.to_agent_name}; the code for its person is {one.verification_code}." for one in self.asked]
        lines.append(f"Connected with {', '.join(self.connected) or 'nobody'}.")
        return "\n".join(lines)


class Connected(Result, frozen=True, kw_only=True):
    """The result: a request, a connection, or a list of both."""

    request: Requested | None = None
    connection: Approved | None = None
    standing: Connections | None = None
    joined: MailingList | None = None

    def text(self) -> str:
        if self.joined is not None:
            name = self.joined.name
            return f'You are on {name} from now on, with {self.joined.members - 1} others; mail_send(to="{name}") writes to all of them.'
        return next(one.text() for one in (self.request, self.connection, self.standing) if one is not None)


async def connect(request: McpRequest, given: mail.Connect) -> Connected:
    """Ask, accept, or look."""
    if given.code is not None:
        return Connected(connection=await approve(request, inbox.Approve(code=given.code, agent_id=given.agent_id)))
    if given.agent is not None and is_list(given.agent):
        return Connected(joined=(await request.office.lists.join(await request.caller(given.agent_id), given.agent)))
    if given.agent is not None:
        request_for = inbox.Connect(target_agent_name=given.agent, agent_id=given.agent_id)
        return Connected(request=await request_connection(request, request_for))
    return Connected(standing=await _standing(request, given))


async def _standing(request: McpRequest, given: mail.Connect) -> Connections:
    me = await request.caller(given.agent_id)
    pending = [pending_view(item, me) for item in (await request.office.connections(me, Status.PENDING)).items]
    active = (await request.office.connections(me, Status.ACTIVE)).items
    others = (one.target if folded(one.requester) == folded(me.name) else one.requester for one in active)
    return Connections(
        asking=tuple(one for one in pending if one.direction == "incoming"),
        asked=tuple(one for one in pending if one.direction == "outgoing"),
        connected=tuple(sorted(others)),
    )


VERBS = (Verb(mail.AGENTS, agents, Present), Verb(mail.CONNECT, connect, Connected))

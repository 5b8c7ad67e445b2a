"""The control room: who is at work, who is silent despite mail, who waits on whom, and what is stuck."""

from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from inspect import isawaitable
from typing import Any, NamedTuple

import msgspec
from starlette.responses import Response

from postoffice.core.agent import Presence
from postoffice.core.names import folded
from postoffice.core.role import Role
from postoffice.core.talk import Custom
from postoffice.core.views import Seat
from postoffice.doors.moments import now
from postoffice.doors.page.look import Look
from postoffice.doors.page.stuck import all_stuck
from postoffice.doors.page.waiting import circles, lanes

_AGENTS = 200
_LETTERS = 8
_LANES = 60
_LETTERS_FOR_A_CUSTOM = 3
"""An agent has a custom once it has taken so many letters."""
_LATE_FACTOR = 3
"""Mail that waits longer than this many times the agent's custom is late."""
_LEAST_LATE = timedelta(minutes=5)
_FRESH_WITHIN = timedelta(minutes=1)
"""An agent is not silent, and does not wait, before this much time has passed."""


class Post(NamedTuple):
    """One agent in the control room."""

    seat: Seat
    late: bool
    """Whether its mail waits longer than is its custom."""
    custom: timedelta | None


class Group(NamedTuple):
    """Agents that do the same."""

    key: str
    title: str
    posts: list[Post]


class Bridge(msgspec.Struct, frozen=True):
    """A bridge in use, with its own facts. `app.state.bridges` has the bridges that the office was opened with."""

    name: str
    status: str
    facts: dict[str, Any]


async def overview(look: Look) -> Response:
    """Everything at a glance for the owner; for an agent, its own mailbox and who else is there."""
    facts = await (_everyone(look) if look.caller.owner else _own(look))
    late = [(post.seat, post.custom) for group in facts.get("groups", ()) for post in group.posts if post.late]
    return await look.show(
        "overview.html", stuck=await all_stuck(look, late), bridges=await _bridges(look), roles=await _roles(look), **facts
    )


class Staffed(NamedTuple):
    """A role, and what each of its agents has of it in hand."""

    role: Role
    hands: list[tuple[str, int]]


async def _roles(look: Look) -> list[Staffed]:
    """Every role, and who is at work for it."""
    roles = await look.office.roles.all()
    hands = {role.name: Counter(one.agent for one in await look.office.roles.hands(role.name)) for role in roles if role.leased}
    return [Staffed(role, [(agent, hands.get(role.name, Counter())[agent]) for agent in role.staff]) for role in roles]


async def _everyone(look: Look) -> dict[str, Any]:
    office, caller = look.office, look.caller
    agents = await office.roster(caller, look.asked("cursor"), _AGENTS)
    customs = {folded(custom.name): custom for custom in await office.customs(caller)}
    groups = _grouped(agents.items, customs)
    working = {folded(post.seat.name) for group in groups if group.key == "working" for post in group.posts}
    waits = await office.who_waits(caller, _LANES)
    return {
        "agents": agents,
        "groups": groups,
        "totals": await office.totals(),
        "lanes": lanes(waits, working),
        "circles": circles([item for item in waits if now() - item.since >= _FRESH_WITHIN], working),
        "letters": await office.glances(caller, limit=_LETTERS),
    }


def _grouped(seats: tuple[Seat, ...], customs: Mapping[str, Custom]) -> list[Group]:
    working, silent, quiet = (
        Group(*words, []) for words in (("working", "At work"), ("silent", "Has mail and is silent"), ("quiet", "Quiet"))
    )
    for seat in seats:
        post = _post(seat, customs.get(folded(seat.name)))
        fresh = seat.oldest_waiting is not None and seat.oldest_waiting < _FRESH_WITHIN
        at_work = seat.presence is not Presence.OFFLINE and (seat.leased or seat.tasks or fresh)
        (working if at_work else silent if seat.unread or seat.leased else quiet).posts.append(post)
    working.posts.sort(key=lambda post: (not post.late, -(post.seat.leased + post.seat.tasks)))
    silent.posts.sort(key=lambda post: (not post.late, -(post.seat.oldest_waiting or timedelta(0))))
    quiet.posts.sort(key=lambda post: post.seat.last_seen.timestamp() if post.seat.last_seen else 0, reverse=True)
    return [working, silent, quiet]


def _post(seat: Seat, custom: Custom | None) -> Post:
    usual = custom.wait if custom is not None and custom.taken >= _LETTERS_FOR_A_CUSTOM else None
    late = usual is not None and seat.oldest_waiting is not None and seat.oldest_waiting > max(usual * _LATE_FACTOR, _LEAST_LATE)
    return Post(seat, late, usual)


async def _own(look: Look) -> dict[str, Any]:
    office, caller = look.office, look.caller
    return {
        "agents": await office.agents(look.asked("cursor"), _AGENTS),
        "counts": await office.counts(caller),
        "threads": await office.inbox(caller, limit=_LETTERS, lines=1),
    }


async def _bridges(look: Look) -> list[Bridge]:
    """For the owner, each bridge's state and facts, which some bridges have to look up."""
    bridges = getattr(look.request.app.state, "bridges", ()) if look.caller.owner else ()
    shown = []
    for bridge in bridges:
        facts = bridge.facts() if callable(bridge.facts) else bridge.facts
        status = await facts if isawaitable(facts) else facts
        if status:
            shown.append(Bridge(bridge.name, str(getattr(bridge, "status", "")), dict(status)))
    return shown

"""The first thing a person sees: who is there, what waits, and what needs somebody."""

from inspect import isawaitable
from typing import Any

import msgspec
from starlette.responses import Response

from postoffice.core.connection import Status
from postoffice.core.task import TaskState
from postoffice.doors.page.connect import introduction
from postoffice.doors.page.look import Look
from postoffice.doors.page.tasks import Card, card

_AGENTS = 50
_LETTERS = 8
_LONGEST_QUEUES = 3
_TASKS = 50


class Bridge(msgspec.Struct, frozen=True):
    """A bridge that is in use, in its own words. `app.state.bridges` has whatever bridges the office was opened with."""

    name: str
    status: str
    facts: dict[str, Any]


async def overview(look: Look) -> Response:
    """Everything at a glance, for the owner; for an agent its own mailbox and who else is there."""
    facts = await (_everyone(look) if look.caller.owner else _own(look))
    stuck, more = await _stuck(look)
    return await look.show("overview.html", stuck=stuck, more=more, bridges=await _bridges(look), **facts)


async def _everyone(look: Look) -> dict[str, Any]:
    office, caller = look.office, look.caller
    agents = await office.roster(caller, look.asked("cursor"), _AGENTS)
    # Whoever looks at the welcome of an empty office goes on asking for its light when the first agent is here.
    welcomed = "light" in look.fragments or (not agents.items and look.asked("cursor") is None)
    return {
        "agents": agents,
        "totals": await office.totals(),
        "longest": await office.longest_waiting(caller, _LONGEST_QUEUES),
        "requests": await office.connections(caller, Status.PENDING, limit=_AGENTS, everyone=True),
        "letters": await office.glances(caller, limit=_LETTERS),
        **(await introduction(look) if welcomed else {"snippets": ()}),
    }


async def _own(look: Look) -> dict[str, Any]:
    office, caller = look.office, look.caller
    return {
        "agents": await office.agents(look.asked("cursor"), _AGENTS),
        "counts": await office.counts(caller),
        "requests": await office.connections(caller, Status.PENDING, limit=_AGENTS),
        "threads": await office.inbox(caller, limit=_LETTERS, lines=1),
        "snippets": (),
    }


async def _stuck(look: Look) -> tuple[list[Card], bool]:
    """What is stuck of the tasks that are open longest, and whether there are others."""
    found: list[Card] = []
    more = False
    for state in (TaskState.PENDING, TaskState.ACCEPTED, TaskState.WORKING):
        page = await look.office.open_tasks(look.caller, state, limit=_TASKS)
        found += [shown for task in page.items if (shown := card(task)).stuck]
        more = more or page.cursor is not None
    return found, more


async def _bridges(look: Look) -> list[Bridge]:
    """For the owner: each bridge's state, and what it has to tell, which some have to look up."""
    found = getattr(look.request.app.state, "bridges", ()) if look.caller.owner else ()
    shown = []
    for bridge in found:
        facts = bridge.facts() if callable(bridge.facts) else bridge.facts
        told = await facts if isawaitable(facts) else facts
        shown.append(Bridge(bridge.name, str(getattr(bridge, "status", "")), dict(told)))
    return shown

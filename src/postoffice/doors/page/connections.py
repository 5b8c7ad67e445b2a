"""Connections: requests, the code to pass on, and the assurance of each connection."""

from starlette.responses import Response

from postoffice.core.connection import Status
from postoffice.core.errors import NoSuchPath
from postoffice.doors.page.look import Look

_REQUESTS = 100
_CONNECTIONS_SHOWN = 50
_NAMES = 200
_PATH = "/page/connections"


async def connections(look: Look) -> Response:
    """Requests that wait for a person, and all connections."""
    office, caller = look.office, look.caller
    waiting = await office.connections(caller, Status.PENDING, limit=_REQUESTS, everyone=caller.owner)
    active = await office.connections(caller, Status.ACTIVE, look.asked("cursor"), _CONNECTIONS_SHOWN, everyone=caller.owner)
    voices = [caller.name]
    if caller.owner:
        seats = (await office.roster(caller, limit=_NAMES)).items
        names = [seat.name for seat in seats]
        voices += [seat.name for seat in seats if not seat.has_key]
    else:
        names = [agent.name for agent in (await office.agents(limit=_NAMES)).items]
    return await look.show("connections.html", waiting=waiting, active=active, voices=voices, names=names, handshake=office.rules.handshake)


async def request(look: Look) -> Response:
    """Ask for a connection."""
    form = await look.form()
    voice = await look.office.speak_as(look.caller, form.get("as") or None)
    await look.office.request_connection(voice, form.get("to", ""), form.get("note") or None)
    return look.to(_PATH, {"said": "asked"})


async def approve_by_code(look: Look) -> Response:
    """Approve a request by the code that a person passed on."""
    await look.office.approve_connection(look.caller, (await look.form()).get("code", ""))
    return look.to(_PATH, {"said": "approved"})


async def conclude(look: Look) -> Response:
    """Approve as the owner, reject, or end a connection."""
    id = look.part("id")
    match look.part("act"):
        case "approve":
            await look.office.approve_for(look.caller, id)
            said = "approved"
        case "reject":
            await look.office.reject_connection(look.caller, id)
            said = "rejected"
        case "end":
            await look.office.end_connection(look.caller, id)
            said = "ended"
        case _:
            raise NoSuchPath(path=look.request.url.path)
    return look.back(_PATH, {"cursor": look.asked("cursor"), "said": said})

"""Reservations: which agent works on which files. The owner can end them."""

from itertools import groupby
from operator import attrgetter

from starlette.responses import Response

from postoffice.core.names import folded
from postoffice.doors.page.look import Look

_PATH = "/page/reservations"


async def reservations(look: Look) -> Response:
    """All present reservations, by project."""
    reserved = await look.office.reservations.all()
    projects = [(name, list(rows)) for name, rows in groupby(reserved, attrgetter("project"))]
    mine = {one.id for one in reserved if folded(one.holder) == folded(look.caller.name)}
    return await look.show("reservations.html", projects=projects, mine=mine)


async def end(look: Look) -> Response:
    """End a reservation, as its holder or the owner."""
    await look.office.reservations.end(look.caller, look.part("id"))
    return look.to(_PATH, {"said": "unreserved"})

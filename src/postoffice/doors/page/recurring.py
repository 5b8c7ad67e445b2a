"""Recurring letters: what the office sends again and again, and an end to it."""

from starlette.responses import Response

from postoffice.doors.page.look import Look

_PATH = "/page/recurring"


async def recurring(look: Look) -> Response:
    """What comes next, first; the owner sees everybody's."""
    return await look.show("recurring.html", found=await look.office.recurring.all(look.caller, everyone=look.caller.owner))


async def stop(look: Look) -> Response:
    """Send it no more."""
    await look.office.recurring.stop(look.caller, look.part("id"))
    return look.to(_PATH, {"said": "stopped"})

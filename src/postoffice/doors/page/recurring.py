"""Recurring letters: lists them, and stops one."""

from starlette.responses import Response

from postoffice.doors.page.look import Look

_PATH = "/page/recurring"


async def recurring(look: Look) -> Response:
    """All recurring letters, the next one first. The owner sees everybody's."""
    return await look.show("recurring.html", found=await look.office.recurring.all(look.caller, everyone=look.caller.owner))


async def stop(look: Look) -> Response:
    """Stop a recurring letter."""
    await look.office.recurring.stop(look.caller, look.part("id"))
    return look.to(_PATH, {"said": "stopped"})

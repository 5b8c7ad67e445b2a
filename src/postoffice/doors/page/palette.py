"""Answers for the command palette, and for name fields: names that contain what was typed."""

from starlette.responses import Response

from postoffice.core.errors import MailError
from postoffice.doors.page.look import Look
from postoffice.doors.page.names import know

_NAMES_SHOWN = 8


async def palette(look: Look) -> Response:
    """Agents to go to."""
    try:
        names = await look.office.names(look.asked("q") or "", _NAMES_SHOWN)
    except MailError:
        names = []
    return await look.show("palette.html", names=names, badges=False)


async def name(look: Look) -> Response:
    """Whether an agent has this name, and if not, which one may have been meant."""
    return await look.show("name.html", known=await know(look, look.asked("q") or ""), badges=False)

"""The command palette's answers: agents whose name begins as typed."""

from starlette.responses import Response

from postoffice.core.errors import MailError
from postoffice.core.names import folded
from postoffice.doors.page.look import Look

_SHOWN = 8


async def palette(look: Look) -> Response:
    """Agents to go to."""
    typed = look.asked("q") or ""
    try:
        # A list is asked for what comes after a name: what begins with it comes right after what is just before it.
        before = typed[:-1] + chr(ord(typed[-1]) - 1) + "~" if typed and typed.isprintable() else ""
        found = (await look.office.agents(before, _SHOWN)).items
    except MailError:
        found = ()
    names = [agent.name for agent in found if folded(agent.name).startswith(folded(typed))]
    return await look.show("palette.html", names=names)

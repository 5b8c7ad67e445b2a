"""Dead letters: why each could not be delivered, and another life or an end for it."""

from starlette.responses import Response

from postoffice.core.errors import NoSuchPath
from postoffice.doors.page.look import Look

_SHOWN = 40
_PATH = "/page/dead"


async def dead_letters(look: Look) -> Response:
    """What could not be delivered, newest first."""
    of = look.asked("of")
    everyone = look.caller.owner and of is None
    page = await look.office.dead_letters(look.caller, look.asked("cursor"), _SHOWN, of=of, everyone=everyone)
    return await look.show("dead_letters.html", page=page, of=of)


async def conclude(look: Look) -> Response:
    """Requeue or discard."""
    of = (await look.form()).get("of") or None
    match look.part("act"):
        case "requeue":
            await look.office.requeue(look.caller, look.part("id"), of=of)
            said = "requeued"
        case "discard":
            await look.office.discard(look.caller, look.part("id"), of=of)
            said = "discarded"
        case _:
            raise NoSuchPath(path=look.request.url.path)
    return look.back(_PATH, {"of": look.asked("of"), "cursor": look.asked("cursor"), "said": said})

"""Dead letters: why each could not be delivered, and buttons to requeue or discard it."""

from urllib.parse import urlencode

from starlette.responses import Response

from postoffice.core.errors import Invalid, MailError, NoSuchPath
from postoffice.doors.page.look import Look

_LETTERS_SHOWN = 40
_PATH = "/page/dead"
_ID_CHARACTERS = 36


async def dead_letters(look: Look) -> Response:
    """What could not be delivered, newest first."""
    of = look.asked("of")
    everyone = look.caller.owner and of is None
    page = await look.office.dead_letters(look.caller, look.asked("cursor"), _LETTERS_SHOWN, of=of, everyone=everyone)
    picked = look.request.query_params.getlist("pick")
    return await look.show("dead_letters.html", page=page, of=of, picked=picked)


async def conclude(look: Look) -> Response:
    """Requeue or discard one."""
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


async def conclude_many(look: Look) -> Response:
    """The same for all picked letters, each by itself: one failure does not affect the others."""
    act, picked = (await look.form()).get("act"), await look.picked("pick")
    if not picked:
        raise Invalid(what="pick", why="pick at least one letter")
    if act == "ask":  # without scripts the page asks for confirmation under this address
        return look.to(f"{_PATH}?{urlencode([('pick', key) for key in picked])}")
    if act not in ("requeue", "discard"):
        raise Invalid(what="act", why="that cannot be done to several at once")
    conclude_one = look.office.requeue if act == "requeue" else look.office.discard
    refused: list[MailError] = []
    for key in picked:
        try:
            await conclude_one(look.caller, key[:_ID_CHARACTERS], of=key[_ID_CHARACTERS + 1 :] or None)
        except MailError as error:
            refused.append(error)
    if refused:
        raise refused[0]
    return look.back(_PATH, {"of": look.asked("of"), "said": "requeued" if act == "requeue" else "discarded"})

"""For you: the first page. It lists what waits for its reader, each row with what can be done about it."""

from starlette.responses import JSONResponse, Response

from postoffice.core.invisible import visible
from postoffice.doors.page.connect import introduction
from postoffice.doors.page.look import Look
from postoffice.doors.page.needs import moves_of, needs


async def for_you(look: Look) -> Response:
    """The first page. On an empty office it is a welcome."""
    if look.caller.owner and not (await look.office.roster(look.caller, limit=1)).items:
        # A browser that shows the welcome keeps asking for its light after the first agent has called.
        return await look.show("welcome.html", **await introduction(look))
    welcomed = await introduction(look) if look.caller.owner and "light" in look.fragments else {}
    listed, count = await needs(look.office, look.caller)
    person = await look.office.is_person(look.caller)
    return await look.show("foryou.html", needs=listed, count=count, moves=moves_of, person=person, once=look.once(), **welcomed)


async def waiting(look: Look) -> Response:
    """The same in few words, for a browser's notification: who and what kind, never what is said."""
    listed, _ = await needs(look.office, look.caller)
    rows = [{"key": need.key, "kind": need.kind, "who": visible(need.matter.who), "href": need.href} for need in listed]
    return JSONResponse({"waiting": rows})

"""For you: the page's beginning, a list of what waits for whoever looks, with the act itself in each row."""

from starlette.responses import JSONResponse, Response

from postoffice.core.invisible import visible
from postoffice.doors.page.connect import introduction
from postoffice.doors.page.look import Look
from postoffice.doors.page.needs import moves_of, needs


async def for_you(look: Look) -> Response:
    """The page's beginning; on an empty office a word of welcome."""
    if look.caller.owner and not (await look.office.roster(look.caller, limit=1)).items:
        # Whoever looks at the welcome of an empty office goes on asking for its light when the first agent is here.
        return await look.show("welcome.html", **await introduction(look))
    welcomed = await introduction(look) if look.caller.owner and "light" in look.fragments else {}
    listed, count = await needs(look.office, look.caller)
    person = await look.office.is_person(look.caller)
    return await look.show("foryou.html", needs=listed, count=count, moves=moves_of, person=person, once=look.once(), **welcomed)


async def waiting(look: Look) -> Response:
    """The same in few words, for a browser that tells of it: who and of what kind, never what is said."""
    listed, _ = await needs(look.office, look.caller)
    rows = [{"key": need.key, "kind": need.kind, "who": visible(need.matter.who), "href": need.href} for need in listed]
    return JSONResponse({"waiting": rows})

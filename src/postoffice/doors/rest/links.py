"""Links that open the page: for whoever has proved to be an agent, or the owner."""

import msgspec
from fastapi import Request, Response

from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import router
from postoffice.doors.rest.call import Identified
from postoffice.office import Auth

routes = router("page")


class PageLink(msgspec.Struct, frozen=True, kw_only=True):
    """An address that opens the page as its agent sees it. Where keys are required it works once, within ten minutes."""

    agent: str
    address: str
    once: bool


@routes.post(
    "/page/links", **gives(PageLink, {"agent": "alice-agent", "address": "https://mail.example.com/page/login#…", "once": True}, 201)
)
async def link(call: Identified, request: Request) -> Response:
    """Make a link to the page. The code in it stands behind the `#`, so that no log and no other site ever sees it."""
    here = f"{request.url.scheme}://{request.headers.get('host', '')}"
    if call.office.rules.auth is Auth.OPEN:
        return answer(PageLink(agent=call.caller.name, address=f"{here}/", once=False), 201)
    code = await call.office.make_link(call.caller)
    return answer(PageLink(agent=call.caller.name, address=f"{here}/page/login#{code}", once=True), 201)

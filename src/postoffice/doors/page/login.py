"""The login: a link that works once becomes a login."""

from http import HTTPStatus

from starlette.datastructures import URL
from starlette.responses import Response

from postoffice.core.errors import MailError, NoLogin
from postoffice.core.names import folded
from postoffice.doors.page.look import Look
from postoffice.doors.page.visitor import forget, proof_of, remember
from postoffice.office import Auth

PATH = "/page/login"


async def login(look: Look) -> Response:
    """The page a link leads to. The code is behind the `#`, so that no log and no other site sees it."""
    if look.office.rules.auth is Auth.OPEN:
        return look.to("/")
    return await form(look, HTTPStatus.OK)


async def enter(look: Look) -> Response:
    """Begin a login. It replaces another person's login only if the user wants that."""
    fields = await look.form()
    me, name = look.known, await look.office.whose_link(fields.get("code", ""))
    if me is not None and folded(me.name) != folded(name) and fields.get("as") != name:
        # Somebody else may have made the link, so a user who is logged in first confirms the change.
        return await look.show("going_on.html", name=name, code=fields["code"], next=_ours(fields.get("next", "")))
    proof, lasts = await look.office.enter(fields.get("code", ""))
    response = look.to(_ours(fields.get("next", "")))
    remember(response, look.request, proof, lasts)
    return response


async def leave(look: Look) -> Response:
    """End the login, here and in the store."""
    if (proof := proof_of(look.request)) is not None:
        await look.office.end_login(proof)
    response = look.to("/")
    forget(response, look.request)
    return response


async def form(look: Look, status: HTTPStatus, error: MailError | None = None) -> Response:
    """The page that asks for a code, and then leads to the address that the user wanted."""
    here = Look(look.request, look.office, None)
    wanted = await _wanted(look)
    # A browser sends no cookie when it follows another site's link. Once it is here, it asks again with the cookie.
    again = isinstance(error, NoLogin) and look.request.headers.get("sec-fetch-site") == "cross-site"
    return await here.show("login.html", status, error=error, next=wanted, again=_ours(wanted) if again else None)


async def _wanted(look: Look) -> str:
    """The address to go to afterwards. For a change, that is the page it was made on."""
    url, change = look.request.url, look.request.method == "POST"
    if url.path == PATH:
        return (await look.form()).get("next", "") if change else ""
    if change:
        url = URL(look.request.headers.get("referer", "/"))
    try:
        return url.path + (f"?{url.query}" if url.query else "")
    except ValueError:  # not an address
        return "/"


def _ours(wanted: str) -> str:
    """Allow only addresses of our own page."""
    return wanted if wanted == "/" or (wanted.startswith("/page/") and "\\" not in wanted) else "/"

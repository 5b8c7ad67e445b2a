"""Who is looking: on an open server the owner, otherwise the agent or person of the login."""

from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response

from postoffice.core.agent import Caller
from postoffice.office import Auth, PostOffice


async def visitor(request: Request, office: PostOffice) -> Caller:
    """The caller; refuses strangers."""
    if office.rules.auth is Auth.OPEN:
        return office.owner()
    caller = await office.visitor(proof_of(request))
    request.scope["state"]["agent"] = caller.name
    return caller


def proof_of(request: Request) -> str | None:
    """The secret that proves a login."""
    return request.cookies.get(_cookie(request))


def remember(response: Response, request: Request, proof: str, lasts: timedelta) -> None:
    """Store the login's secret in the browser, where neither scripts nor other sites can read it."""
    response.set_cookie(
        _cookie(request),
        proof,
        max_age=int(lasts.total_seconds()),
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="strict",
    )


def forget(response: Response, request: Request) -> None:
    """Remove the login from the browser."""
    response.delete_cookie(_cookie(request), path="/", secure=request.url.scheme == "https", httponly=True, samesite="strict")


def _cookie(request: Request) -> str:
    """The cookie's name. It has the port in it, as cookies ignore ports and one machine may run several offices."""
    return f"postoffice_{request.url.port}" if request.url.port else "postoffice"

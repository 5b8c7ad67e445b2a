"""Who is looking: on an open server the owner, elsewhere whoever a link let in."""

from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response

from postoffice.core.agent import Caller
from postoffice.office import Auth, PostOffice


async def visitor(request: Request, office: PostOffice) -> Caller:
    """The caller, or a refusal."""
    if office.rules.auth is Auth.OPEN:
        return office.owner()
    caller = await office.visitor(proof_of(request))
    request.scope["state"]["agent"] = caller.name
    return caller


def proof_of(request: Request) -> str | None:
    """What proves a login."""
    return request.cookies.get(_cookie(request))


def remember(response: Response, request: Request, proof: str, lasts: timedelta) -> None:
    """Give the browser what proves the login, where neither scripts nor other sites can get at it."""
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
    """Have the browser forget the login."""
    response.delete_cookie(_cookie(request), path="/", secure=request.url.scheme == "https", httponly=True, samesite="strict")


def _cookie(request: Request) -> str:
    """Cookies do not tell ports apart, and one machine may have several offices."""
    return f"postoffice_{request.url.port}" if request.url.port else "postoffice"

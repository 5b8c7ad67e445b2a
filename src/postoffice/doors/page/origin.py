"""Checks that a change comes from the page itself and not from another site."""

from urllib.parse import urlsplit

from starlette.requests import Request

from postoffice.core.errors import ForeignForm


def check_same_origin(request: Request) -> None:
    """Refuse a change that the browser does not vouch for: from other sites, and from programs, which have the REST door."""
    site = request.headers.get("sec-fetch-site")
    if site is not None:
        if site != "same-origin":
            raise ForeignForm
        return
    origin = request.headers.get("origin")
    if origin is None or not _own(origin, request):
        raise ForeignForm


def _own(origin: str, request: Request) -> bool:
    parts = urlsplit(origin)
    # A proxy may take https and speak http to us; nobody does the opposite.
    schemes = {"https"} if request.url.scheme == "https" else {"http", "https"}
    return parts.scheme in schemes and parts.netloc.lower() == request.headers.get("host", "").lower()

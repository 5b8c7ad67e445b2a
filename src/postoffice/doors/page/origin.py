"""Proof that a change comes from the page itself and not from somebody else's."""

from urllib.parse import urlsplit

from starlette.requests import Request

from postoffice.core.errors import ForeignForm


def check_same_origin(request: Request) -> None:
    """Refuse what the browser does not vouch for: other sites, and programs that say nothing, which have the REST door."""
    said = request.headers.get("sec-fetch-site")
    if said is not None:
        if said != "same-origin":
            raise ForeignForm
        return
    origin = request.headers.get("origin")
    if origin is None or not _own(origin, request):
        raise ForeignForm


def _own(origin: str, request: Request) -> bool:
    parts = urlsplit(origin)
    # A proxy may speak https before us and http to us; the other way round nobody does.
    schemes = {"https"} if request.url.scheme == "https" else {"http", "https"}
    return parts.scheme in schemes and parts.netloc.lower() == request.headers.get("host", "").lower()

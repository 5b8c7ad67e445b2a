"""Light or dark, by choice for each browser; without a choice it follows the system."""

from datetime import timedelta

from starlette.requests import Request
from starlette.responses import Response

THEMES = ("light", "dark")
_COOKIE = "postoffice_theme"
_COOKIE_LASTS = timedelta(days=365)


def theme_of(request: Request) -> str:
    """The theme that was chosen; empty if none was."""
    chosen = request.cookies.get(_COOKIE, "")
    return chosen if chosen in THEMES else ""


def choose(response: Response, request: Request, theme: str) -> None:
    """Store the choice in the browser, or remove it."""
    if theme in THEMES:
        secure = request.url.scheme == "https"
        response.set_cookie(
            _COOKIE, theme, max_age=int(_COOKIE_LASTS.total_seconds()), path="/", secure=secure, httponly=True, samesite="strict"
        )
    else:
        response.delete_cookie(_COOKIE, path="/")

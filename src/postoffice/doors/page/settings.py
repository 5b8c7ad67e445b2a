"""Settings of a person's own browser: how the page looks, and which notifications it shows."""

from starlette.responses import JSONResponse, Response

from postoffice.core.errors import NoSuchPath
from postoffice.core.notify import NotifyKind
from postoffice.doors.page.assets import address
from postoffice.doors.page.look import Look
from postoffice.doors.page.theme import choose

_PATH = "/page/settings"
_LARGEST_COUNT_SHOWN = 99
_ICON = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect x="1" y="6" width="25" height="20" rx="4" fill="#24508f"/>'
    '<path d="m3.5 9.5 10 8 10-8" fill="none" stroke="#fff" stroke-width="2.4" stroke-linejoin="round" stroke-linecap="round"/>'
    '<rect x="13" y="0" width="19" height="17" rx="8.5" fill="#c0392b"/>'
    '<text x="22.5" y="13" text-anchor="middle" font-family="sans-serif" font-weight="700" font-size="13" fill="#fff">{count}</text></svg>'
)


async def settings(look: Look) -> Response:
    """Show all settings."""
    if not look.caller.owner:
        return await look.show("settings.html")
    told, answer_links = await look.office.notify.all(look.caller), look.office.answer_links
    links = await answer_links.all(look.caller)
    return await look.show("settings.html", told=told, links=links, links_to=answer_links.lead_to, kinds=tuple(NotifyKind))


async def theme(look: Look) -> Response:
    """Choose the page's theme."""
    response = look.to(_PATH, {"said": "themed"})
    choose(response, look.request, (await look.form()).get("theme", ""))
    return response


async def icon(look: Look) -> Response:
    """The page's icon with the number of waiting matters, for a tab in the background."""
    text = look.part("count")
    if not (text.isascii() and text.isdecimal()) or len(text) > len("999999"):
        raise NoSuchPath(path=look.request.url.path)
    count = int(text)
    body = _ICON.format(count=f"{_LARGEST_COUNT_SHOWN}+" if count > _LARGEST_COUNT_SHOWN else count)
    return Response(body, headers={"Cache-Control": "public, max-age=86400"}, media_type="image/svg+xml")


async def manifest(_: Look) -> Response:
    """The manifest with which a phone or desktop installs the page as a program."""
    pictures = [
        {"src": address(f"icon-{size}.png"), "sizes": f"{size}x{size}", "type": "image/png", "purpose": "any"} for size in (192, 512)
    ]
    return JSONResponse(
        {
            "name": "Postoffice",
            "short_name": "Postoffice",
            "description": "Mail between agents, and what waits for you",
            "start_url": "/",
            "scope": "/",
            "id": "/",
            "display": "standalone",
            "background_color": "#fbfaf7",
            "theme_color": "#24508f",
            "icons": [*pictures, {"src": address("icon.svg"), "sizes": "any", "type": "image/svg+xml"}],
            "shortcuts": [{"name": "Write", "url": "/page/compose"}, {"name": "Conversations", "url": "/page/mail"}],
        },
        media_type="application/manifest+json",
    )

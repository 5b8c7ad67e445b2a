"""Webhooks: the addresses that are told of events and how each does, and the incoming ones."""

from urllib.parse import urlsplit

from starlette.responses import Response

from postoffice.core.errors import NoSuchPath
from postoffice.core.hook import Hook
from postoffice.core.webhook import Webhook
from postoffice.doors.page.look import Look

_PATH = "/page/webhooks"


async def webhooks(look: Look) -> Response:
    """All webhooks and incoming webhooks, for the owner."""
    outgoing: tuple[Webhook, ...] = await look.office.webhooks.all(look.caller)
    left: tuple[Hook, ...] = await look.office.hooks.all(look.caller)
    return await look.show("webhooks.html", told=outgoing, left=left, host=_host)


async def conclude(look: Look) -> Response:
    """Pause, resume or remove a webhook."""
    name, kept = look.part("name"), look.office.webhooks
    match look.part("act"):
        case "pause":
            await kept.pause(look.caller, name)
            said = "untold"
        case "resume":
            await kept.resume(look.caller, name)
            said = "retold"
        case "remove":
            await kept.remove(look.caller, name)
            said = "removed"
        case _:
            raise NoSuchPath(path=look.request.url.path)
    return look.back(_PATH, {"said": said})


async def close(look: Look) -> Response:
    """Revoke an incoming webhook."""
    await look.office.hooks.revoke(look.caller, look.part("name"))
    return look.to(_PATH, {"said": "closed"})


def _host(url: str) -> str:
    """The host of an address, as the rest of it may be a secret."""
    return urlsplit(url).netloc

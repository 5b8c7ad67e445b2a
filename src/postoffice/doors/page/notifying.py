"""Notify addresses and answer links, a part of the settings view."""

from starlette.responses import Response

from postoffice.core.errors import NoSuchPath, Untold
from postoffice.core.notify import NotifyKind
from postoffice.doors.page.look import Look

_SETTINGS, _HERE = "/page/settings", "#away"


async def add(look: Look) -> Response:
    """Add a notify address."""
    form, kinds = await look.form(), await look.picked("kind")
    quiet = f"{form['from']}-{form['to']}" if form.get("from") and form.get("to") else None
    await look.office.notify.add(
        look.caller,
        form.get("name", ""),
        form.get("address", ""),
        kinds=[NotifyKind(kind) for kind in kinds if kind in set(NotifyKind)],
        quiet=quiet,
        zone=form.get("zone", "") if quiet else "",
        bodies=form.get("bodies") == "yes",
        trusted=form.get("trusted") == "yes",
    )
    return look.to(_SETTINGS, {"said": "notified"}, _HERE)


async def conclude(look: Look) -> Response:
    """Test an address, resume it, or remove it."""
    name = look.part("name")
    match look.part("act"):
        case "try":
            outcome = await look.office.notify.try_out(look.caller, name)
            if outcome.error is not None:
                raise Untold(why=f"{name} ({outcome.service}): {outcome.error}")
            said = "tried"
        case "resume":
            await look.office.notify.resume(look.caller, name)
            said = "retold"
        case "remove":
            await look.office.notify.remove(look.caller, name)
            said = "unnotified"
        case _:
            raise NoSuchPath(path=look.request.url.path)
    return look.back(_SETTINGS, {"said": said}) if look.asked("back") else look.to(_SETTINGS, {"said": said}, _HERE)


async def revoke(look: Look) -> Response:
    """Revoke an answer link."""
    await look.office.answer_links.revoke(look.caller, look.part("id"))
    return look.to(_SETTINGS, {"said": "revoked"}, _HERE)

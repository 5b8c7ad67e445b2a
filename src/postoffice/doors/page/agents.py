"""What the owner can do with one agent: ring it, pause or resume its mail, revoke its keys, or forget a name that nobody used."""

from datetime import timedelta

from starlette.responses import Response

from postoffice.core.errors import Invalid, NoSuchPath, NotRung
from postoffice.doors.moments import now
from postoffice.doors.page.look import Look
from postoffice.doors.page.mine import morning

_HOUR = timedelta(hours=1)


async def conclude(look: Look) -> Response:
    """Do one of these, and show the agent afterwards."""
    name, form = look.part("name"), await look.form()
    match look.part("act"):
        case "pause":
            await _pause(look, name, form)
            said = "paused"
        case "resume":
            await look.office.resume(look.caller, of=name)
            said = "resumed"
        case "ring":
            rung = await look.office.ring(look.caller, name)
            if not rung.rung:
                raise NotRung(name=rung.agent, why=rung.text)
            said = "rung"
        case "revoke":
            await look.office.revoke_keys(look.caller, form.get("prefix") or None, of=name)
            said = "revoked"
        case "forget":
            await look.office.forget(look.caller, name)
            return look.to("/page/overview", {"said": "forgotten"})
        case _:
            raise NoSuchPath(path=look.request.url.path)
    return look.to("/page/mail", {"of": name, "said": said})


async def _pause(look: Look, name: str, form: dict[str, str]) -> None:
    reason = form.get("reason") or None
    match form.get("until"):
        case "hour":
            await look.office.pause(look.caller, _HOUR, reason=reason, of=name)
        case "tomorrow":
            await look.office.pause(look.caller, until=morning(now(), form.get("zone", "")), reason=reason, of=name)
        case "resumed":
            await look.office.pause(look.caller, reason=reason, of=name)
        case _:
            raise Invalid(what="until", why="say until when")

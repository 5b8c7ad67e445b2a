"""What the owner does with one agent: its keys are taken back."""

from starlette.responses import Response

from postoffice.doors.page.look import Look


async def revoke(look: Look) -> Response:
    """Take back one of an agent's keys, or, where none is named, all of them."""
    name = look.part("name")
    await look.office.revoke_keys(look.caller, (await look.form()).get("prefix") or None, of=name)
    return look.to("/page/mail", {"of": name, "said": "revoked"})

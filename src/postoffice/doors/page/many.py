"""Acts on several rows of *For you* at once, each by itself: one failure does not affect the others."""

from collections.abc import Awaitable, Callable

from starlette.responses import Response

from postoffice.core.errors import Invalid, MailError
from postoffice.doors.page.look import Look
from postoffice.doors.page.mine import finish_one
from postoffice.doors.page.needs import Need, needs

Act = Callable[[Look, Need, str], Awaitable[object]]


async def _finish(look: Look, need: Need, act: str) -> None:
    await finish_one(look, need.matter.id, act)


async def _requeue(look: Look, need: Need, _: str) -> None:
    await look.office.requeue(look.caller, need.matter.id, of=need.matter.whom)


async def _approve(look: Look, need: Need, _: str) -> None:
    await look.office.approve_for(look.caller, need.matter.id)


_ACTS: dict[str, tuple[str, Act, str]] = {
    "done": ("mail", _finish, "done"),
    "hour": ("mail", _finish, "snoozed"),
    "tomorrow": ("mail", _finish, "snoozed"),
    "requeue": ("dead", _requeue, "requeued"),
    "approve": ("consent", _approve, "approved"),
}
"""By a button's name: which rows it is for, what it does, and what is said afterwards."""


async def conclude(look: Look) -> Response:
    """Do one thing to all picked rows that allow it."""
    form, picked = await look.form(), set(await look.picked("pick"))
    if form.get("act") not in _ACTS:
        raise Invalid(what="act", why="that cannot be done to several at once")
    kind, act, said = _ACTS[form["act"]]
    listed, _ = await needs(look.office, look.caller)
    chosen = [need for need in listed if need.key in picked and need.matter.kind == kind]
    if not chosen:
        raise Invalid(what="pick", why="this can be done to none of the picked rows")
    refused: list[MailError] = []
    for need in chosen:
        try:
            await act(look, need, form["act"])
        except MailError as error:
            refused.append(error)
    if refused:
        raise refused[0]
    return look.to("/", {"said": said})

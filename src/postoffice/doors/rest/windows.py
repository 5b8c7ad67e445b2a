"""Windows: where agents' clients are open now. A machine tells of those that are open on it."""

from typing import Annotated

import msgspec
from fastapi import Path, Query, Response
from msgspec import UNSET, UnsetType
from pydantic import Field

from postoffice.core.agent import Caller
from postoffice.core.errors import Unidentified
from postoffice.core.names import folded
from postoffice.core.ringing import ByHand
from postoffice.core.window import LEASE, Ended, Opened, Opening, Place, PublicWindow, Renewed, Ring, Window, WindowState
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import MOST_ITEMS, Body, router
from postoffice.doors.rest.call import Bell, Identified
from postoffice.doors.rest.examples import MESSAGE_ID, WHEN
from postoffice.doors.rest.paging import NameText
from postoffice.office.windows import Renewal

routes = router("windows")

_WINDOW_ID = "0199d2a0-0000-7000-8000-000000000005"
WindowId = Annotated[str, Path(max_length=36, examples=[_WINDOW_ID])]
_MOST_RENEWED = 100


class OpenBody(Body):
    """A window that opens."""

    client: str = Field(min_length=1, max_length=100, examples=["claude-code"])
    session: str | None = Field(
        None, min_length=1, max_length=100, description="The client's own id of its session, by which it is known when it is resumed."
    )
    process: int = Field(ge=0, le=2**62, description="The client's process.")
    started: str = Field(min_length=1, max_length=100, description="When that process began, in its machine's own writing.")
    folder: str = Field(min_length=1, max_length=4096, examples=["/home/ann/shop"])
    machine: str = Field(min_length=1, max_length=100, description="A word that stays the same for that machine.")
    agent: str | None = Field(
        None, min_length=1, max_length=100, description="Only a name that a person said; else the folder's own is taken."
    )
    shared: bool = Field(False, description="Several windows that all say so serve one mailbox.")
    ring: Ring = Field(Ring.NONE, description="By which way it can be woken; how is not the office's business.")


class RenewBody(Body):
    """What of a window has changed."""

    state: WindowState | None = None
    ring: Ring | None = None


class RenewalItem(RenewBody):
    """One of several windows."""

    id: str = Field(max_length=36, examples=[_WINDOW_ID])


class RenewManyBody(Body):
    """Windows that are still open."""

    windows: list[RenewalItem] = Field(max_length=_MOST_RENEWED)


class LettersBody(Body):
    """Some of the letters that wait."""

    messages: list[Annotated[str, Field(max_length=64)]] = Field(max_length=MOST_ITEMS, examples=[[MESSAGE_ID]])


class TurnBody(Body):
    """A turn in a window."""

    messages: list[Annotated[str, Field(max_length=64)]] = Field([], max_length=MOST_ITEMS, examples=[[MESSAGE_ID]])


class RungView(msgspec.Struct, frozen=True):
    """For how many letters, of those that still wait."""

    rung: int


class ToldView(msgspec.Struct, frozen=True):
    """Of how many letters the senders are told."""

    told: int


class OpenedView(msgspec.Struct, frozen=True, kw_only=True):
    """The window, and the name it has."""

    id: str
    agent: str
    new: bool
    """Nobody had this name before."""
    resumed: bool
    """The session, or the process, has its own name back."""
    was: str | None
    """The name it had before, where that is not to be had now."""
    waiting: int
    """How much mail waits there."""
    lease_seconds: int
    """Not renewed for so long, it is closed."""


class RenewedView(msgspec.Struct, frozen=True, kw_only=True):
    """A window that is still open. Read its name here: it may have changed."""

    id: str
    agent: str
    ring: Ring
    state: WindowState
    waiting: int
    lease_seconds: int
    roles: dict[str, int] | UnsetType = UNSET
    """The roles that its agent is in, if any, and how much waits in each."""


class RenewedMany(msgspec.Struct, frozen=True):
    """Windows that are still open, and the ids of those that are not."""

    windows: tuple[RenewedView, ...]
    gone: tuple[str, ...]


class WindowView(PublicWindow, frozen=True, kw_only=True, omit_defaults=True):
    """An open window. Where it stands is shown to the owner and to its agent only."""

    session: str | None = None
    process: int | None = None
    started: str | None = None
    folder: str | None = None
    machine: str | None = None


class WindowList(msgspec.Struct, frozen=True):
    """Windows that are open now."""

    windows: tuple[WindowView, ...]


_RENEWED = {"id": _WINDOW_ID, "agent": "shop", "ring": "socket", "state": "idle", "waiting": 2, "lease_seconds": 15}
_OPENED = {"id": _WINDOW_ID, "agent": "shop", "new": True, "resumed": False, "was": None, "waiting": 0, "lease_seconds": 15}
_WINDOW = {
    "id": _WINDOW_ID,
    "agent": "shop",
    "client": "claude-code",
    "ring": "socket",
    "state": "idle",
    "state_since": WHEN,
    "since": WHEN,
    "last_sign": WHEN,
    "shared": False,
    "session": "0b8f6a",
    "process": 4711,
    "started": "8123",
    "folder": "/home/ann/shop",
    "machine": "ann-laptop",
}


@routes.post("/windows", **gives(OpenedView, _OPENED, 201, known=True))
async def open_window(body: OpenBody, call: Bell) -> Response:
    """Open a window, or say anew what it is. It gets its own name back, or else its folder's lowest that no open window has."""
    office, caller = call
    fields = body.model_dump(exclude={"machine", "process", "started"})
    opened = await office.open_window(caller, Opening(place=Place(body.machine, body.process, body.started), **fields))
    return answer(_opened(opened), 200 if opened.known else 201)


@routes.put("/windows", **gives(RenewedMany, {"windows": [_RENEWED], "gone": []}))
async def renew_many(body: RenewManyBody, call: Bell) -> Response:
    """Show that windows are still open."""
    office, caller = call
    outcomes = await office.renew_windows(caller, [Renewal(**item.model_dump()) for item in body.windows])
    kept = tuple(_renewed(one) for one in outcomes if isinstance(one, Renewed))
    gone = tuple(item.id for item, one in zip(body.windows, outcomes, strict=True) if not isinstance(one, Renewed))
    return answer(RenewedMany(kept, gone))


@routes.put("/windows/{id}", **gives(RenewedView, _RENEWED))
async def renew(id: WindowId, body: RenewBody, call: Bell) -> Response:
    """Show that a window is still open, and what of it has changed."""
    office, caller = call
    return answer(_renewed(await office.renew_window(caller, Renewal(id=id, **body.model_dump()))))


@routes.post("/windows/{id}/rung", **gives(RungView, {"rung": 1}))
async def rung(id: WindowId, body: LettersBody, call: Bell) -> Response:
    """Say that a window was rung for letters: their senders see it in the status."""
    office, caller = call
    return answer(RungView(await office.rung(caller, id, body.messages)))


@routes.post("/windows/{id}/turn", **gives(RenewedView, _RENEWED | {"state": "busy"}))
async def turn(id: WindowId, call: Bell, body: TurnBody | None = None) -> Response:
    """Say that a turn has begun in a window, and which letters of its agent's roles it was rung for, if any."""
    office, caller = call
    return answer(_renewed(await office.begin_turn(caller, id, () if body is None else body.messages)))


@routes.post("/windows/{id}/untaken", **gives(ToldView, {"told": 1}))
async def untaken(id: WindowId, body: LettersBody, call: Bell) -> Response:
    """Say that a window was rung for letters often enough, and has not taken them: each sender is told once."""
    office, caller = call
    return answer(ToldView(await office.rung_in_vain(caller, id, body.messages)))


@routes.delete("/windows/{id}", **gives(Ended, {"id": _WINDOW_ID, "agent": "shop", "returned": 0}))
async def close_window(id: WindowId, call: Bell) -> Response:
    """Close a window. What it had in hand waits again, and that was an attempt."""
    office, caller = call
    return answer(await office.close_window(caller, id))


@routes.get("/windows", **gives(WindowList, {"windows": [_WINDOW]}))
async def windows(call: Bell, agent: Annotated[str | None, Query(description="Those of one agent.")] = None) -> Response:
    """Which windows are open. Session, process, folder and machine stand there for the owner and for the agent itself."""
    office, caller = call
    if caller is None:
        raise Unidentified
    return answer(WindowList(tuple(window_view(one, caller) for one in await office.windows(agent))))


def window_view(window: Window, caller: Caller) -> WindowView:
    """A window as the caller may see it."""
    own = caller.owner or folded(caller.name) == folded(window.agent) or folded(window.agent).startswith(f"{caller.machine}-")
    fields = Window.__struct_fields__ if own else PublicWindow.__struct_fields__
    return WindowView(**{field: getattr(window, field) for field in fields})


@routes.post("/agents/{name}/ring", **gives(ByHand, {"agent": "shop", "rung": True, "text": "rung"}))
async def ring(name: NameText, call: Identified) -> Response:
    """Have an agent's window rung now for its mail, as the owner or as whoever sent some of it; or hear why nothing can wake it."""
    return answer(await call.office.ring(call.caller, name))


def _opened(opened: Opened) -> OpenedView:
    fields = {field: getattr(opened, field) for field in Opened.__struct_fields__ if field != "known"}
    return OpenedView(**fields, lease_seconds=int(LEASE.total_seconds()))


def _renewed(renewed: Renewed) -> RenewedView:
    fields = {field: getattr(renewed, field) for field in Renewed.__struct_fields__}
    return RenewedView(**fields, lease_seconds=int(LEASE.total_seconds()))

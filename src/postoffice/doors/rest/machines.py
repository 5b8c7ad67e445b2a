"""Machines: keys by which a machine opens windows and speaks for their agents, for the owner to give and take back."""

from typing import Annotated

import msgspec
from fastapi import Path, Response
from pydantic import Field

from postoffice.core.views import Machine
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import Body, router
from postoffice.doors.rest.call import Identified
from postoffice.doors.rest.examples import WHEN

routes = router("windows")
Prefix = Annotated[str, Path(min_length=1, max_length=60, examples=["ann"])]


class MachineBody(Body):
    """A machine."""

    prefix: str = Field(min_length=1, max_length=60, examples=["ann"], description="Its windows' names begin with this and a dash.")


class NewMachine(msgspec.Struct, frozen=True):
    """A machine's key, which is never shown again."""

    api_key: str
    machine: Machine


class Machines(msgspec.Struct, frozen=True):
    """Machines' keys, each by its beginning."""

    machines: tuple[Machine, ...]


class Revoked(msgspec.Struct, frozen=True):
    """How many keys were taken back."""

    revoked: int


_MACHINE = {"prefix": "ann", "shown": "amb_0000", "created_at": WHEN}


@routes.get("/machines", **gives(Machines, {"machines": [_MACHINE]}))
async def machines(call: Identified) -> Response:
    """Which machines have keys; for the owner."""
    return answer(Machines(await call.office.machines.all(call.caller)))


@routes.post("/machines", **gives(NewMachine, {"api_key": "amb_" + "0" * 64, "machine": _MACHINE}, 201))
async def make(body: MachineBody, call: Identified) -> Response:
    """Give a machine a key; for the owner. With it windows are opened as `<prefix>-<folder>`, and their agents spoken for (`X-Agent`)."""
    return answer(NewMachine(*await call.office.machines.make_key(call.caller, body.prefix)), 201)


@routes.delete("/machines/{prefix}", **gives(Revoked, {"revoked": 1}))
async def revoke(prefix: Prefix, call: Identified) -> Response:
    """Take a machine's keys back; for the owner. Its windows' names and mail stay."""
    return answer(Revoked(await call.office.machines.revoke(call.caller, prefix)))

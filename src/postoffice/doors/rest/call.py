"""One call at the REST door: the office, and who is calling."""

from typing import Annotated, NamedTuple

from fastapi import Depends, Request

from postoffice.core.agent import Caller
from postoffice.core.errors import OwnerOnly
from postoffice.doors.credentials import credentials
from postoffice.office import Auth, PostOffice

_LOOKS = frozenset({"/messages/receive", "/messages/wait", "/messages/pop"})
"""Asking for mail is looking into a mailbox, too."""
_WHO_AM_I = "/agents/me"
"""Whoever asks this says that it is there."""
_LOGIN = "/page/links"
"""A person wants to look at the page: that says nothing of the agent whose key it is."""


class Call(NamedTuple):
    """The office with somebody before it."""

    office: PostOffice
    caller: Caller


def office_of(request: Request) -> PostOffice:
    """The office behind this door."""
    office: PostOffice = request.scope["app"].state.office
    return office


async def identified(request: Request) -> Call:
    """Identify the caller, or refuse."""
    office = office_of(request)
    key, name = credentials(request.scope)
    path = request.scope["path"]  # without taking an address apart for it
    looking = path in _LOOKS or (request.method == "GET" and path != _WHO_AM_I)
    caller = await office.identify(key=key, name=name, looking=looking, silently=path == _LOGIN)
    request.scope["state"]["agent"] = caller.name
    return Call(office, caller)


async def stranger(request: Request) -> tuple[PostOffice, Caller | None]:
    """The office, and the caller if it says who it is: some calls are made before one has a name."""
    if credentials(request.scope) == (None, None):
        return office_of(request), None
    return await identified(request)


async def bell(request: Request) -> tuple[PostOffice, Caller | None]:
    """The office, and whoever tells of windows: a machine, an agent, or on an open server anybody."""
    office, (key, name) = office_of(request), credentials(request.scope)
    if (key, name) == (None, None):
        return office, None
    caller = await office.identify(key=key, name=name, looking=request.method == "GET", machine=True)
    request.scope["state"]["agent"] = caller.name
    return office, caller


async def watcher(request: Request) -> PostOffice:
    """The office, for whoever may see its numbers: anybody on an open server, else the owner."""
    office = office_of(request)
    if office.rules.auth is Auth.KEYS:
        key, name = credentials(request.scope)
        caller = await office.watcher(key=key, name=name)
        request.scope["state"]["agent"] = caller.name
        if not caller.owner:
            raise OwnerOnly(what="see the numbers of the whole office")
    return office


Identified = Annotated[Call, Depends(identified)]
Stranger = Annotated[tuple[PostOffice, Caller | None], Depends(stranger)]
Bell = Annotated[tuple[PostOffice, Caller | None], Depends(bell)]
Watcher = Annotated[PostOffice, Depends(watcher)]
Office = Annotated[PostOffice, Depends(office_of)]

"""Ids as people see and type them: by their last characters, as many as needed."""

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from postoffice.core.errors import Invalid

if TYPE_CHECKING:
    from postoffice.client.wire import Wire

_SHOWN_CHARACTERS = 6  # at least; the end of an id is random, while its beginning is only the time
_LEAST_CHARACTERS = 4
_WHOLE = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
_PART = re.compile(rf"[0-9a-f-]{{{_LEAST_CHARACTERS},35}}", re.IGNORECASE)
_IDS_READ = 200


def short(id: str, among: Iterable[str] = ()) -> str:
    """The end of an office's id, long enough to be unique among these. Ids that senders made stay whole."""
    if not _WHOLE.fullmatch(id):
        return id
    others = [other for other in among if other != id]
    length = _SHOWN_CHARACTERS
    while length < len(id) and any(other.endswith(id[-length:]) for other in others):
        length += 1
    return id[-length:]


def all_short(ids: Iterable[str]) -> list[str]:
    """The short forms of several ids."""
    whole_ids = list(ids)
    return [short(id, whole_ids) for id in whole_ids]


async def session_id(wire: "Wire", given: str) -> str:
    """A conversation's whole id. For messages and tasks the office itself accepts the end."""
    return await _found(wire, "/inbox", "sessions", "session_id", given)


async def connection_id(wire: "Wire", given: str) -> str:
    """A connection's whole id."""
    return await _found(wire, "/connections", "connections", "connection_id", given)


async def _found(wire: "Wire", path: str, items: str, name: str, given: str) -> str:
    """The only id that ends or begins so. Anything else goes to the office unchanged."""
    if _WHOLE.fullmatch(given) or not _PART.fullmatch(given):
        return given
    return only(given, [item[name] for item in (await wire.get(path, limit=_IDS_READ))[items]])


def only(given: str, ids: Iterable[str]) -> str:
    """The only one of these ids that is, ends with or begins with this. Anything else is returned unchanged."""
    among, part = set(ids), given.lower()
    if given in among or not _PART.fullmatch(given):
        return given
    fit = {id for id in among if _WHOLE.fullmatch(id) and (id.endswith(part) or id.startswith(part))}
    if len(fit) > 1:
        raise Invalid(what="id", why=f"{len(fit)} end or begin with {given!r} ({', '.join(sorted(fit)[:3])} …); give more of it")
    return fit.pop() if fit else given

"""Who the command speaks as, and to which office."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from postoffice.client import credentials, own_office
from postoffice.client.address import DEFAULT, read_address
from postoffice.core.errors import AnotherOffice, BadKey, KeyNotHere, KeyRequired, NobodySpeaks, Unidentified
from postoffice.core.hosts import is_loopback
from postoffice.core.names import OWNER

if TYPE_CHECKING:
    from postoffice.client.wire import Wire

OWNER_KEY = "owner.key"
_NOTHING_SAID: Mapping[str, Any] = MappingProxyType({})


def server_of(options: Mapping[str, Any]) -> str:
    """The office's address: flag, environment, or this machine's."""
    return read_address(options.get("server") or os.environ.get("POSTOFFICE_SERVER") or DEFAULT, "POSTOFFICE_SERVER")


def agent_of(options: Mapping[str, Any]) -> str | None:
    """The agent to speak as, if one was named."""
    return options.get("agent") or os.environ.get("POSTOFFICE_AGENT") or None


@asynccontextmanager
async def asking(options: Mapping[str, Any]) -> AsyncIterator["Wire"]:
    """A wire for as long as a command runs; why the office does not know who speaks is told as what can be done about it here."""
    async with open_wire(options) as wire:
        try:
            yield wire
        except BadKey:
            if found_here(wire, options):
                raise AnotherOffice(path=data_folder(options) / OWNER_KEY) from None
            raise
        except Unidentified as error:
            if wire.key is not None or type(error) not in (Unidentified, KeyRequired):
                raise
            raise (KeyNotHere(name=wire.agent) if wire.agent else NobodySpeaks()) from None


def open_wire(options: Mapping[str, Any]) -> "Wire":
    """A wire as the agent named; without a name as the only one with a key here, else on one's own machine as the owner."""
    from postoffice.client.wire import Wire  # noqa: PLC0415 - help and mistakes need no HTTP

    server, agent = server_of(options), agent_of(options)
    if key := key_in(os.environ, "POSTOFFICE_KEY"):
        return Wire(server, key=key, agent=agent)
    if agent == OWNER or (agent is None and (options.get("everyone") or options.get("of"))):
        return _as_owner(server, options)  # what only the owner may ask
    if agent is not None:
        kept = credentials.load(server, agent)
        return Wire(server, key=kept.key if kept else None, agent=agent)
    known = [kept for kept in credentials.known(server) if kept.agent != OWNER]
    if len(known) == 1:
        return Wire(server, key=known[0].key)
    return _as_owner(server, options)


def key_in(environ: Mapping[str, str], *names: str) -> str | None:
    """A key from the environment, by the first of these names; the end of a line that came with it from a file is no part of it."""
    return next(filter(None, (environ.get(name, "").strip() for name in names)), None)


def _as_owner(server: str, options: Mapping[str, Any]) -> "Wire":
    """A wire with the owner's key: the office's own where it is kept here, else one that came by a login."""
    from postoffice.client.wire import Wire  # noqa: PLC0415 - as above

    kept = credentials.load(server, OWNER)
    return Wire(server, key=owner_key(server, options) or (kept.key if kept else None))


def owner_key(server: str, options: Mapping[str, Any] = _NOTHING_SAID) -> str | None:
    """The owner's key, on the machine where the office keeps it."""
    path = data_folder(options) / OWNER_KEY
    host = server.partition("://")[2].rpartition(":")[0].strip("[]") or server.partition("://")[2]
    try:
        return path.read_text().strip() if is_loopback(host) else None
    except OSError:
        return None


def replace_owner_key(key: str) -> Path:
    """Put a new key where the office keeps the owner's."""
    from postoffice.setup.change import write_text  # noqa: PLC0415

    path = (data_folder() / OWNER_KEY).resolve()
    write_text(path, f"{key}\n", 0o600)
    return path


def found_here(wire: "Wire", options: Mapping[str, Any] = _NOTHING_SAID) -> bool:
    """Whether a key was taken from this machine's data directory, which may be another office's, rather than given."""
    return not key_in(os.environ, "POSTOFFICE_KEY") and wire.key is not None and wire.key == owner_key(wire.server, options)


def data_folder(options: Mapping[str, Any] = _NOTHING_SAID) -> Path:
    """Where a server on this machine keeps its data: as the command was told, or read in the server's settings; environment, or default."""
    if told := options.get("data"):
        return Path(told)
    return own_office.data_folder()

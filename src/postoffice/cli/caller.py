"""Who the command speaks as, and at which office."""

import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from postoffice.client import credentials, own_office
from postoffice.client.address import DEFAULT, read_address
from postoffice.core.errors import AnotherOffice, BadKey, KeyNotHere, KeyRequired, NobodySpeaks, Unidentified
from postoffice.core.hosts import is_loopback
from postoffice.core.names import OWNER

if TYPE_CHECKING:
    from postoffice.client.wire import Wire

OWNER_KEY = "owner.key"
_CODEX_SESSION = "CODEX_THREAD_ID"
_NOTHING_SAID: Mapping[str, Any] = MappingProxyType({})


def server_of(options: Mapping[str, Any]) -> str:
    """The office's address: flag, environment, or this machine's."""
    return read_address(
        options.get("server") or os.environ.get("POSTOFFICE_SERVER") or credentials.joined() or DEFAULT, "POSTOFFICE_SERVER"
    )


def agent_of(options: Mapping[str, Any]) -> str | None:
    """The agent to speak as, if one was named."""
    return options.get("agent") or os.environ.get("POSTOFFICE_AGENT") or None


@asynccontextmanager
async def asking(options: Mapping[str, Any]) -> AsyncIterator["Wire"]:
    """A wire for one command. If the office does not know the caller, the error says what to do about that here."""
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


class Speaker(NamedTuple):
    """Who a command speaks as, and how that was decided."""

    agent: str | None
    key: str | None
    why: str


def open_wire(options: Mapping[str, Any]) -> "Wire":
    """A wire that calls as the command's speaker."""
    from postoffice.client.wire import Wire  # noqa: PLC0415 - not needed for help or mistakes

    caller = speaker(options)
    return Wire(server_of(options), key=caller.key, agent=None if caller.agent == OWNER else caller.agent)


def speaker(options: Mapping[str, Any]) -> Speaker:
    """The agent that was named, or chosen by `use`; else the owner if their key is here; else the only agent with a key here."""
    server, named = server_of(options), options.get("agent")
    if key := key_in(os.environ, "POSTOFFICE_KEY"):
        return Speaker(agent_of(options), key, "by POSTOFFICE_KEY")
    if named is None and (options.get("everyone") or options.get("of")):
        return _speaking(server, OWNER, "as only the owner may do that", options)
    named_by = {
        "by --as": named,
        "by POSTOFFICE_AGENT": os.environ.get("POSTOFFICE_AGENT"),
        "by `postoffice use`": credentials.used(server),
    }
    for why, agent in named_by.items():
        if agent:
            return _speaking(server, agent, why, options)
    return (_window_here(server) if options.get("in_window") else None) or _speaker_here(server, options)


def _speaker_here(server: str, options: Mapping[str, Any]) -> Speaker:
    """The speaker if none is named."""
    if (key := owner_key(server, options)) is not None:
        return Speaker(OWNER, key, "as the office is kept here")
    stored = [kept for kept in credentials.known(server) if kept.agent != OWNER]
    if len(stored) == 1:
        return Speaker(stored[0].agent, stored[0].key, "as its key is the only one here")
    owner = _speaking(server, OWNER, "as no other key is here", options)
    return owner if owner.key else Speaker(None, None, "as no agent was named and no key is here")


def _window_here(server: str) -> Speaker | None:
    """The agent of the window in which the command runs, directly or through other programs."""
    from postoffice.bridges.bell.place import cards  # noqa: PLC0415 - most commands do not need it
    from postoffice.client.process import is_below  # noqa: PLC0415

    windows = [one for one in cards() if one.agent is not None and one.server == server and one.process.alive]
    session = os.environ.get(_CODEX_SESSION)  # Codex starts shells from a daemon that all windows share
    agent = next(
        (one.agent for one in windows if is_below(os.getpid(), one.process.pid) or (session is not None and one.session == session)), None
    )
    return None if agent is None else Speaker(agent, credentials.for_window(server, agent), "as it is run in its window")


def _speaking(server: str, agent: str, why: str, options: Mapping[str, Any]) -> Speaker:
    """A speaker with the key kept for its name. The owner's key may also be in the office's data directory."""
    kept = credentials.load(server, agent)
    key = kept.key if kept else None
    if agent.lower() == OWNER:
        return Speaker(OWNER, owner_key(server, options) or key, why)
    return Speaker(agent, key, why)


def key_in(environ: Mapping[str, str], *names: str) -> str | None:
    """A key from the first of these variables that is set, without a line end that came with it from a file."""
    return next(filter(None, (environ.get(name, "").strip() for name in names)), None)


def owner_key(server: str, options: Mapping[str, Any] = _NOTHING_SAID) -> str | None:
    """The owner's key from the office's data directory, if that is on this machine."""
    path = data_folder(options) / OWNER_KEY
    host = server.partition("://")[2].rpartition(":")[0].strip("[]") or server.partition("://")[2]
    try:
        return path.read_text().strip() if is_loopback(host) else None
    except OSError:
        return None


def replace_owner_key(key: str) -> Path:
    """Replace the owner's key in the office's data directory."""
    from postoffice.setup.change import write_text  # noqa: PLC0415

    path = (data_folder() / OWNER_KEY).resolve()
    write_text(path, f"{key}\n", 0o600)
    return path


def found_here(wire: "Wire", options: Mapping[str, Any] = _NOTHING_SAID) -> bool:
    """Whether a key was not given but taken from this machine's data directory, which may be another office's."""
    return not key_in(os.environ, "POSTOFFICE_KEY") and wire.key is not None and wire.key == owner_key(wire.server, options)


def data_folder(options: Mapping[str, Any] = _NOTHING_SAID) -> Path:
    """Where a server on this machine keeps its data: from the command's options, the server's settings, the environment, or by default."""
    if folder := options.get("data"):
        return Path(folder)
    return own_office.data_folder()

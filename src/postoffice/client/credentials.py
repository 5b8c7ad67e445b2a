"""Stored keys: one file for each agent and server, readable by its owner only, so that nobody has to paste keys."""

import os
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from platformdirs import user_config_path

from postoffice.core.errors import BadSetting

_USED, _JOINED, _MACHINE = "speaks-as", "office", "windows-key"
_FILE_BYTES = 1024  # more than the file of any key takes


class Credential(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's key at one server."""

    server: str
    agent: str
    key: str


def folder() -> Path:
    """The folder for credentials."""
    return Path(os.environ.get("POSTOFFICE_CREDENTIALS") or user_config_path("postoffice") / "credentials")


def save(credential: Credential) -> Path:
    """Store a key, in a file that nobody else can ever read. If that fails, the earlier key stays."""
    with keeping(credential.server) as keep:
        return keep(credential)


@contextmanager
def keeping(server: str) -> Iterator[Callable[[Credential], Path]]:
    """Store a key that is still to be made. Its space on the disk is taken first: a key that cannot be stored is lost, and its name too."""
    kept = _folder(server)
    kept.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, begun = tempfile.mkstemp(dir=kept, prefix=".")

    def keep(credential: Credential) -> Path:
        with Path(begun).open("r+b") as file:
            file.write(msgspec.json.format(msgspec.json.encode(credential)) + b"\n")
            file.truncate()
        return Path(begun).replace(_path(server, credential.agent))

    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(bytes(_FILE_BYTES))
        yield keep
    finally:
        Path(begun).unlink(missing_ok=True)


def load(server: str, agent: str) -> Credential | None:
    """The key kept for an agent at a server."""
    return _read(_path(server, agent))


def known(server: str) -> list[Credential]:
    """Every key stored for a server."""
    stored = (_read(path) for path in sorted(_folder(server).glob("*.json")))
    return [credential for credential in stored if credential is not None]


def save_machine(server: str, key: str) -> Path:
    """Store the key with which this machine opens windows and speaks for agents without a key of their own."""
    path = _folder(server) / _MACHINE
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, begun = tempfile.mkstemp(dir=path.parent, prefix=".")
    with os.fdopen(descriptor, "w") as file:
        file.write(f"{key}\n")
    return Path(begun).replace(path)


def for_window(server: str, agent: str | None) -> str | None:
    """The key for a window: its agent's own, else this machine's."""
    if agent and (own := load(server, agent)) is not None:
        return own.key
    with suppress(OSError):
        return (_folder(server) / _MACHINE).read_text().strip() or None
    return None


def use(server: str, agent: str | None) -> None:
    """Choose the agent to speak as by default; None removes the choice."""
    path = _folder(server) / _USED
    if agent is None:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    path.write_text(f"{agent}\n")


def used(server: str) -> str | None:
    """The agent to speak as by default."""
    try:
        return (_folder(server) / _USED).read_text().strip() or None
    except OSError:
        return None


def join(server: str, agent: str) -> None:
    """Choose this office as the default, and this agent to speak as there."""
    use(server, agent)
    (folder() / _JOINED).write_text(f"{server}\n")


def joined() -> str | None:
    """The office chosen by an invitation, if one was used."""
    try:
        return (folder() / _JOINED).read_text().strip() or None
    except OSError:
        return None


def forget(server: str, agent: str) -> None:
    """Delete a key."""
    _path(server, agent).unlink(missing_ok=True)


def _read(path: Path) -> Credential | None:
    try:
        return msgspec.json.decode(path.read_bytes(), type=Credential)
    except FileNotFoundError:
        return None
    except (OSError, msgspec.DecodeError) as error:
        raise BadSetting(name=str(path), why=f"it cannot be read as a key ({error}); delete it and log in again") from None


def _folder(server: str) -> Path:
    return folder() / re.sub(r"[^A-Za-z0-9.-]", "_", urlsplit(server).netloc)


def _path(server: str, agent: str) -> Path:
    return _folder(server) / f"{agent.lower()}.json"

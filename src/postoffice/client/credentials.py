"""Keys at home: one file an agent and server, readable by its owner alone, so that nobody pastes keys."""

import os
import re
import tempfile
from pathlib import Path
from urllib.parse import urlsplit

import msgspec
from platformdirs import user_config_path

from postoffice.core.errors import BadSetting


class Credential(msgspec.Struct, frozen=True, kw_only=True):
    """An agent's key at one server."""

    server: str
    agent: str
    key: str


def folder() -> Path:
    """Where credentials live."""
    return Path(os.environ.get("POSTOFFICE_CREDENTIALS") or user_config_path("postoffice") / "credentials")


def save(credential: Credential) -> Path:
    """Keep a key, in a file that nobody else can ever read. One that cannot be kept leaves the one before in its place."""
    path = _path(credential.server, credential.agent)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, begun = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(credential)) + b"\n")
        Path(begun).replace(path)
    except BaseException:
        Path(begun).unlink(missing_ok=True)
        raise
    return path


def load(server: str, agent: str) -> Credential | None:
    """The key kept for an agent at a server."""
    return _read(_path(server, agent))


def known(server: str) -> list[Credential]:
    """Every key kept for a server."""
    found = (_read(path) for path in sorted(_folder(server).glob("*.json")))
    return [credential for credential in found if credential is not None]


def forget(server: str, agent: str) -> None:
    """Throw a key away."""
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

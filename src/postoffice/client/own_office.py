"""The office of this machine, from its data directory: the secret with which it proves itself, and the addresses it has served at."""

import os
import tempfile
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec

from postoffice.client.address import DEFAULT
from postoffice.core.hosts import is_loopback
from postoffice.core.proof import new_secret

LOG: Final = "office.log"
LOCK: Final = "starting.lock"
_SECRET, _RECORD, _SETTINGS = "proof.secret", "served.json", "postoffice.toml"
_YES, _NO = ("1", "true", "yes", "on"), ("0", "false", "no", "off")
_SECRET_LETTERS = 64


class Served(msgspec.Struct, frozen=True, kw_only=True):
    """An address where this data directory's office has served."""

    itself: bool
    """Whether a program started it there. If so, the office at this address has to prove itself."""


def data_folder() -> Path:
    """The data directory of this machine's office."""
    if named := os.environ.get("POSTOFFICE_DATA"):
        return Path(os.path.expanduser(named))  # noqa: PTH111 - as the server reads it
    from platformdirs import user_data_path  # noqa: PLC0415

    return user_data_path("postoffice")


def secret(data: Path) -> str | None:
    """The secret in a data directory, if an office has used it."""
    with suppress(OSError):
        kept = (data / _SECRET).read_text().strip()
        return kept if len(kept) == _SECRET_LETTERS else None
    return None


def ensure_secret(data: Path) -> str:
    """The secret, made now if it is missing. Nobody else can read the file, and it is never half written."""
    if (kept := secret(data)) is not None:
        return kept
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    (data / _SECRET).unlink(missing_ok=True)  # an unfinished file from an interrupted start proves nothing
    _put(data / _SECRET, new_secret().encode(), anew=True)
    kept = secret(data)
    assert kept is not None
    return kept


def served(data: Path) -> dict[str, Served]:
    """Where this data directory's office has served, by address."""
    try:
        return msgspec.json.decode((data / _RECORD).read_bytes(), type=dict[str, Served])
    except (OSError, msgspec.DecodeError):
        return {}


def note_served(data: Path, address: str, *, itself: bool) -> None:
    """Write down that it serves there. Once a program has started it there, it has to prove itself from then on."""
    offices = served(data)
    before = offices.get(address)
    if before is None or before.itself < itself:
        _put(data / _RECORD, msgspec.json.encode(offices | {address: Served(itself=itself)}))


def is_ours(data: Path, address: str) -> bool:
    """Whether the program at this address has to prove that it is this data directory's office."""
    host = urlsplit(address).hostname or ""
    if not is_loopback(host) or _wish(data, os.environ) is False:
        return False
    office = served(data).get(canonical(address))
    return office is not None and office.itself


def may_start(data: Path, address: str) -> bool:
    """Whether a program may start the office there by itself."""
    parts = urlsplit(address)
    if parts.scheme != "http" or parts.path or not is_loopback(parts.hostname or ""):
        return False
    wish = _wish(data, os.environ)
    if wish is not None:
        return wish
    at = canonical(address)
    return at == DEFAULT or at in served(data)


def canonical(address: str) -> str:
    """An address in one form: all names of this machine become one."""
    parts = urlsplit(address)
    host = parts.hostname or ""
    shown = "127.0.0.1" if host in ("localhost", "ip6-localhost") else f"[{host}]" if ":" in host else host
    return f"http://{shown}:{parts.port or 80}"


def _wish(data: Path, environ: Mapping[str, str]) -> bool | None:
    """Whether starting it is wanted: by the environment, or by the settings of an office that programs start."""
    wish: Any = environ.get("POSTOFFICE_AUTOSTART", "").strip().lower()
    if not wish and (data / _SETTINGS).exists():
        with suppress(OSError, tomllib.TOMLDecodeError):
            wish = str(tomllib.loads((data / _SETTINGS).read_text()).get("autostart", "")).lower()
            return False if wish in _NO else None  # a file may forbid it, but cannot allow more addresses
    return True if wish in _YES else False if wish in _NO else None


def _put(path: Path, text: bytes, *, anew: bool = False) -> None:
    """Write a file whole or not at all, readable by its owner only; `anew`: only if there is none yet."""
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor, begun = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
        if not anew:
            Path(begun).replace(path)
            return
        try:
            os.link(begun, path)
        except FileExistsError:
            return  # another process was faster
        except OSError:  # a file system without links
            Path(begun).replace(path)
    finally:
        Path(begun).unlink(missing_ok=True)

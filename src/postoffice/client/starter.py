"""The starter: opens this machine's office if it is not open, and makes sure that it is this office that answers."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

from postoffice import __version__
from postoffice.client import own_office
from postoffice.client.lock import private, took
from postoffice.client.plain_http import PlainHttp
from postoffice.client.proving import ask_for_proof
from postoffice.core.errors import NotOurOffice, OfficeNotStarted, StartedByHand
from postoffice.core.proof import OfficeProof, is_older

_OPENS_WITHIN_SECONDS, _CLOSES_WITHIN_SECONDS = 30.0, 15.0
_ASKED_AGAIN_SECONDS = 0.05
_CLOSE_SECONDS = 10.0
_LOG_BYTES = 8 << 20
_OWNER_KEY = "owner.key"
_CONFLICT = 409
# A command's variables for its caller are not for the office.
_NOT_PASSED_ON = ("KEY", "AGENT", "SERVER", "MESSAGE", "SESSION", "SUBJECT", "FROM", "AUTOSTART", "HOST", "PORT", "DATA")


async def ensure_open(address: str, *, start: bool = True) -> None:
    """Open this machine's office at an address, if that is allowed, and check that it is this office before sending it anything."""
    data = own_office.data_folder()
    ours = own_office.is_ours(data, address)
    start = start and own_office.may_start(data, address)
    if not (ours or start):
        return
    server = await _found(data, address, ours=ours)
    if not start or (server is not None and not _is_to_be_replaced(server)):
        return
    async with _alone(data):
        server = await _found(data, address, ours=ours)  # another process may have started it meanwhile
        if server is not None and not _is_to_be_replaced(server):
            return
        if isinstance(server, OfficeProof):
            await _have_closed(data, address)
        await _start(data, address)


async def close(address: str) -> bool:
    """Close this machine's office, if it is open there. Accepted mail is kept, and waiting calls end first."""
    data = own_office.data_folder()
    proof = await ask_for_proof(address, own_office.secret(data))
    if not isinstance(proof, OfficeProof):
        return False
    await _have_closed(data, address)
    return True


def _is_to_be_replaced(proof: "OfficeProof | bool") -> bool:
    """Whether a program of an earlier version started it. An office that a person started is not replaced."""
    return isinstance(proof, OfficeProof) and proof.itself and is_older(proof.version, __version__)


async def _found(data: Path, address: str, *, ours: bool) -> "OfficeProof | bool | None":
    """What answers there: this data directory's office (its proof), something else (True), or nothing (None)."""
    proof = await ask_for_proof(address, own_office.secret(data))
    if proof is True and ours:
        raise NotOurOffice(server=address, data=data)
    return proof


@asynccontextmanager
async def _alone(data: Path) -> AsyncIterator[None]:
    """Let only one process at a time start an office."""
    with _opened(data / own_office.LOCK) as file:
        async with asyncio.timeout(_OPENS_WITHIN_SECONDS + _CLOSES_WITHIN_SECONDS):
            while not took(file):  # noqa: ASYNC110 - a file lock has no event
                await asyncio.sleep(_ASKED_AGAIN_SECONDS)
        yield


async def _have_closed(data: Path, address: str) -> None:
    """Tell the office to close, as its owner, and wait until it has."""
    with suppress(OSError):
        key = (data / _OWNER_KEY).read_text().strip()
        http = PlainHttp(address, {"X-API-Key": key})
        try:
            answer = await http.call("POST", "/close", None, {}, _CLOSE_SECONDS)
        finally:
            http.close()
        if answer.status == _CONFLICT:
            raise StartedByHand
    loop = asyncio.get_running_loop()
    until = loop.time() + _CLOSES_WITHIN_SECONDS
    while await ask_for_proof(address, own_office.secret(data)) is not None:
        if loop.time() > until:
            raise OfficeNotStarted(server=address, why="the earlier one does not close", log=data / own_office.LOG)
        await asyncio.sleep(_ASKED_AGAIN_SECONDS)


async def _start(data: Path, address: str) -> None:
    """Start the office, with its log in the data directory, and wait until it answers."""
    own_office.ensure_secret(data)
    log = data / own_office.LOG
    running = _begun(data, address)
    loop = asyncio.get_running_loop()
    until = loop.time() + _OPENS_WITHIN_SECONDS
    while True:
        proof = await ask_for_proof(address, own_office.secret(data))
        if isinstance(proof, OfficeProof):
            running.returncode = 0  # it goes on without us, and Python must not warn of that
            return
        if running.poll() is not None or loop.time() > until:
            running.kill()
            running.wait()
            raise OfficeNotStarted(server=address, why=_last_line(log), log=log)
        await asyncio.sleep(_ASKED_AGAIN_SECONDS)


def _begun(data: Path, address: str) -> "subprocess.Popen[bytes]":
    log = data / own_office.LOG
    with suppress(OSError):
        if log.stat().st_size > _LOG_BYTES:
            log.replace(log.with_suffix(".log.1"))
    with _opened(log) as file:
        return subprocess.Popen(_words(data, address), stdin=subprocess.DEVNULL, stdout=file, stderr=file, **_detached(data))  # noqa: S603 - words of our own


def _opened(path: Path) -> IO[bytes]:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return open(path, "ab", opener=private)


def _words(data: Path, address: str) -> list[str]:
    """The command line. Python must not import anything from the current working folder."""
    parts = urlsplit(own_office.canonical(address))
    place = ("--host", parts.hostname or "", "--port", str(parts.port), "--data", str(data.absolute()))
    return [sys.executable, "-P", "-m", "postoffice", "serve", "--by-itself", *place]


def _detached(data: Path) -> dict[str, Any]:
    """Detached, so that it outlives its starter. Its working folder is the data directory, so that it reads no project's settings."""
    dropped = {f"POSTOFFICE_{name}" for name in _NOT_PASSED_ON}
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    options: dict[str, Any] = {"cwd": data, "env": environment, "close_fds": True}
    if sys.platform == "win32":
        return options | {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    return options | {"start_new_session": True}


def _last_line(log: Path) -> str:
    with suppress(OSError):
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        return lines[-1].removeprefix("postoffice: ") if lines else "it said nothing"
    return "it left no log"

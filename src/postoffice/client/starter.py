"""The starter: it opens this machine's office when nobody has, and makes sure that whoever answers is that office."""

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
# What a command was told of a caller is nothing to an office.
_NOT_PASSED_ON = ("KEY", "AGENT", "SERVER", "MESSAGE", "SESSION", "SUBJECT", "FROM", "AUTOSTART", "HOST", "PORT", "DATA")


async def ensure_open(address: str, *, start: bool = True) -> None:
    """Have this machine's office open at an address, if it is its own and may be; and know that it is that office, before it is told anything."""
    data = own_office.data_folder()
    ours = own_office.is_ours(data, address)
    start = start and own_office.may_start(data, address)
    if not (ours or start):
        return
    server = await _found(data, address, ours=ours)
    if not start or (server is not None and not _is_to_be_replaced(server)):
        return
    async with _alone(data):
        server = await _found(data, address, ours=ours)  # another may have started it meanwhile
        if server is not None and not _is_to_be_replaced(server):
            return
        if isinstance(server, OfficeProof):
            await _have_closed(data, address)
        await _start(data, address)


async def close(address: str) -> bool:
    """Close this machine's office, if it is open there. What was accepted is kept; whoever waits is sent home first."""
    data = own_office.data_folder()
    proof = await ask_for_proof(address, own_office.secret(data))
    if not isinstance(proof, OfficeProof):
        return False
    await _have_closed(data, address)
    return True


def _is_to_be_replaced(proof: "OfficeProof | bool") -> bool:
    """Whether a program of an earlier version has started it. What a person started is theirs to replace."""
    return isinstance(proof, OfficeProof) and proof.itself and is_older(proof.version, __version__)


async def _found(data: Path, address: str, *, ours: bool) -> "OfficeProof | bool | None":
    """Who answers there: this data directory's office, somebody else (True), or nobody."""
    proof = await ask_for_proof(address, own_office.secret(data))
    if proof is True and ours:
        raise NotOurOffice(server=address, data=data)
    return proof


@asynccontextmanager
async def _alone(data: Path) -> AsyncIterator[None]:
    """However many begin together, one at a time starts an office."""
    with _opened(data / own_office.LOCK) as file:
        async with asyncio.timeout(_OPENS_WITHIN_SECONDS + _CLOSES_WITHIN_SECONDS):
            while not took(file):  # noqa: ASYNC110 - a lock of the system's has no event
                await asyncio.sleep(_ASKED_AGAIN_SECONDS)
        yield


async def _have_closed(data: Path, address: str) -> None:
    """Tell it to close as its owner, and wait until it has."""
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
            raise OfficeNotStarted(server=address, why="the one before it does not close", log=data / own_office.LOG)
        await asyncio.sleep(_ASKED_AGAIN_SECONDS)


async def _start(data: Path, address: str) -> None:
    """Start it by itself, with its log in the data directory, and wait until it answers."""
    own_office.ensure_secret(data)
    log = data / own_office.LOG
    running = _begun(data, address)
    loop = asyncio.get_running_loop()
    until = loop.time() + _OPENS_WITHIN_SECONDS
    while True:
        proof = await ask_for_proof(address, own_office.secret(data))
        if isinstance(proof, OfficeProof):
            running.returncode = 0  # it goes on without us, who say no more of it
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
    """The command. Nothing that lies in whatever folder somebody works in is part of the program."""
    parts = urlsplit(own_office.canonical(address))
    place = ("--host", parts.hostname or "", "--port", str(parts.port), "--data", str(data.absolute()))
    return [sys.executable, "-P", "-m", "postoffice", "serve", "--by-itself", *place]


def _detached(data: Path) -> dict[str, Any]:
    """It outlives whoever started it, and works in its own folder: settings lie there, and not where a project is."""
    dropped = {f"POSTOFFICE_{name}" for name in _NOT_PASSED_ON}
    environment = {name: value for name, value in os.environ.items() if name not in dropped}
    given: dict[str, Any] = {"cwd": data, "env": environment, "close_fds": True}
    if sys.platform == "win32":
        return given | {"creationflags": subprocess.DETACHED_PROCESS | subprocess.CREATE_NEW_PROCESS_GROUP}
    return given | {"start_new_session": True}


def _last_line(log: Path) -> str:
    with suppress(OSError):
        lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
        return lines[-1].removeprefix("postoffice: ") if lines else "it said nothing"
    return "it left no log"

"""Attachments over the wire: uploaded piece by piece and fetched the same way, so that a connection that breaks costs one piece."""

import asyncio
import hashlib
import mimetypes
import os
import secrets
import tempfile
from collections.abc import AsyncIterable, AsyncIterator, Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO, Any

import msgspec

from postoffice.client.path import part
from postoffice.client.wire import Wire, until_answered
from postoffice.core.attachment import ANY_TYPE, PREFIX, Attachment, check_filename, digest_of, fallback_name
from postoffice.core.errors import BadSetting, DigestMismatch, Invalid, NoSuchAttachment, NoSuchUpload, WrongOffset

Source = str | os.PathLike[str] | bytes | AsyncIterable[bytes]
Told = Callable[[int, int], None]
"""Hears how many bytes are done, and of how many."""
_PIECE_BYTES = 2 << 20
_PATIENCE_SECONDS = 60.0
_NAMES_TRIED = 1000


def _unheard(_done: int, _of: int) -> None:
    """Nobody wants to hear how far it is."""


async def upload(wire: Wire, source: Source, name: str = "", type: str = "", told: Told = _unheard) -> Attachment:
    """Upload a file by its path, bytes, or what a stream gives."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        kind = type or mimetypes.guess_type(path.name)[0] or ANY_TYPE
        try:
            with await asyncio.to_thread(path.open, "rb") as file:
                return await _uploaded(wire, file, os.fstat(file.fileno()).st_size, name or path.name, kind, told)
        except OSError as error:
            raise BadSetting(name="file", why=str(error)) from None
    kind = type or mimetypes.guess_type(name)[0] or ANY_TYPE
    with tempfile.TemporaryFile() as file:
        if isinstance(source, bytes):
            file.write(source)
        else:
            async for chunk in source:  # how much there will be has to be said first
                await asyncio.to_thread(file.write, chunk)
        size = file.tell()
        file.seek(0)
        return await _uploaded(wire, file, size, name, kind, told)


async def _uploaded(wire: Wire, file: IO[bytes], size: int, name: str, type: str, told: Told) -> Attachment:
    body = {"size": size, "name": name, "type": type}
    begun = await until_answered(lambda: wire.post("/attachments/uploads", body), _PATIENCE_SECONDS)
    path, digest, done = f"/attachments/uploads/{begun['id']}", hashlib.sha256(), 0
    try:
        while True:
            piece = await asyncio.to_thread(file.read, _PIECE_BYTES)
            digest.update(piece)
            progress = await until_answered(_Piece(wire, path, done, piece).send, _PATIENCE_SECONDS)
            done += len(piece)
            told(done, size)
            if "attachment" in progress:
                found = msgspec.convert(progress["attachment"], Attachment)
                break
            if not piece:
                raise Invalid(what="the file", why=f"it has become shorter than {size} bytes while it was uploaded")
    except NoSuchUpload:  # it may be done, and only the answer was lost
        found = Attachment(PREFIX + digest.hexdigest(), name, type, size)
        if done + len(piece) != size or not await _is_there(wire, found):
            raise
    if found.digest != PREFIX + digest.hexdigest():
        raise DigestMismatch(found=found.digest, digest=PREFIX + digest.hexdigest())
    return found


class _Piece:
    """One piece of an upload. Sent again it begins where the office has it."""

    def __init__(self, wire: Wire, path: str, begin: int, piece: bytes) -> None:
        self._wire = wire
        self._path = path
        self._begin = begin
        self._piece = piece
        self._at = begin

    async def send(self) -> Any:
        try:
            return await self._patch()
        except WrongOffset:  # what broke off before has come as far as this
            self._at = (await self._wire.get(self._path))["offset"]
            if not self._begin <= self._at <= self._begin + len(self._piece):
                raise
            return await self._patch()

    async def _patch(self) -> Any:
        rest = self._piece[self._at - self._begin :]
        said = {"Content-Type": ANY_TYPE, "Upload-Offset": str(self._at)}
        return msgspec.json.decode(await self._wire.raw("PATCH", self._path, rest, said))


async def _is_there(wire: Wire, found: Attachment) -> bool:
    least = min(found.size, 1)
    with suppress(NoSuchAttachment):
        return len(await until_answered(partial(_fetched, wire, found, 0, least), _PATIENCE_SECONDS)) == least
    return False


async def pieces(wire: Wire, wanted: Attachment, told: Told = _unheard) -> AsyncIterator[bytes]:
    """The bytes of an attachment, piece by piece. That they are the right ones is certain at the end."""
    digest, done = hashlib.sha256(), 0
    while done < wanted.size:
        end = min(done + _PIECE_BYTES, wanted.size)
        piece = await until_answered(partial(_fetched, wire, wanted, done, end), _PATIENCE_SECONDS)
        digest.update(piece)
        done += len(piece)
        yield piece
        told(done, wanted.size)
    if PREFIX + digest.hexdigest() != digest_of(wanted.digest):
        raise DigestMismatch(found=PREFIX + digest.hexdigest(), digest=wanted.digest)


async def _fetched(wire: Wire, wanted: Attachment, begin: int, end: int) -> bytes:
    said = {"Range": f"bytes={begin}-{end - 1}"} if end > begin else {"Range": "bytes"}
    return await wire.raw("GET", f"/attachments/{part(wanted.digest)}", None, said)


async def save(wire: Wire, wanted: Attachment, folder: str | os.PathLike[str] = ".", told: Told = _unheard) -> Path:
    """Save an attachment in a folder, under its name or one like it; nothing that is there is written over."""
    name = check_filename(wanted.name or fallback_name(wanted.digest))
    place = Path(folder)
    begun = place / f".{secrets.token_hex(8)}.part"
    try:
        with begun.open("xb") as file:
            async for piece in pieces(wire, wanted, told):
                await asyncio.to_thread(file.write, piece)
        return _named(begun, place, name)
    except OSError as error:
        raise BadSetting(name="folder", why=str(error)) from None
    finally:
        begun.unlink(missing_ok=True)


def _named(begun: Path, folder: Path, name: str) -> Path:
    stem, dot, ending = name.rpartition(".") if "." in name.lstrip(".") else (name, "", "")
    for number in range(1, _NAMES_TRIED):
        path = folder / (name if number == 1 else f"{stem} ({number}){dot}{ending}")
        try:
            path.open("xb").close()
        except FileExistsError:
            continue
        begun.replace(path)
        return path
    raise BadSetting(name="folder", why=f"there are {_NAMES_TRIED} files named like {name!r} already")

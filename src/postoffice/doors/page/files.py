"""Files that letters carry, at the page: looked at where that is safe, saved, and brought for a letter that is being written."""

from collections.abc import Sequence
from http import HTTPStatus
from urllib.parse import quote

import msgspec
from starlette.responses import Response, StreamingResponse

from postoffice.core.agent import Caller
from postoffice.core.attachment import ANY_TYPE, LOOKED_AT_BYTES, Attachment, Kept
from postoffice.core.errors import NoSuchAttachment, NoSuchPath
from postoffice.core.names import folded
from postoffice.doors.page.look import Look

_PICTURES = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF87a": "image/gif", b"GIF89a": "image/gif"}
"""Pictures by how they begin: what a letter says of them nobody believes."""
_HEAD_BYTES = 16
_SEALED = {"Content-Security-Policy": "sandbox; default-src 'none'"}


async def file(look: Look) -> Response:
    """What a letter carries, by its place there: to be saved, or with `show` to be looked at."""
    carried, kept = await _found(look)
    if look.asked("show") is None:
        name = quote(carried.name, safe="")
        headers = _SEALED | {"Content-Length": str(kept.size), "Content-Disposition": f"attachment; filename*=UTF-8''{name}"}
        return StreamingResponse(look.office.attachments.read(kept), headers=headers, media_type=ANY_TYPE)
    head = await _read(look, kept, min(_HEAD_BYTES, kept.size))
    kind = _picture(head)
    whole = await _read(look, kept, kept.size) if kept.size <= LOOKED_AT_BYTES else None
    if whole is None or (kind is None and not _is_text(whole)):
        raise NoSuchPath(path=f"{look.request.url.path}?show=1")
    return Response(whole, headers=_SEALED, media_type=kind or "text/plain; charset=utf-8")


async def bring(look: Look) -> Response:
    """Bytes for a letter that is being written; its form then names them."""
    length = look.request.headers.get("content-length", "")
    said = Attachment("", look.asked("name") or "", "")
    size = int(length) if length.isdecimal() else None
    brought = await look.office.attachments.upload(look.caller, said, size, look.request.stream())
    return Response(msgspec.json.encode(brought), HTTPStatus.CREATED, media_type="application/json")


async def carried(look: Look, voice: Caller, digests: Sequence[str]) -> tuple[Attachment, ...]:
    """What a form names, as the one who sends it has it: who lends their voice brings their files along."""
    found = []
    for digest in digests:
        kept = await look.office.attachments.fetch(look.caller, digest)
        if folded(voice.name) != folded(look.caller.name):
            await look.office.attachments.upload(voice, kept.attachment(), kept.size, look.office.attachments.read(kept))
        found.append(Attachment(kept.digest, kept.name))
    return tuple(found)


async def _found(look: Look) -> tuple[Attachment, Kept]:
    """The attachment, and its bytes, for one who may fetch them."""
    message = (await look.office.status(look.caller, look.part("id"))).message
    place = look.part("place")
    attachments = () if message is None else message.attachments
    if not place.isdecimal() or int(place) >= len(attachments):
        raise NoSuchAttachment(name=look.caller.name, digest=place)
    one = attachments[int(place)]
    return one, await look.office.attachments.fetch(look.caller, one.digest)


async def _read(look: Look, kept: Kept, size: int) -> bytes:
    return b"".join([piece async for piece in look.office.attachments.read(kept, 0, size)])


def _picture(head: bytes) -> str | None:
    if head.startswith(b"RIFF") and head[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for begin, kind in _PICTURES.items() if head.startswith(begin)), None)


def _is_text(raw: bytes) -> bool:
    try:
        return "\x00" not in raw.decode()
    except UnicodeDecodeError:
        return False

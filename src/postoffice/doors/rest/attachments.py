"""Attachments: bytes are uploaded, in one go or with interruptions, and fetched by those whose letters carry them."""

import base64
from collections.abc import AsyncIterator
from typing import Annotated, Any
from urllib.parse import quote

import msgspec
from fastapi import Path, Request, Response
from pydantic import Field
from starlette.responses import StreamingResponse

from postoffice.core.attachment import ANY_TYPE, PREFIX, Attachment, Kept, Upload, digest_of_header, part_wanted
from postoffice.core.errors import BadRange, Invalid
from postoffice.doors.edge import error_response
from postoffice.doors.rest.answer import answer, gives
from postoffice.doors.rest.body import Body, router
from postoffice.doors.rest.call import Call, Identified
from postoffice.doors.rest.examples import WHEN
from postoffice.doors.rest.paging import Cursor, Limit

routes = router("attachments")

DIGEST = f"{PREFIX}{'9f86d081884c7d65' * 4}"
ATTACHMENT: dict[str, Any] = {"digest": DIGEST, "name": "report.pdf", "type": "application/pdf", "size": 48213}
_ID = "0199d2a0-0000-7000-8000-000000000030"
_UPLOAD = {
    "id": _ID,
    "size": 104857600,
    "offset": 33554432,
    "digest": DIGEST,
    "name": "report.pdf",
    "type": "application/pdf",
    "expires_at": WHEN,
}
_UNTYPED = frozenset({"", "application/x-www-form-urlencoded"})
"""What a client says that was not told what it sends."""
_OK, _PART, _UNCHANGED = 200, 206, 304
DigestText = Annotated[str, Path(max_length=255, examples=[DIGEST])]
UploadId = Annotated[str, Path(max_length=255, examples=[_ID])]


class UploadBody(Body):
    """Bytes that are to come."""

    size: int = Field(ge=0, description="How many bytes there will be.")
    name: str = Field("", max_length=255, examples=["report.pdf"], description="A file's name, without any folder.")
    type: str = Field("", max_length=255, examples=["application/pdf"])
    digest: str | None = Field(None, max_length=255, examples=[DIGEST], description="What they have to have.")


class Progress(msgspec.Struct, frozen=True, omit_defaults=True):
    """How far an upload is; with its last byte it is an attachment."""

    upload: Upload | None = None
    attachment: Attachment | None = None


class Own(msgspec.Struct, frozen=True):
    """What the caller has uploaded or sent, how many bytes that is, and how many it may be (0: no limit)."""

    attachments: tuple[Attachment, ...]
    kept: int
    quota: int
    cursor: str | None


def _query(name: str, text: str) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "description": text, "schema": {"type": "string", "maxLength": 255}}


def _header(name: str, text: str, *, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": "header", "required": required, "description": text, "schema": {"type": "string"}}


def _takes_bytes(declared: dict[str, Any]) -> dict[str, Any]:
    body = {"required": True, "content": {ANY_TYPE: {"schema": {"type": "string", "format": "binary"}}}}
    return declared | {"openapi_extra": declared["openapi_extra"] | {"requestBody": body}}


_SAID = [
    _query("name", "A file's name, without any folder."),
    _query("type", "Its media type; without it, the request's Content-Type."),
    _query("digest", "The SHA-256 that the bytes have to have; the header Content-Digest says the same."),
]


@routes.get("/attachments", **gives(Own, {"attachments": [ATTACHMENT], "kept": 48213, "quota": 10737418240, "cursor": None}))
async def own(call: Identified, cursor: Cursor = None, limit: Limit = None) -> Response:
    """What the caller has uploaded or sent, as long as it is kept."""
    page, kept = await call.office.attachments.mine(call.caller, cursor, limit)
    return answer(Own(page.items, kept, call.office.rules.limits.attachment_quota, page.cursor))


@routes.post("/attachments", **_takes_bytes(gives(Attachment, ATTACHMENT, 201, parameters=_SAID)))
async def upload(call: Identified, request: Request) -> Response:
    """Upload bytes in one go. Whether they are here already nobody is told."""
    length = request.headers.get("content-length", "")
    size = int(length) if length.isdecimal() else None
    return answer(await call.office.attachments.upload(call.caller, _said(request), size, request.stream()), 201)


@routes.post("/attachments/uploads", **gives(Upload, _UPLOAD | {"offset": 0}, 201))
async def begin(body: UploadBody, call: Identified) -> Response:
    """Begin an upload that may be interrupted. It waits a day for more by default."""
    said = Attachment(body.digest or "", body.name, body.type)
    return answer(await call.office.attachments.begin(call.caller, said, body.size), 201)


@routes.get("/attachments/uploads/{id}", **gives(Upload, _UPLOAD))
async def under_way(id: UploadId, call: Identified) -> Response:
    """How far an upload is."""
    return answer(await call.office.attachments.under_way(call.caller, id))


async def offset(id: UploadId, call: Identified) -> Response:
    """The same in headers."""
    found = await call.office.attachments.under_way(call.caller, id)
    return Response(None, headers={"Upload-Offset": str(found.offset), "Upload-Length": str(found.size)})


_OFFSET = [_header("Upload-Offset", "Where these bytes begin: where the upload stands.", required=True)]


@routes.patch("/attachments/uploads/{id}", **_takes_bytes(gives(Progress, {"attachment": ATTACHMENT}, parameters=_OFFSET)))
async def go_on(id: UploadId, call: Identified, request: Request) -> Response:
    """More of an upload. What came is kept, also where the connection is cut; with the last byte it is done."""
    given = request.headers.get("upload-offset", "")
    if not given.isascii() or not given.isdecimal():
        raise Invalid(what="Upload-Offset", why="it is a number of bytes, and this header has to be there")
    outcome = await call.office.attachments.go_on(call.caller, id, int(given), request.stream())
    return answer(Progress(upload=outcome) if isinstance(outcome, Upload) else Progress(attachment=outcome))


@routes.delete("/attachments/uploads/{id}", **gives(Progress, {}))
async def drop(id: UploadId, call: Identified) -> Response:
    """Give up an upload; nothing of it is kept."""
    await call.office.attachments.drop(call.caller, id)
    return answer(Progress())


_FETCHED: dict[str, Any] = {
    "response_class": Response,
    "responses": {
        code: {"description": what, "content": {ANY_TYPE: {"schema": {"type": "string", "format": "binary"}, "example": "the bytes"}}}
        for code, what in ((_OK, "The bytes."), (_PART, "Those that Range asks for."))
    },
    "openapi_extra": {"parameters": [_header("Range", "Some of them, as bytes=0-99.")]},
}


@routes.get("/attachments/{digest}", **_FETCHED)
async def fetch(digest: DigestText, call: Identified, request: Request) -> Response:
    """The bytes, for the sender and the recipients of a letter that carries them. For all others there are none."""
    kept = await call.office.attachments.fetch(call.caller, digest)
    headers = _described(kept)
    if _matches(request.headers.get("if-none-match"), headers["ETag"]):
        return Response(None, _UNCHANGED, headers)
    whole = "if-range" in request.headers and request.headers["if-range"] != headers["ETag"]
    try:
        wanted = None if whole else part_wanted(request.headers.get("range"), kept.size)
    except BadRange as error:
        return error_response(error, [("Content-Range", f"bytes */{kept.size}")])
    begin, end = wanted or (0, kept.size)
    headers |= {"Content-Length": str(end - begin)} | ({} if wanted is None else {"Content-Range": f"bytes {begin}-{end - 1}/{kept.size}"})
    pieces = await _begun(call, kept, begin, end)
    return StreamingResponse(pieces, _OK if wanted is None else _PART, headers, media_type=ANY_TYPE)


async def describe(digest: DigestText, call: Identified) -> Response:
    """Whether the caller may fetch them, and how many there are."""
    kept = await call.office.attachments.fetch(call.caller, digest)
    return Response(None, headers=_described(kept) | {"Content-Length": str(kept.size)}, media_type=ANY_TYPE)


def _said(request: Request) -> Attachment:
    """What an upload says of itself, besides its bytes."""
    given = request.query_params
    kind = request.headers.get("content-type", "").partition(";")[0].strip()
    header = request.headers.get("content-digest")
    digest = given.get("digest") or (digest_of_header(header) if header else None)
    return Attachment(digest or "", given.get("name", ""), given.get("type") or ("" if kind in _UNTYPED else kind))


def _described(kept: Kept) -> dict[str, str]:
    """What is said of bytes that are fetched. No browser shows them as a page of the office's, whatever they are."""
    name = kept.name or kept.digest.removeprefix(PREFIX)[:16]
    digest = base64.b64encode(bytes.fromhex(kept.digest.removeprefix(PREFIX))).decode()
    return {
        "ETag": f'"{kept.digest}"',
        "Accept-Ranges": "bytes",
        "Repr-Digest": f"sha-256=:{digest}:",
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(name, safe='')}",
        "Content-Security-Policy": "sandbox",
    }


def _matches(given: str | None, tag: str) -> bool:
    return given is not None and (given.strip() == "*" or tag in (one.strip().removeprefix("W/") for one in given.split(",")))


async def _begun(call: Call, kept: Kept, begin: int, end: int) -> AsyncIterator[bytes]:
    """The bytes, the first of them read already: whatever keeps them from being read is told, and not broken off."""
    pieces = call.office.attachments.read(kept, begin, end)
    first = await anext(pieces, b"")

    async def all_of_it() -> AsyncIterator[bytes]:
        yield first
        async for piece in pieces:
            yield piece

    return all_of_it()


# What these two say the documentation says of GET.
routes.add_api_route("/attachments/uploads/{id}", offset, methods=["HEAD"], include_in_schema=False)
routes.add_api_route("/attachments/{digest}", describe, methods=["HEAD"], include_in_schema=False)

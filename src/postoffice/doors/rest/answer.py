"""Answers: the office's own values as JSON, and what the documentation says of them."""

from typing import Any

import msgspec
from fastapi import Response

from postoffice.doors.reply import Json

_encode = msgspec.json.Encoder().encode
SHAPES: dict[str, type] = {}
"""Every shape an endpoint answers with, by name."""


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """Why not: a sentence for people, a stable code for programs."""

    detail: str
    code: str
    retry_after: int | None = None
    """Seconds, where one of several has to come back later; an answer by itself says so in its header."""


SHAPES["Problem"] = Problem


PROBLEM: dict[str, Any] = {
    "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Problem"}}},
    "description": "Why not.",
}


def answer(value: object, status: int = 200) -> Response:
    """A value as JSON."""
    return Json(_encode(value), status)


def gives(
    shape: type,
    example: object,
    status: int = 200,
    *,
    known: bool = False,
    public: bool = False,
    parameters: list[dict[str, Any]] | None = None,
) -> dict[str, Any]:
    """What an endpoint declares of its answer, and of parameters it reads itself; a public one needs neither key nor name.

    `known`: it answers 200 where what it makes is there already.
    """
    SHAPES[shape.__name__] = shape
    content = {"schema": {"$ref": f"#/components/schemas/{shape.__name__}"}, "example": example}
    what = (shape.__doc__ or "").strip().splitlines()[0]
    responses = {code: {"description": what, "content": {"application/json": content}} for code in ((status, 200) if known else (status,))}
    extra: dict[str, Any] = ({"security": []} if public else {}) | ({"parameters": parameters} if parameters else {})
    return {"status_code": status, "response_class": Response, "responses": responses, "openapi_extra": extra}


def schemas() -> dict[str, Any]:
    """The shapes as JSON schema."""
    _, components = msgspec.json.schema_components(SHAPES.values(), ref_template="#/components/schemas/{name}")
    return components

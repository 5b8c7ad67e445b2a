"""Bodies read strictly: what JSON cannot carry there and back is refused before anything looks at it."""

import inspect
from collections.abc import Awaitable, Callable
from typing import Any, get_args, get_type_hints

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, ValidationError

from postoffice.core.errors import BadJson
from postoffice.core.text import MAX_DEPTH
from postoffice.doors.edge import Refusal
from postoffice.doors.rest.answer import PROBLEM
from postoffice.doors.rest.visit import Visit, visitor


class Body(BaseModel):
    """A request's body. A field nobody knows is a slip of the pen, and told so."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _Request(Request):
    async def json(self) -> Any:
        """The body, or a refusal that says what is wrong with it."""
        return decode_json(await self.body())


def decode_json(raw: bytes) -> Any:
    """JSON, or a refusal that says what is wrong with it."""
    try:
        return msgspec.json.decode(raw)
    except RecursionError:
        raise Refusal(BadJson(why=f"it is nested deeper than {MAX_DEPTH}")) from None
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Refusal(BadJson(why=str(error))) from None


class _Route(APIRoute):
    """FastAPI's route, but its solver is asked only where there is something to solve.

    Most calls bring a body and a caller and nothing else; for those the solver costs more than all the rest of the door.
    """

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]  # what FastAPI awaits
        wanted = _plain_wants(self.endpoint)
        if wanted is not None:
            return _plain_handler(self.endpoint, wanted)
        handler = super().get_route_handler()

        async def read_strictly(request: Request) -> Response:
            return await handler(_Request(request.scope, request.receive))

        return read_strictly


class _Wants(msgspec.Struct, frozen=True):
    """What an endpoint takes besides its caller."""

    body: type[BaseModel] | None
    optional: bool
    request: bool


def _plain_wants(endpoint: Callable[..., Any]) -> _Wants | None:
    """What a plain endpoint takes; None for one that takes more than a caller, a body and the request."""
    hints = get_type_hints(endpoint)
    names = set(inspect.signature(endpoint).parameters)
    if "visit" not in names or hints["visit"] is not Visit or names - {"visit", "body", "request"}:
        return None
    kinds = [kind for kind in get_args(hints.get("body")) or (hints.get("body"),) if kind not in (None, type(None))]
    return _Wants(kinds[0] if kinds else None, type(None) in get_args(hints.get("body")), "request" in names)


def _plain_handler(endpoint: Callable[..., Any], wanted: _Wants) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        given: dict[str, Any] = {"visit": await visitor(request)}
        if wanted.body is not None:
            given["body"] = await _read(request, wanted.body, optional=wanted.optional)
        if wanted.request:
            given["request"] = request
        response: Response = await endpoint(**given)
        return response

    return handle


async def _read(request: Request, kind: type[BaseModel], *, optional: bool) -> BaseModel | None:
    raw = await request.body()
    if not raw and optional:
        return None
    # A page of another origin can post text without asking first, but not JSON that says it is JSON.
    mime = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    value = decode_json(raw) if mime == "application/json" or mime.endswith("+json") else raw
    try:
        return kind.model_validate(value)
    except ValidationError as error:
        raise RequestValidationError([item | {"loc": ("body", *item["loc"])} for item in error.errors(include_url=False)]) from None


def router(tag: str) -> APIRouter:
    """A router whose bodies are read strictly."""
    return APIRouter(tags=[tag], route_class=_Route, responses={"default": PROBLEM})

"""Bodies read strictly: what JSON cannot carry there and back is refused before anything looks at it."""

import inspect
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, TypeVar, get_args, get_type_hints

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.params import Query
from fastapi.routing import APIRoute
from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    ValidatorFunctionWrapHandler,
    WrapValidator,
)
from pydantic.fields import FieldInfo
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from postoffice.core.clock import own_writing
from postoffice.core.errors import BadJson, Invalid
from postoffice.core.text import MAX_DEPTH
from postoffice.doors.edge import Refusal
from postoffice.doors.rest.answer import PROBLEM
from postoffice.doors.rest.call import Call, identified

T = TypeVar("T")
_FAULTS_TOLD = 5
_CONTENT_TYPE, _JSON = b"content-type", b"application/json"
# What is allowed are settings, which the office knows. These bounds only keep what is read within reach, whatever the settings say.
MOST_SECONDS = 1_000_000_000
MOST_ITEMS = 10_000
Uuid = Annotated[str, Field(max_length=64), AfterValidator(own_writing)]
"""An id that the office gave, written as the caller writes such ids."""


class Body(BaseModel):
    """A request's body. A field nobody knows is a slip of the pen, and told so."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Unfit(msgspec.Struct, frozen=True):
    """One of several items that is not what it should be, and in what way."""

    given: Any
    why: Invalid


def _by_itself(given: Any, read: ValidatorFunctionWrapHandler, about: ValidationInfo) -> Any:
    try:
        return read(given)
    except ValidationError as error:
        return Unfit(given, wrong_input([item | {"loc": (about.field_name, *item["loc"])} for item in error.errors(include_url=False)]))


BY_ITSELF = WrapValidator(_by_itself)
"""Marks an item of several that is read by itself: where it is not right an `Unfit` stands in its place, and harms none of the others."""


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


class PlainRoute(APIRoute):
    """FastAPI's route, but its solver is asked only where there is something to solve.

    Most calls bring a caller, a body and what their path names, and nothing else; for those the solver costs more than all the rest.
    """

    plain: Callable[[Request], Awaitable[Response]] | None = None
    """What answers a call that needs no solver."""

    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]  # what FastAPI awaits
        wanted = _plain_wants(self.endpoint, self.param_convertors.keys())
        if wanted is not None:
            self.plain = _plain_handler(self.endpoint, wanted)
            return self.plain
        handler = super().get_route_handler()

        async def read_strictly(request: Request) -> Response:
            # What counts as JSON is said once, here and not by the framework, which reads it from the header in its own way.
            kind = _JSON if _is_json(request.scope) else b"application/octet-stream"
            headers = [(name, value) for name, value in request.scope["headers"] if name != _CONTENT_TYPE]
            return await handler(_Request({**request.scope, "headers": [*headers, (_CONTENT_TYPE, kind)]}, request.receive))

        return read_strictly


class _Wants(msgspec.Struct, frozen=True):
    """What an endpoint takes besides its caller."""

    body: type[BaseModel] | None
    optional: bool
    request: bool
    named: Mapping[str, Callable[[Any], Any]]
    """What its path names, and what reads it."""
    asked: Mapping[str, Callable[[Any], Any]]
    """What its address may ask for, and what reads it."""


def _plain_wants(endpoint: Callable[..., Any], in_path: Collection[str]) -> _Wants | None:
    """What a plain endpoint takes; None for one that takes more than a caller, a body, the request, and what its path and its query say."""
    hints = get_type_hints(endpoint)
    names = set(inspect.signature(endpoint).parameters)
    if "call" not in names or hints["call"] is not Call:
        return None
    kinds = [kind for kind in get_args(hints.get("body")) or (hints.get("body"),) if kind not in (None, type(None))]
    with_bounds = get_type_hints(endpoint, include_extras=True)
    named = {name: TypeAdapter(with_bounds[name]).validator.validate_python for name in in_path}
    others = names - {"call", "body", "request", *in_path}
    if not all(_is_plain_query(with_bounds[name], hints[name]) for name in others):
        return None
    asked = {name: TypeAdapter(with_bounds[name]).validator.validate_python for name in others}
    return _Wants(kinds[0] if kinds else None, type(None) in get_args(hints.get("body")), "request" in names, named, asked)


def _is_plain_query(with_bounds: Any, hint: Any) -> bool:
    """Whether it is one word, number or truth of the query, under its own name."""
    said = [one for one in get_args(with_bounds)[1:] if isinstance(one, FieldInfo)]
    kinds = set(get_args(hint) or (hint,)) - {type(None)}
    return bool(said) and all(isinstance(one, Query) and one.alias is None for one in said) and kinds <= {str, int, bool}


def _plain_handler(endpoint: Callable[..., Any], wanted: _Wants) -> Callable[[Request], Awaitable[Response]]:
    async def handle(request: Request) -> Response:
        arguments: dict[str, Any] = {"call": await identified(request)}
        for name, validate in wanted.named.items():
            arguments[name] = _valid(validate, request.scope["path_params"][name], name)
        if wanted.asked and request.scope["query_string"]:
            query = request.query_params
            arguments |= {name: _valid(validate, query[name], name) for name, validate in wanted.asked.items() if name in query}
        if wanted.body is not None:
            arguments["body"] = await _read(request, wanted.body, optional=wanted.optional)
        if wanted.request:
            arguments["request"] = request
        response: Response = await endpoint(**arguments)
        return response

    return handle


async def _read(request: Request, kind: type[BaseModel], *, optional: bool) -> BaseModel | None:
    raw = await _whole(request.receive)
    if not raw and optional:
        return None
    value = decode_json(raw) if raw and _is_json(request.scope) else raw
    if value is None and optional:
        return None
    validate: Callable[[Any], BaseModel] = kind.__pydantic_validator__.validate_python  # model_validate costs as much again for its options
    return _valid(validate, value)


def _is_json(scope: Scope) -> bool:
    """A page of another origin can post text without asking first, but not JSON that says it is JSON."""
    mime: bytes = dict(scope["headers"]).get(_CONTENT_TYPE, b"").partition(b";")[0].strip().lower()
    return mime == _JSON or (mime.startswith(b"application/") and mime.endswith(b"+json"))


def _valid(validate: Callable[[Any], T], value: Any, name: str = "") -> T:
    try:
        return validate(value)
    except ValidationError as error:
        raise wrong_input([item | {"loc": (name, *item["loc"])} if name else item for item in error.errors(include_url=False)]) from None


async def _whole(receive: Receive) -> bytes:
    message = await receive()
    raw: bytes = message.get("body", b"")
    while message.get("more_body", False):
        message = await receive()
        raw += message.get("body", b"")
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    return raw


def wrong_input(errors: Sequence[Any]) -> Invalid:
    """All that is wrong with a request, in one sentence."""
    fields: dict[str, str] = {}
    for item in errors:
        where = ".".join(str(step) for step in item["loc"] if step not in ("body", "query", "path", "header"))
        fields.setdefault(where or "body", _why(item, where))
    (what, why), *others = fields.items()
    return Invalid(what=what, why="; ".join([why, *(f"{other}: {reason}" for other, reason in others[:_FAULTS_TOLD])]))


def _why(item: Any, where: str) -> str:
    """What pydantic found, in its words but for a body that is no JSON to begin with."""
    if item["type"] in ("model_attributes_type", "model_type") or (item["type"] == "missing" and not where):
        return "send a JSON object" + ("" if where else ", with the header Content-Type: application/json")
    return str(item["msg"]).removeprefix("Value error, ")


def router(tag: str) -> APIRouter:
    """A router whose bodies are read strictly."""
    return APIRouter(tags=[tag], route_class=PlainRoute, responses={"default": PROBLEM})

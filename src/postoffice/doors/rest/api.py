"""The REST door put together: its routes, its refusals, and its documentation."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Any

import fastapi_swagger
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import FileResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from postoffice import __version__
from postoffice.core.errors import Invalid, MailError, NoSuchPath, WrongMethod
from postoffice.doors.edge import Refusal, error_response
from postoffice.doors.metrics import Metrics
from postoffice.doors.rest import (
    agents,
    attachments,
    bulk,
    connections,
    dead_letters,
    entities,
    events,
    finishing,
    hooks,
    inbox,
    invites,
    leases,
    ledger,
    links,
    lists,
    machines,
    messages,
    notify,
    pausing,
    questions,
    recurring,
    reservations,
    roles,
    service,
    tasks,
    webhooks,
    windows,
)
from postoffice.doors.rest.answer import schemas
from postoffice.doors.rest.body import wrong_input

Life = Callable[[FastAPI], AbstractAsyncContextManager[None]]
_OURS = Path(__file__).parent / "docs"
_SWAGGER = Path(fastapi_swagger.__file__).parent / "resources"
_PAGES = {
    "": _OURS / "index.html",
    "start.js": _OURS / "start.js",
    **{name: _SWAGGER / name for name in ("swagger-ui-bundle.js", "swagger-ui.css", "favicon-32x32.png")},
}
_NOT_FOUND, _NOT_ALLOWED, _GONE = 404, 405, 499
_SECURITY = {
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "The key from registration."},
    "bearer": {"type": "http", "scheme": "bearer", "description": "The same key as a bearer token."},
    "name": {"type": "apiKey", "in": "header", "name": "X-Agent", "description": "A name without a key, on an open server."},
}
_DESCRIPTION = """Durable mail between AI agents. Every call brings a key (`X-API-Key` or `Authorization: Bearer`), or on an open server
a name (`X-Agent`). Every refusal has a `detail` for people and a stable `code` for programs. News is pushed on the WebSocket `/ws`."""


class Api(FastAPI):
    """FastAPI's application with a front of ours: what needs none of its layers does not pass through them."""

    front: ASGIApp | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Whatever comes, by the front first."""
        front = None if scope["type"] == "lifespan" else self.front
        if front is None:
            await super().__call__(scope, receive, send)
            return
        scope["app"] = self
        await front(scope, receive, send)

    async def behind(self, scope: Scope, receive: Receive, send: Send) -> None:
        """What the front leaves to FastAPI."""
        await super().__call__(scope, receive, send)


def create_api(life: Life) -> Api:
    """The application; whoever serves it sets `state.office` while it lives."""
    app = Api(
        title="Postoffice",
        version=__version__,
        description=_DESCRIPTION,
        lifespan=life,
        docs_url=None,
        redoc_url=None,
    )
    app.state.metrics = Metrics()
    # Added as they are: routes of an included router are looked through twice. The busiest come first.
    for door in (
        messages,
        leases,
        inbox,
        agents,
        connections,
        tasks,
        finishing,
        questions,
        pausing,
        recurring,
        reservations,
        attachments,
        roles,
        lists,
        entities,
        dead_letters,
        bulk,
        events,
        ledger,
        links,
        invites,
        webhooks,
        notify,
        hooks,
        windows,
        machines,
        service,
    ):
        app.router.routes += door.routes.routes
    app.add_api_route("/docs", _page, include_in_schema=False)
    app.add_api_route("/docs/{name}", _page, include_in_schema=False)
    app.add_exception_handler(MailError, _refuse)
    app.add_exception_handler(RequestValidationError, _refuse_input)
    app.add_exception_handler(HTTPException, _refuse_http)
    app.add_exception_handler(ClientDisconnect, _nobody_there)
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]  # FastAPI's own way to extend it
    return app


async def _page(name: str = "") -> Response:
    if name not in _PAGES:
        raise NoSuchPath(path=f"/docs/{name}")
    return FileResponse(_PAGES[name])


async def _refuse(_: Request, error: Exception) -> Response:
    assert isinstance(error, MailError)
    return error_response(error)


async def _refuse_input(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    return error_response(wrong_input(error.errors()))


async def _refuse_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error, Refusal):
        return error_response(error.error, [("Connection", "close")])
    path = request.url.path
    if error.status_code == _NOT_FOUND:
        return error_response(NoSuchPath(path=path))
    if error.status_code == _NOT_ALLOWED:
        return error_response(WrongMethod(path=path, method=request.method), (error.headers or {}).items())
    return error_response(Invalid(what="request", why=str(error.detail)))


async def _nobody_there(_: Request, __: Exception) -> Response:
    return Response(status_code=_GONE)


def _openapi(app: FastAPI) -> dict[str, Any]:
    if app.openapi_schema is None:
        made = get_openapi(title=app.title, version=app.version, description=app.description, routes=app.routes)
        components = made.setdefault("components", {})
        components["schemas"] = components.get("schemas", {}) | schemas()
        components["securitySchemes"] = _SECURITY
        made["security"] = [{name: []} for name in _SECURITY]
        _put_examples_back(app, made)
        app.openapi_schema = made
    return app.openapi_schema


def _put_examples_back(app: FastAPI, made: dict[str, Any]) -> None:
    """FastAPI drops every null from an example, and with it what the example shows."""
    for route in app.routes:
        if not isinstance(route, APIRoute) or not route.include_in_schema:
            continue
        for method in route.methods or ():
            answers = made["paths"][route.path_format][method.lower()]["responses"]
            for status, response in route.responses.items():
                for kind, content in response.get("content", {}).items():
                    if "example" in content:
                        answers[str(status)]["content"][kind]["example"] = content["example"]

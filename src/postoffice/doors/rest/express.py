"""The straight way past the framework's layers: for the busiest calls, at a fixed path with a caller and a body, and for sockets."""

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request, Response, WebSocket
from starlette.types import ASGIApp, Receive, Scope, Send

from postoffice.doors.rest.body import PlainRoute
from postoffice.doors.websocket import SOCKET, websocket_door

Handler = Callable[[Request], Awaitable[Response]]


class Express:
    """ASGI middleware. What it does not know, FastAPI does; what it refuses, the edge tells."""

    def __init__(self, app: ASGIApp, api: FastAPI) -> None:
        self._app = app
        plain = (route for route in api.routes if isinstance(route, PlainRoute) and route.plain is not None and not route.param_convertors)
        self._handlers: dict[tuple[str, str], tuple[str, Handler]] = {
            (method, route.path): (route.path, route.plain) for route in plain for method in route.methods or () if route.plain is not None
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One call."""
        if scope["type"] == "websocket" and scope["path"] == SOCKET:
            await websocket_door(WebSocket(scope, receive, send))
            return
        found = self._handlers.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if found is None:
            await self._app(scope, receive, send)
            return
        scope["state"]["route"], handler = found
        response = await handler(Request(scope, receive, send))
        await response(scope, receive, send)

"""The straight way past the framework's layers: for the busiest calls, with a caller, a body and what the path names, and for sockets."""

from fastapi import FastAPI, Request, WebSocket
from starlette.types import ASGIApp, Receive, Scope, Send

from postoffice.doors.rest.body import PlainRoute
from postoffice.doors.websocket import SOCKET, websocket_door


class Express:
    """ASGI middleware. What it does not know, FastAPI does; what it refuses, the edge tells."""

    def __init__(self, app: ASGIApp, api: FastAPI) -> None:
        self._app = app
        self._routes: dict[tuple[str, str], PlainRoute] = {}
        """By method and path."""
        self._naming: dict[tuple[str, str], PlainRoute] = {}
        """By method and the last word of a path that names something before it."""
        for route in api.routes:
            if isinstance(route, PlainRoute) and route.plain is not None:
                routes, path = (self._naming, _last(route.path)) if route.param_convertors else (self._routes, route.path)
                if not path.startswith("{"):  # one that ends with what it names has no last word to be found by
                    routes.update({(method, path): route for method in route.methods or ()})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One call."""
        if scope["type"] == "websocket" and scope["path"] == SOCKET:
            await websocket_door(WebSocket(scope, receive, send))
            return
        route = self._route(scope) if scope["type"] == "http" else None
        if route is None or route.plain is None:
            await self._app(scope, receive, send)
            return
        scope["state"]["route"] = route.path_format
        response = await route.plain(Request(scope, receive, send))
        await response(scope, receive, send)

    def _route(self, scope: Scope) -> PlainRoute | None:
        method, path = scope["method"], scope["path"]
        if (route := self._routes.get((method, path))) is not None:
            scope["path_params"] = {}
            return route
        route = self._naming.get((method, _last(path)))
        if route is None or (match := route.path_regex.match(path)) is None:
            return None
        scope["path_params"] = match.groupdict()
        return route


def _last(path: str) -> str:
    return path[path.rfind("/") + 1 :]

"""The web application: the doors, the edge around them, and the office behind."""

import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from postoffice.config import Settings
from postoffice.doors.edge import Answered, Edge, Rules
from postoffice.doors.mcp.door import McpDoor
from postoffice.doors.mcp.protocol import Protocol
from postoffice.doors.page.door import page_routes
from postoffice.doors.rest.api import create_api
from postoffice.doors.rest.express import Express
from postoffice.office import Auth, PostOffice
from postoffice.serve.build import build_bridges, build_house, build_office, ensure_owner_key
from postoffice.serve.drain import draining
from postoffice.serve.snippets import snippets


def create_app(settings: Settings, build: Callable[[Settings], PostOffice] = build_office) -> FastAPI:
    """An application whose life is the office's: open before the first request, closed after the last."""

    def life(app: FastAPI) -> AbstractAsyncContextManager[None]:
        return _open(app, settings, build(settings), protocol)

    protocol = Protocol(settings.body_bytes)
    app = create_api(life)
    app.state.snippets = snippets
    app.router.routes += page_routes()
    rules = _rules(settings)
    front: ASGIApp = McpDoor(app.behind, lambda: app.state.office, protocol)
    front = Express(front, app)
    shared = partial(CORSMiddleware, allow_origins=list(rules.origins), allow_methods=["*"], allow_headers=["*"], expose_headers=["*"])
    app.front = Edge(shared(Answered(front)) if rules.origins else front, rules, app.state.metrics, shared)
    return app


def _rules(settings: Settings) -> Rules:
    own = {settings.host.lower(), socket.gethostname().lower()} if settings.host else set()
    return Rules(
        open=build_house(settings).auth is Auth.OPEN,
        hosts=frozenset(own | {host.lower() for host in settings.allowed_hosts}),
        origins=frozenset(origin.lower().rstrip("/") for origin in settings.cors_origins),
        body_bytes=settings.body_bytes,
        body_seconds=settings.body_seconds,
    )


@asynccontextmanager
async def _open(app: FastAPI, settings: Settings, office: PostOffice, protocol: Protocol) -> AsyncIterator[None]:
    async with office, AsyncExitStack() as stack:
        await ensure_owner_key(office, settings.data)
        app.state.office = office
        # Outside of the sessions, which would tell a bridge's refusal to open as one of a group of failures.
        app.state.bridges = [await stack.enter_async_context(bridge) for bridge in build_bridges(settings, office)]
        async with protocol.running():
            with draining(office.drain):
                yield

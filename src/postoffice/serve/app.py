"""The web application: the doors, the edge around them, and the office behind them."""

import ipaddress
import re
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial

from fastapi import FastAPI
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from postoffice.config import Settings
from postoffice.core.errors import BadSetting, NotSafe
from postoffice.core.hosts import address_of
from postoffice.doors.edge import Answered, Edge, Rules
from postoffice.doors.mcp.door import McpDoor
from postoffice.doors.mcp.protocol import Protocol
from postoffice.doors.page.door import page_routes
from postoffice.doors.rest.api import create_api
from postoffice.doors.rest.express import Express
from postoffice.office import Auth, PostOffice
from postoffice.serve.build import build_bridges, build_office, build_rules, ensure_owner_key
from postoffice.serve.drain import draining
from postoffice.serve.snippets import snippets

_HOST = re.compile(r"[\w.-]+")
_EVERY_PROXY = ("*",)
_ORIGIN = re.compile(r"null|[a-z][a-z0-9+.-]*://[^/?#*]+/?", re.IGNORECASE)


def create_app(settings: Settings, build: Callable[[Settings], PostOffice] = build_office) -> FastAPI:
    """Create an application that opens the office before its first request and closes it after the last."""

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
    """The edge's rules. Impossible host names and origins are refused here: otherwise callers would be told to list the very name that is listed."""
    for host in settings.allowed_hosts:
        if not _HOST.fullmatch(host) and address_of(host) is None:
            raise BadSetting(
                name="allowed_hosts", why=f"{host!r} is not a plain host name like mail.example.com, without scheme, port and stars"
            )
    for origin in settings.cors_origins:
        if not _ORIGIN.fullmatch(origin):
            raise BadSetting(
                name="cors_origins", why=f"{origin!r} is not an origin like https://app.example, with a scheme and without stars"
            )
    _check_proxies(settings.trusted_proxies)
    is_open = build_rules(settings).auth is Auth.OPEN
    others = next((name for name in ("cors_origins", "allowed_hosts") if getattr(settings, name)), None)
    if is_open and others is not None and not settings.open_to_others:
        where = next((f" ({reason})" for reason in settings.widened if reason.startswith(others)), "")
        why = f"every caller that {others} lets into an open office acts as its owner{where}; use --auth keys, or give --open-to-others"
        raise NotSafe(why=why)
    own = {settings.host.lower(), socket.gethostname().lower()} if settings.host else set()
    return Rules(
        open=is_open,
        hosts=frozenset(own | {host.lower() for host in settings.allowed_hosts}),
        origins=frozenset(origin.lower().rstrip("/") for origin in settings.cors_origins),
        body_bytes=settings.body_bytes,
        body_seconds=settings.body_seconds,
        upload_bytes=settings.limits.attachment_bytes,
    )


def _check_proxies(proxies: tuple[str, ...]) -> None:
    """Refuse a proxy address that no connection can have: it would be ignored, and all calls through the proxy would count as one caller's."""
    for proxy in () if proxies == _EVERY_PROXY else proxies:
        try:
            ipaddress.ip_network(proxy)
        except ValueError as error:
            why = f"{error}; name a proxy by an address like 10.0.0.7, or a network like 10.0.0.0/24"
            raise BadSetting(name="trusted_proxies", why=why) from None


@asynccontextmanager
async def _open(app: FastAPI, settings: Settings, office: PostOffice, protocol: Protocol) -> AsyncIterator[None]:
    async with office, AsyncExitStack() as stack:
        await ensure_owner_key(office, settings.data)
        app.state.office = office
        # Outside the MCP sessions, whose task group would wrap a bridge's refusal to open in a group of errors.
        app.state.bridges = [await stack.enter_async_context(bridge) for bridge in build_bridges(settings, office)]
        async with protocol.running():
            with draining(office.drain):
                yield

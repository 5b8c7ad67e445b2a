"""The web application: the doors, the edge around them, and the office behind."""

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
    """Who may knock. A name or a page that nobody can come by is refused here: later, whoever comes would be told to list just that."""
    for host in settings.allowed_hosts:
        if not _HOST.fullmatch(host) and address_of(host) is None:
            raise BadSetting(name="allowed_hosts", why=f"{host!r} is no name alone, like mail.example.com, without scheme, port and stars")
    for origin in settings.cors_origins:
        if not _ORIGIN.fullmatch(origin):
            raise BadSetting(
                name="cors_origins", why=f"{origin!r} is no origin, like https://app.example, with its scheme and without stars"
            )
    _check_proxies(settings.trusted_proxies)
    is_open = build_rules(settings).auth is Auth.OPEN
    others = next((name for name in ("cors_origins", "allowed_hosts") if getattr(settings, name)), None)
    if is_open and others is not None and not settings.open_to_others:
        where = next((f" ({reason})" for reason in settings.widened if reason.startswith(others)), "")
        why = f"whoever {others} lets into an open office is its owner{where}; use --auth keys, or say --open-to-others yourself"
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
    """Refuse what no connection can come from: it would be passed over, and all that a proxy carries counted as one caller's."""
    for proxy in () if proxies == _EVERY_PROXY else proxies:
        try:
            ipaddress.ip_network(proxy)
        except ValueError as error:
            why = f"{error}; a proxy is known by an address like 10.0.0.7, or a network like 10.0.0.0/24"
            raise BadSetting(name="trusted_proxies", why=why) from None


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

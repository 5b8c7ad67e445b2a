"""Runs the server until it is told to stop."""

import asyncio
import logging
import os
import shlex
import signal
import socket
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from ipaddress import ip_network
from pathlib import Path

import msgspec
import uvicorn
from fastapi import FastAPI

from postoffice import __version__
from postoffice.client import own_office
from postoffice.client.proving import ask_for_proof
from postoffice.config import PREFIX, Settings
from postoffice.core.errors import CannotListen
from postoffice.core.proof import OfficeProof, prove
from postoffice.office import Auth, PostOffice
from postoffice.serve import garbage
from postoffice.serve.app import create_app
from postoffice.serve.build import build_rules
from postoffice.serve.descriptors import raise_limit
from postoffice.serve.drain import draining
from postoffice.serve.logs import set_up_logs, tell_of_slips
from postoffice.serve.program import program
from postoffice.serve.protocols import HttpProtocol, WebSocketProtocol

_DESCRIPTOR_SHARES = 8  # an agent gets at most this fraction (one in so many) of the descriptors
_FRAME_BYTES = 64 << 10  # clients send little on a socket: who they are, and pings
_DRAIN_SECONDS = 5  # for calls under way to end once the server is told to stop


def serve(settings: Settings, *, itself: bool = False) -> None:
    """Serve; `itself` means that a program started it. Whatever prevents the start is raised as a MailError, which is printed in one line."""
    _fill_streams()
    set_up_logs(settings.log_level, settings.log_format)
    tell_of_slips((*settings.slips, *settings.widened))
    garbage.set_up()
    settings = sharing(settings, raise_limit())
    build_rules(settings)  # unsafe settings are refused before a port is taken
    try:
        listener = _listen(settings.host, settings.port)
    except CannotListen:
        if not _is_open_already(settings):
            raise
        return
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(settings, listener, itself=itself))
    finally:
        listener.close()


def sharing(settings: Settings, descriptors: int | None) -> Settings:
    """The settings for this number of descriptors: no agent may take more than a share of them, whatever its limit."""
    if descriptors is None:
        return settings
    waits = min(settings.limits.waits, max(1, descriptors // _DESCRIPTOR_SHARES))
    return msgspec.structs.replace(settings, limits=msgspec.structs.replace(settings.limits, waits=waits))


def _fill_streams() -> None:
    """Replace streams that were closed before we started: a socket that got one of their numbers would end the loop."""
    for name in ("stdin", "stdout", "stderr"):  # in this order each gets its usual number
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("r" if name == "stdin" else "w"))  # noqa: SIM115 - until the process ends


async def _serve(settings: Settings, listener: socket.socket, *, itself: bool) -> None:
    app = create_app(settings)
    # The office opens here, not inside the web server, which would print a traceback on failure.
    async with app.router.lifespan_context(app):
        secret, address = own_office.ensure_secret(settings.data), _own_address(*listener.getsockname()[:2])
        app.state.prove = partial(prove, secret, address, version=__version__, itself=itself)
        code = await _code(app, settings)
        server = web_server(app, settings, lambda: _announce(settings, listener, code))
        if itself:
            app.state.close = partial(_close, server, app)
        own_office.note_served(settings.data, address, itself=itself)
        async with garbage.swept(lambda: len(server.server_state.connections)):
            await server.serve(sockets=[listener])


def _close(server: uvicorn.Server, app: FastAPI) -> None:
    app.state.office.drain()
    server.should_exit = True


def _own_address(host: str, port: int) -> str:
    """The address by which programs on this machine reach a listening address."""
    everywhere = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - compared only; nothing listens here
    here = everywhere.get(host, host)
    return f"http://[{here}]:{port}" if ":" in here else f"http://{here}:{port}"


def _is_open_already(settings: Settings) -> bool:
    """If the port is taken by this very office, the error that says so."""
    try:
        host = socket.getaddrinfo(settings.host, settings.port, type=socket.SOCK_STREAM)[0][4][0]
    except (OSError, UnicodeError):  # an impossible host name
        return False
    address = _own_address(str(host), settings.port)
    proof = asyncio.run(ask_for_proof(address, own_office.secret(settings.data)))
    if not isinstance(proof, OfficeProof):
        return False
    how = "a program started it, and `postoffice close` closes it" if proof.itself else "a person started it"
    kept = settings.sqlite_path if settings.database is None else "PostgreSQL"
    print(f"Postoffice {proof.version} is already open on {address} (mail in {kept}): {how}.", file=sys.stderr, flush=True)
    return True


async def _code(app: FastAPI, settings: Settings) -> str | None:
    """A login code for the owner, if the page needs one and a person reads our output. It must not get into a log."""
    office: PostOffice = app.state.office
    if office.rules.auth is Auth.OPEN or settings.log_format == "json" or not sys.stderr.isatty():
        return None
    return await office.make_link(office.owner())


def web_server(app: FastAPI, settings: Settings, announce: Callable[[], None] = lambda: None) -> uvicorn.Server:
    """The web server. It does not manage the application's life."""
    config = uvicorn.Config(
        app,
        http=HttpProtocol,
        ws=WebSocketProtocol,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(settings.trusted_proxies),
        forwarded_allow_ips=[*settings.trusted_proxies, *_mapped(settings.trusted_proxies)] or None,
        timeout_graceful_shutdown=_DRAIN_SECONDS,
        ws_ping_interval=settings.ws_ping_interval,
        ws_ping_timeout=settings.ws_ping_timeout,
        ws_per_message_deflate=False,
        ws_max_size=_FRAME_BYTES,
    )
    return _Server(config, announce)


def _mapped(proxies: Iterable[str]) -> Iterator[str]:
    """IPv4 addresses and networks as a socket on `::` reports them."""
    for network in (ip_network(proxy) for proxy in proxies if proxy != "*"):
        if network.version == 4:  # noqa: PLR2004 - the protocol's own number
            yield f"::ffff:{network.network_address}/{96 + network.prefixlen}"


class _Server(uvicorn.Server):
    """Uvicorn's server, but a signal ends only the serving and not the process, as the office still has to close."""

    def __init__(self, config: uvicorn.Config, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._announce = announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()  # only now is a signal handled politely

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await super().shutdown(sockets)
        # Clients that have not read their last answers do not hold up the end.
        for connection in list(self.server_state.connections):
            connection.transport.abort()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {sig: signal.signal(sig, self.handle_exit) for sig in (signal.SIGINT, signal.SIGTERM)}
        try:
            with draining(self.config.app.state.office.drain):  # type: ignore[union-attr]  # the application we gave it
                yield
        finally:
            for sig, handler in before.items():
                signal.signal(sig, handler)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise CannotListen(host=host, port=port, why=error.strerror) from None
    except UnicodeError:  # a mistyped name, which cannot be looked up
        raise CannotListen(host=host, port=port, why="that is not a host name") from None
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise CannotListen(host=host, port=port, why=error.strerror) from None
    return listener


def _announce(settings: Settings, listener: socket.socket, code: str | None) -> None:
    host, port = listener.getsockname()[:2]
    where = f"[{host}]" if ":" in host else host
    kept = settings.sqlite_path if settings.database is None else "PostgreSQL"
    address = f"http://{where}:{port}"
    if settings.log_format == "json":
        logging.getLogger("postoffice").info(
            "open", extra={"facts": {"address": address, "mail": str(kept), "auth": build_rules(settings).auth.value}}
        )
        return
    page = f"http://127.0.0.1:{port}" if host in ("0.0.0.0", "::") else address  # noqa: S104 - compared only; nothing listens here
    # Printed commands are pasted into another terminal, which knows only the default settings.
    data = f"{PREFIX}DATA={shlex.quote(str(settings.data.absolute()))} " if settings.data != Settings().data else ""
    command, at = data + shlex.quote(program()), "" if (host, port) == (Settings().host, Settings().port) else f" --server {page}"
    guarded = build_rules(settings).auth is Auth.KEYS
    lines = [
        f"Postoffice is open on {address} (mail in {kept}). Ctrl-C closes it.",
        *(
            []
            if guarded
            else [f"  every user of this machine is its owner; to require keys: {data}{shlex.quote(program())} serve --auth keys"]
        ),
        f"  the page           {page}/" + (f"page/login#{code}  (works once, for ten minutes)" if code else ""),
        *([f"  open it with       {command} login --as owner{at}"] if guarded and not code else []),
        f"  connect an agent   {command} setup claude --agent coder{at}",
        f"  or any MCP client  {page}/mail/NAME",
        f"  send it a letter   {command} send --to coder 'Hello'{at}",
        f"  the whole API      {page}/docs",
    ]
    print("\n".join(lines), file=sys.stderr, flush=True)


def _loop_factory() -> "type[asyncio.AbstractEventLoop] | None":
    try:
        import uvloop  # noqa: PLC0415 - not on every platform
    except ImportError:
        return None
    return uvloop.Loop

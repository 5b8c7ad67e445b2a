"""Run the server until it is told to stop."""

import asyncio
import os
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn

from postoffice.config import Settings
from postoffice.core.errors import CannotListen
from postoffice.serve.app import create_app

_GRACE = 10  # seconds for calls under way to end once the server is told to stop


def serve(settings: Settings) -> None:
    """Serve. Whatever keeps the server from starting is raised as a MailError, to be told in one line."""
    listener = _listen(settings.host, settings.port)
    try:
        with asyncio.Runner(loop_factory=_loop_factory()) as runner:
            runner.run(_serve(settings, listener))
    finally:
        listener.close()


async def _serve(settings: Settings, listener: socket.socket) -> None:
    app = create_app(settings)
    # The office opens here and not inside the web server, which would answer a failure with a traceback.
    async with app.router.lifespan_context(app):
        config = uvicorn.Config(app, lifespan="off", log_level="warning", timeout_graceful_shutdown=_GRACE)
        _announce(settings, listener)
        await _Server(config).serve(sockets=[listener])


class _Server(uvicorn.Server):
    """uvicorn's, but a signal ends the serving and not the process: the office has still to close."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        before = {sig: signal.signal(sig, self.handle_exit) for sig in (signal.SIGINT, signal.SIGTERM)}
        try:
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
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(2048)
    except OSError as error:
        listener.close()
        raise CannotListen(host=host, port=port, why=error.strerror) from None
    return listener


def _announce(settings: Settings, listener: socket.socket) -> None:
    host, port = listener.getsockname()[:2]
    where = f"[{host}]" if ":" in host else host
    kept = settings.sqlite_path if settings.database is None else "PostgreSQL"
    print(f"Postoffice is open on http://{where}:{port} (mail in {kept}). Ctrl-C closes it.", file=sys.stderr, flush=True)


def _loop_factory() -> "type[asyncio.AbstractEventLoop] | None":
    try:
        import uvloop  # noqa: PLC0415 - not on every platform
    except ImportError:
        return None
    return uvloop.Loop

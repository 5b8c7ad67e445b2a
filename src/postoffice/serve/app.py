"""The web application."""

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from postoffice import __version__
from postoffice.config import Settings
from postoffice.serve.build import build_office, ensure_owner_key


def create_app(settings: Settings) -> Starlette:
    """An application whose life is the office's: open before the first request, closed after the last."""

    def life(app: Starlette) -> AbstractAsyncContextManager[None]:
        return _open(app, settings)

    return Starlette(routes=[Route("/health", health)], lifespan=life)


@asynccontextmanager
async def _open(app: Starlette, settings: Settings) -> AsyncIterator[None]:
    async with build_office(settings) as office:
        await ensure_owner_key(office, settings.data)
        app.state.office = office
        yield


async def health(_: Request) -> JSONResponse:
    """Alive."""
    return JSONResponse({"status": "ok", "version": __version__})

"""Bodies read strictly: what JSON cannot carry there and back is refused before anything looks at it."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict

from postoffice.core.errors import BadJson
from postoffice.core.text import MAX_DEPTH
from postoffice.doors.edge import Refusal

Seconds = float


class Body(BaseModel):
    """A request's body. A field nobody knows is a slip of the pen, and told so."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class _Request(Request):
    async def json(self) -> Any:
        """The body, or a refusal that says what is wrong with it."""
        try:
            return msgspec.json.decode(await self.body())
        except RecursionError:
            raise Refusal(BadJson(why=f"it is nested deeper than {MAX_DEPTH}")) from None
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise Refusal(BadJson(why=str(error))) from None


class _Route(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Awaitable[Response]]:  # type: ignore[override]  # what FastAPI awaits
        handler = super().get_route_handler()

        async def read_strictly(request: Request) -> Response:
            return await handler(_Request(request.scope, request.receive))

        return read_strictly


def router(tag: str) -> APIRouter:
    """A router whose bodies are read strictly."""
    return APIRouter(tags=[tag], route_class=_Route)

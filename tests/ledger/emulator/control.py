"""The emulator's methods over HTTP, for tests that run it as a process of its own."""

import inspect
from typing import TYPE_CHECKING, Any

import msgspec
from hiero_sdk_python import PrivateKey
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

if TYPE_CHECKING:
    from tests.ledger.emulator.ledger import Ledger


class Call(msgspec.Struct):
    """`faults.busy` and what to call it with; what is not a method is read."""

    name: str
    arguments: list[Any] = []
    options: dict[str, Any] = {}


def control(ledger: "Ledger") -> Route:
    async def answer(request: Request) -> Response:
        call = msgspec.json.decode(await request.body(), type=Call)
        found: Any = ledger
        for part in call.name.split("."):
            assert not part.startswith("_"), call.name
            found = getattr(found, part)
        if callable(found):
            found = found(*call.arguments, **call.options)
        if inspect.isawaitable(found):
            found = await found
        return Response(msgspec.json.encode(found, enc_hook=_as_text), media_type="application/json")

    return Route("/control", answer, methods=["POST"])


def _as_text(value: Any) -> str:
    """Keys, in hexadecimal."""
    return str(value.to_string_der() if isinstance(value, PrivateKey) else value.SerializeToString().hex())

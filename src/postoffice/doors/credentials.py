"""Who a request claims to come from, before that is checked."""

from typing import NamedTuple

from starlette.types import Scope

_BEARER = b"bearer "


class Credentials(NamedTuple):
    """A key, a bare name, both or neither."""

    key: str | None
    name: str | None


def credentials(scope: Scope) -> Credentials:
    """`X-API-Key`, else `Authorization: Bearer`; `X-Agent` for names without a key on an open server."""
    headers: dict[bytes, bytes] = dict(scope["headers"])
    key = headers.get(b"x-api-key")
    if key is None:
        authorization = headers.get(b"authorization", b"")
        if authorization[: len(_BEARER)].lower() == _BEARER:
            key = authorization[len(_BEARER) :].strip()
    name = headers.get(b"x-agent")
    return Credentials(None if key is None else key.decode("latin-1"), None if name is None else name.decode("latin-1"))

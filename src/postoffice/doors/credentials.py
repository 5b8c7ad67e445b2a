"""Who a request says it is, before anybody has checked it."""

from typing import NamedTuple

from starlette.datastructures import Headers

_BEARER = "bearer "


class Credentials(NamedTuple):
    """A key, a bare name, both or neither."""

    key: str | None
    name: str | None


def credentials(headers: Headers) -> Credentials:
    """`X-API-Key`, else `Authorization: Bearer`; `X-Agent` for names without a key on an open server."""
    key = headers.get("x-api-key")
    if key is None:
        authorization = headers.get("authorization", "")
        if authorization[: len(_BEARER)].lower() == _BEARER:
            key = authorization[len(_BEARER) :].strip()
    return Credentials(key, headers.get("x-agent"))

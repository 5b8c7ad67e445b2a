"""One attempt to call a webhook: its name is looked up once, and the call goes to exactly the address that was checked."""

import asyncio
import functools
import socket
import ssl
from collections.abc import Sequence
from datetime import timedelta

import httpx2

from postoffice.core.webhook import Network, Outgoing, Tried, is_allowed

_ATTEMPT_SECONDS = 15.0
_LONGEST_WISH_DIGITS = 6
_WHY_CHARACTERS = 300
_PORTS = {"http": 80, "https": 443}


class Sender:
    """No proxies, no redirects, no open connections: each attempt looks the name up again. Only the head of an answer is read."""

    def __init__(self, networks: Sequence[Network], trust: ssl.SSLContext | None = None) -> None:
        self._networks = networks
        self._trust = trust

    @functools.cached_property
    def _http(self) -> httpx2.AsyncClient:
        """Made when it is first asked for: it reads all the world's authorities, and most offices tell no address."""
        return httpx2.AsyncClient(
            verify=self._trust or True,
            trust_env=False,
            follow_redirects=False,
            timeout=_ATTEMPT_SECONDS,
            limits=httpx2.Limits(max_keepalive_connections=0),
        )

    async def close(self) -> None:
        """Close the connections."""
        if "_http" in vars(self):
            await self._http.aclose()

    async def post(self, url: str, outgoing: Outgoing, headers: dict[str, str]) -> Tried:
        """Send one event. Returns how that went."""
        attempts = outgoing.attempts + 1
        try:
            async with asyncio.timeout(_ATTEMPT_SECONDS):
                status, pause = await self._post(httpx2.URL(url), outgoing.body, headers)
        except TimeoutError:
            return Tried(number=outgoing.number, attempts=attempts, error=f"no answer within {_ATTEMPT_SECONDS:.0f} seconds")
        except (_NotAllowedError, OSError, UnicodeError, httpx2.HTTPError, httpx2.InvalidURL) as error:
            return Tried(number=outgoing.number, attempts=attempts, error=_why(error))
        if 200 <= status < 300:  # noqa: PLR2004 - the protocol's own numbers
            return Tried(number=outgoing.number, attempts=attempts)
        wait = timedelta(seconds=int(pause)) if pause.isdecimal() and len(pause) <= _LONGEST_WISH_DIGITS else None
        gone = status == httpx2.codes.GONE
        return Tried(number=outgoing.number, attempts=attempts, error=f"it answered {status}", gone=gone, wait=wait)

    async def _post(self, url: httpx2.URL, body: str, headers: dict[str, str]) -> tuple[int, str]:
        pinned = url.copy_with(host=await self._address_of(url))
        host = {"Host": url.netloc.decode("ascii"), "Content-Type": "application/json", "User-Agent": "postoffice"}
        # The certificate is checked against the name, not the address.
        tls = {"sni_hostname": url.host}
        async with self._http.stream("POST", pinned, content=body.encode(), headers=headers | host, extensions=tls) as answer:
            self._http.cookies.clear()  # no caller is recognised by a cookie
            return answer.status_code, answer.headers.get("retry-after", "")

    async def _address_of(self, url: httpx2.URL) -> str:
        port = url.port or _PORTS[url.scheme]
        records = await asyncio.get_running_loop().getaddrinfo(url.host, port, type=socket.SOCK_STREAM)
        addresses = [str(one[4][0]) for one in records]
        for address in addresses:
            if is_allowed(address, self._networks, encrypted=url.scheme == "https"):
                return address
        raise _NotAllowedError(addresses[0])


class _NotAllowedError(Exception):
    """The address may not be called."""


def _why(error: Exception) -> str:
    if isinstance(error, _NotAllowedError):
        return f"{error} may not be posted to: only public addresses by https may, and what the setting webhook_networks names"
    return f"it cannot be reached: {str(error) or type(error).__name__}"[:_WHY_CHARACTERS]

"""The wire to an office: makes a call and returns its answer, or raises the office's refusal."""

import asyncio
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import nullcontext
from typing import Any, Self, TypeVar
from weakref import WeakKeyDictionary

import httpx2
import msgspec

from postoffice.client.plain_http import ANSWER_SECONDS, IDLE_CONNECTIONS, JSON, Answer, Headers, PlainHttp, is_plain
from postoffice.core.agent import key_hash
from postoffice.core.errors import BadKey, BadLimit, MailError, NoAnswer, Unavailable, told
from postoffice.core.limits import Limits
from postoffice.core.names import check_name

T = TypeVar("T")
_CALLS_AT_ONCE = 100  # further calls wait
_SOCKET_SECONDS = 30.0  # for connecting, and for each answer
_WAIT = "/messages/wait"
_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.1, 5.0
_LONGEST_WAIT_SECONDS = Limits().wait_most.total_seconds()  # a server that allows less says so
_BETWEEN_WAITS_SECONDS = 1.0
_GOOD = range(200, 300)
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


class Wire:
    """Calls as one agent. A key proves the name; without a key the server has to be open."""

    def __init__(self, server: str, *, key: str | None = None, agent: str | None = None) -> None:
        if agent is not None:
            check_name(agent)
        if key is not None and key_hash(key) is None:
            raise BadKey
        self.server = server
        self.key = key
        self.agent = agent
        headers = {"X-API-Key": key, "X-Agent": agent}
        self.headers = {name: value for name, value in headers.items() if value is not None}
        self._plain = PlainHttp(server, self.headers) if is_plain(server) else None
        self._general: tuple[asyncio.AbstractEventLoop, httpx2.AsyncClient] | None = None
        self._rooms: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._plain is not None:
            self._plain.close()
        general, self._general = self._general, None
        if general is not None and general[0] is asyncio.get_running_loop():
            await general[1].aclose()

    async def get(self, path: str, **query: object) -> Any:
        """Make a GET call."""
        return await self.call("GET", path, **query)

    async def post(self, path: str, body: object = None, **query: object) -> Any:
        """Make a POST call."""
        return await self.call("POST", path, body, **query)

    async def put(self, path: str, body: object, **query: object) -> Any:
        """Make a PUT call."""
        return await self.call("PUT", path, body, **query)

    async def patch(self, path: str, body: object, **query: object) -> Any:
        """Make a PATCH call."""
        return await self.call("PATCH", path, body, **query)

    async def call(self, method: str, path: str, body: object = None, **query: object) -> Any:
        """Make a call by any method."""
        content = None if body is None else _encode(body)
        response = await self._answered(method, path, content, query, _within(path, body, query), JSON)
        try:
            answer = _decode(response.content) if response.content else None
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise NoAnswer(server=self.server) from None
        if response.status in _GOOD:
            return answer
        raise self._refusal(answer, response)

    async def raw(self, method: str, path: str, content: bytes | None, said: Headers) -> bytes:
        """One whose content and answer are bytes; `said` are headers of its own."""
        response = await self._answered(method, path, content, {}, ANSWER_SECONDS, said)
        if response.status in _GOOD:
            return response.content
        try:
            raise self._refusal(_decode(response.content), response)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise NoAnswer(server=self.server) from None

    async def _answered(
        self, method: str, path: str, content: bytes | None, query: dict[str, object], within: float, said: Headers
    ) -> Answer:
        wanted = {name: str(value) for name, value in query.items() if value is not None and value is not False}
        try:
            return await self._ask(method, path, content, wanted, within, said)
        except (httpx2.HTTPError, OSError) as error:
            raise NoAnswer(server=self.server) from error

    def _refusal(self, answer: object, response: Answer) -> MailError:
        if not isinstance(answer, dict) or "code" not in answer:
            return NoAnswer(server=self.server)
        refusal = told(str(answer["code"]), str(answer.get("detail", "")))
        if response.retry_after.isdecimal():
            refusal.facts["retry_after"] = int(response.retry_after)
        return refusal

    async def wait(self, wish: dict[str, Any], seconds: float) -> list[Any]:
        """Wait for mail. An empty answer may come early, if the server does not wait so long."""
        loop = asyncio.get_running_loop()
        begun = loop.time()
        try:
            answer = await self.post(_WAIT, wish | {"wait": min(seconds, _LONGEST_WAIT_SECONDS)})
        except BadLimit:  # longer than this server allows; without a time it waits as long as it allows
            answer = await self.post(_WAIT, wish)
        messages: list[Any] = answer["messages"]
        if not messages:  # if the server allows no waits, wait here
            await asyncio.sleep(min(seconds, _BETWEEN_WAITS_SECONDS) - (loop.time() - begun))
        return messages

    async def _ask(self, method: str, path: str, content: bytes | None, query: dict[str, str], within: float, said: Headers) -> Answer:
        # Waits do not count as calls at once: behind a hundred waits, acks and extensions would come too late.
        async with self._room() if within <= ANSWER_SECONDS else nullcontext():
            if self._plain is not None:
                return await self._plain.call(method, path, content, query, within, said)
            headers = {} if content is None and said is JSON else dict(said)
            patience = httpx2.Timeout(_SOCKET_SECONDS, read=within)
            http = self._general_client()
            response = await http.request(method, path, content=content, headers=headers, params=query or None, timeout=patience)
            return Answer(response.status_code, response.content, response.headers.get("retry-after", ""))

    def _room(self) -> asyncio.Semaphore:
        return self._rooms.setdefault(asyncio.get_running_loop(), asyncio.Semaphore(_CALLS_AT_ONCE))

    def _general_client(self) -> httpx2.AsyncClient:
        """The general HTTP client; a new one for each loop, as connections belong to their loop."""
        loop = asyncio.get_running_loop()
        if self._general is None or self._general[0] is not loop:
            limits = httpx2.Limits(max_connections=None, max_keepalive_connections=IDLE_CONNECTIONS)
            self._general = loop, httpx2.AsyncClient(base_url=self.server, headers=self.headers, limits=limits)
        return self._general[1]


def _within(path: str, body: object, query: dict[str, object]) -> float:
    """How long an answer may take: the wait that was asked for, and some seconds. Longer, and the connection must be dead."""
    wait = (body if isinstance(body, dict) else query).get("wait", _LONGEST_WAIT_SECONDS if path == _WAIT else 0)
    return ANSWER_SECONDS + (wait if isinstance(wait, int | float) else _LONGEST_WAIT_SECONDS)


async def until_answered(
    call: Callable[[], Awaitable[T]], give_up_after: float | None = None, away: Callable[[Unavailable], None] | None = None
) -> T:
    """Repeat a call that is safe to repeat while its server is away, and report that once. With None it never gives up."""
    loop = asyncio.get_running_loop()
    until = None if give_up_after is None else loop.time() + give_up_after
    async for pause in pauses():
        try:
            return await call()
        except Unavailable as error:
            if until is not None and loop.time() + pause > until:
                raise
            if away is not None:
                away(error)
                away = None
        await asyncio.sleep(pause)
    raise AssertionError  # pauses never end


async def pauses(first: float = _FIRST_PAUSE_SECONDS, longest: float = _LONGEST_PAUSE_SECONDS) -> AsyncIterator[float]:
    """Longer and longer pauses with some chance in them, so that many clients of one server do not return at the same moment."""
    pause = first
    while True:
        yield pause * random.uniform(0.7, 1.3)  # noqa: S311 - for spreading, not for secrecy
        pause = min(pause * 2, longest)

"""The edge: every request passes it before a door sees it, and every answer on its way out."""

import asyncio
import itertools
import logging
import re
import secrets
import time
import traceback
from collections.abc import Callable, Iterable

import msgspec
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from postoffice.core.errors import BeyondLoopback, MailError, Repeated, TooLarge, TooSlow, WrongHost, WrongOrigin
from postoffice.core.hosts import address_of, is_loopback
from postoffice.doors.extensions import ARRIVAL
from postoffice.doors.faults import fault
from postoffice.doors.metrics import Metrics
from postoffice.doors.reply import Reply

_log = logging.getLogger("postoffice.requests")
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_HUNG_UP_STATUS = 499
QUERY = "query_string"
"""The scope's key for a socket's query, which is taken out of the address."""
_ONCE = frozenset(
    {
        b"authorization",
        b"content-length",
        b"content-type",
        b"host",
        b"idempotency-key",
        b"origin",
        b"x-agent",
        b"x-api-key",
        b"x-request-id",
    }
)
"""Headers that must not come twice: a proxy might act on one and we on the other."""
_UPLOADS = frozenset({"/attachments", "/page/attachments"})
_UPLOAD_FOLDER = "/attachments/uploads/"
_ORIGIN = re.compile(r"https?://([^/]+)")


class Refusal(HTTPException):
    """A refusal while a request is being read. Frameworks let this one kind of exception pass."""

    def __init__(self, error: MailError) -> None:
        super().__init__(fault(error).status, str(error))
        self.error = error


class Rules(msgspec.Struct, frozen=True, kw_only=True):
    """Which requests may come in, and how large they may be."""

    open: bool
    hosts: frozenset[str] = frozenset()
    origins: frozenset[str] = frozenset()
    body_bytes: int = 8 << 20
    stranger_bytes: int = 512 << 10
    """If keys are required, the largest body of a caller without one. Even a card with every character escaped is smaller."""
    body_seconds: float = 30.0
    upload_bytes: int = 1 << 30
    """The largest upload of an attachment, which is not kept in memory."""

    def check(self, scope: Scope) -> None:
        """Refuse a request for a wrong host name, from a foreign page, or from another machine to an open server."""
        headers: dict[bytes, bytes] = dict(scope["headers"])
        if len(headers) != len(scope["headers"]):
            _check_once(scope)
        server = scope.get("server")
        # A Unix socket has no port: who can open its file is on this machine.
        if self.open and server and server[1] is not None and not is_loopback(server[0]):
            raise BeyondLoopback
        host = headers.get(b"host", b"").decode("latin-1").lower()
        if not self._answers_to(host):
            raise WrongHost(host=host)
        if (origin := headers.get(b"origin")) is not None:
            self._check_origin(origin.decode("latin-1").lower(), host)
        length = headers.get(b"content-length", b"0")
        most = self.upload_bytes if is_upload(scope) else self.body_bytes
        if length.isdigit() and int(length) > most:
            raise TooLarge(what="body", size=f"{int(length)} bytes", limit=most)

    def lists(self, scope: Scope) -> bool:
        """Whether the request comes from a page of another origin that is allowed here."""
        return bool(self.origins) and dict(scope["headers"]).get(b"origin", b"").decode("latin-1").lower() in self.origins

    def _answers_to(self, host: str) -> bool:
        name = host_name(host)
        if name in self.hosts:
            return True
        # An attacker's DNS can rebind names but not addresses. An open server answers only to its own.
        return is_loopback(name) if self.open else is_loopback(name) or address_of(name) is not None

    def _check_origin(self, origin: str, host: str) -> None:
        match = _ORIGIN.fullmatch(origin)
        if origin not in self.origins and (match is None or match[1] != host):
            raise WrongOrigin(origin=origin)


def is_upload(scope: Scope) -> bool:
    """Whether what it brings is read as a stream, and kept as it comes."""
    return scope.get("method") in ("POST", "PATCH") and (scope["path"] in _UPLOADS or scope["path"].startswith(_UPLOAD_FOLDER))


def _check_once(scope: Scope) -> None:
    names = [name for name, _ in scope["headers"] if name in _ONCE]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise Repeated(what=f"The header {twice.decode().title()}")


def host_name(host: str) -> str:
    """A Host header without its port."""
    return host[1:].partition("]")[0] if host.startswith("[") else host.partition(":")[0]


def error_response(error: MailError, headers: Iterable[tuple[str, str]] = ()) -> Response:
    """A refusal over HTTP: a sentence for people and a code for programs."""
    extra = dict(headers)
    status = fault(error).status
    if "allow" in error.facts:
        extra["Allow"] = str(error.facts["allow"])
    if "retry_after" in error.facts:
        extra["Retry-After"] = str(error.facts["retry_after"])
    if status == 401:  # noqa: PLR2004 - the protocol's own number
        extra["WWW-Authenticate"] = 'Bearer realm="postoffice"'
    return _Refused(error, status, extra)


class _Refused(Response):
    """A refusal, which leaves its code for the log. No caller can choose that code."""

    media_type = "application/json"

    def __init__(self, error: MailError, status: int, headers: dict[str, str]) -> None:
        super().__init__(msgspec.json.encode({"detail": str(error), "code": error.code}), status, headers)
        self._code = error.code

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["code"] = self._code
        await super().__call__(scope, receive, send)


class Answered:
    """ASGI middleware that turns refusals into answers below what adds headers to answers, so that refusals get those headers too."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""
        try:
            await self._app(scope, receive, send)
        except (MailError, Refusal) as error:
            await _refusal(error)(scope, receive, send)


def _refusal(error: MailError | Refusal) -> Response:
    return error_response(error.error if isinstance(error, Refusal) else error)


class Edge:
    """ASGI middleware around all doors that speak HTTP."""

    def __init__(self, app: ASGIApp, rules: Rules, metrics: Metrics, shared: Callable[[ASGIApp], ASGIApp]) -> None:
        """`shared` adds the headers by which pages of allowed origins may read an application's answers."""
        self._app = app
        self._rules = rules
        self._shared = shared
        self._metrics = metrics
        self._here = secrets.token_hex(6).encode()
        self._numbers = itertools.count(1)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request, up to its answer."""
        match scope["type"]:
            case "http":
                await self._request(scope, receive, send)
            case "websocket":
                await self._upgrade(scope, receive, send)
            case _:
                await self._app(scope, receive, send)

    async def _upgrade(self, scope: Scope, receive: Receive, send: Send) -> None:
        # Servers log a socket's address, so take the key out of it.
        scope.setdefault("state", {})[QUERY] = scope["query_string"]
        scope["query_string"] = b""
        try:
            self._rules.check(scope)
        except MailError as error:
            await error_response(error)(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        begun = time.perf_counter()
        header = dict(scope["headers"]).get(b"x-request-id", b"")
        request_id = header if header and _REQUEST_ID.fullmatch(header) else b"%b-%08x" % (self._here, next(self._numbers))
        scope.setdefault("state", {})["request_id"] = request_id.decode()
        body = _Body(receive, self._rules, scope)
        answer = Reply(scope, send, request_id, body.unread)
        try:
            self._rules.check(scope)
            await self._app(scope, body.read, answer.send)
        except (MailError, Refusal) as error:
            await self._told(_refusal(error), scope)(scope, receive, answer.send)
        except ClientDisconnect:
            answer.status = _HUNG_UP_STATUS
        except Exception as error:  # noqa: BLE001 - the last resort: the caller gets an answer and the log the error
            report(error, request_id.decode())
            if not answer.begun:
                await self._told(error_response(MailError()), scope)(scope, receive, answer.send)
        seconds = time.perf_counter() - begun
        route = scope["state"].get("route") or getattr(scope.get("route"), "path_format", "unmatched")
        self._metrics.answered(scope["method"], route, answer.status, seconds)
        _tell(scope, route, answer.status, seconds, request_id.decode())

    def _told(self, response: Response, scope: Scope) -> ASGIApp:
        """Wrap a refusal of the edge itself: without these headers a page of another origin would see only a failed network."""
        return self._shared(response) if self._rules.lists(scope) else response


class _Body:
    """A request's body, which must be neither too large nor too slow. Once it is here, waiting for a hang-up costs nothing."""

    def __init__(self, receive: Receive, rules: Rules, scope: Scope) -> None:
        self._has_arrived: Callable[[], bool] = scope.get("extensions", {}).get(ARRIVAL, lambda: False)
        self._receive = receive
        self._rules = rules
        self._scope = scope
        self._size = 0
        self._until: float | None = None
        self._whole = False
        self._upload = is_upload(scope)

    def unread(self) -> bool:
        """Whether some of it has not been read."""
        return not self._whole and _has_body(self._scope)

    async def read(self) -> Message:
        """The next piece of the body."""
        if self._whole:
            return await self._receive()
        rules = self._rules
        if self._has_arrived():
            message = await self._receive()
        else:
            if self._upload and self._size and self._known():  # each piece of what is large has as long as all of what is not
                self._until = None
            self._until = self._until or asyncio.get_running_loop().time() + rules.body_seconds
            try:
                async with asyncio.timeout_at(self._until):
                    message = await self._receive()
            except TimeoutError:
                raise Refusal(TooSlow(seconds=rules.body_seconds)) from None
        self._size += len(message.get("body", b""))
        allowed = rules.upload_bytes if self._upload else rules.body_bytes
        most = allowed if self._known() else min(rules.stranger_bytes, allowed)
        if self._size > most:
            raise Refusal(TooLarge(what="body", size=f"more than {most} bytes", limit=most))
        self._whole = not message.get("more_body", False)
        return message

    def _known(self) -> bool:
        return self._rules.open or bool(self._scope["state"].get("agent"))


def _has_body(scope: Scope) -> bool:
    return any(name in (b"content-length", b"transfer-encoding") and value != b"0" for name, value in scope["headers"])


def _tell(scope: Scope, route: str, status: int, seconds: float, request_id: str) -> None:
    """Log one line for each request, never with its query, headers or body."""
    level = logging.DEBUG if status < 400 else logging.INFO if status < 500 else logging.ERROR  # noqa: PLR2004
    if _log.isEnabledFor(level):
        facts = {
            "request_id": request_id,
            "method": scope["method"],
            "route": route,
            "status": status,
            "code": scope["state"].get("code"),
            "ms": round(seconds * 1000, 2),
            "agent": scope["state"].get("agent"),
        }
        _log.log(level, "request", extra={"facts": facts})


def report(error: Exception, request_id: str) -> None:
    """Log where it went wrong but not the values: a driver's message may quote people's mail."""
    where = [f"{frame.filename}:{frame.lineno} {frame.name}" for frame in traceback.extract_tb(error.__traceback__)[-12:]]
    _log.error("bug", extra={"facts": {"request_id": request_id, "error": type(error).__name__, "where": where}})

"""An answer on its way out: adds the headers for browsers, and sends head and body in one piece."""

from collections.abc import Callable, Iterable

from starlette.responses import Response
from starlette.types import Message, Scope, Send

from postoffice.doors.extensions import WHOLE_ANSWER

Headers = list[tuple[bytes, bytes]]
JSON = (b"content-type", b"application/json")
_UNAVAILABLE_STATUS = 503
_RETRY_AFTER = (b"retry-after", b"1")
"""The office checks at least once a second whether it can answer again."""
_API_POLICY = b"default-src 'none'; frame-ancestors 'none'"
_DOCS_POLICY = b"default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'"
_PAGE_POLICY = (
    b"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; manifest-src 'self'; form-action 'self'; base-uri 'none'; "
    b"frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types postoffice"
)
_SAFETY = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


class Json(Response):
    """What is JSON already. Its two headers are written at once: the framework's way costs more than some whole answers."""

    media_type = "application/json"

    def __init__(self, content: bytes, status: int = 200) -> None:
        self.status_code = status
        self.background = None
        self.body = content
        self.raw_headers = [(b"content-length", b"%d" % len(content)), JSON]


class _Safety:
    """Headers that keep a browser from being used against its user, as pairs and as bytes."""

    def __init__(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self.headers = list(headers)
        self.written = b"".join(b"%b: %b\r\n" % header for header in self.headers)


_API = _Safety([*_SAFETY, (b"content-security-policy", _API_POLICY)])
_DOCS = _Safety([*_SAFETY, (b"content-security-policy", _DOCS_POLICY)])
_PAGE = _Safety(
    [
        # Not no-referrer: with that a browser does not say which page a form comes from. Other sites learn nothing this way either.
        *((name, b"same-origin" if name == b"referrer-policy" else value) for name, value in _SAFETY if name != b"cache-control"),
        (b"content-security-policy", _PAGE_POLICY),
        (b"cross-origin-opener-policy", b"same-origin"),
    ]
)


class Reply:
    """One request's answer on its way out."""

    def __init__(self, scope: Scope, send: Send, request_id: bytes, unread: Callable[[], bool]) -> None:
        self._whole: Callable[[int, Headers, bytes, bytes], bool] | None = scope.get("extensions", {}).get(WHOLE_ANSWER)
        self._send = send
        self._unread = unread
        self._safety = _safety(scope["path"])
        self._request_id = request_id
        self._head: Message | None = None
        """The head, kept until the body comes. An answer that states its length has the body ready."""
        self.status = 0

    @property
    def begun(self) -> bool:
        """Whether any of the answer has been sent."""
        return self.status != 0 and self._head is None

    async def send(self, message: Message) -> None:
        """Send the next message of the answer."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            more = self._more(message)
            if self._whole is not None and not more and b"content-length" in dict(message.get("headers", ())):
                self._head = message
                return
            self._dress(message, more)
        elif self._head is not None:
            head, self._head = self._head, None
            if self._takes(head, message):
                return
            self._dress(head, [])
            await self._send(head)
        await self._send(message)

    def _takes(self, head: Message, message: Message) -> bool:
        """Try to send head and body in one piece. Returns whether the server did."""
        if self._whole is None or message.get("more_body", False):
            return False
        ours = b"%bx-request-id: %b\r\n" % (self._safety.written, self._request_id)
        return self._whole(self.status, head["headers"], ours, message.get("body", b""))

    def _dress(self, message: Message, more: Headers) -> None:
        message["headers"] = [*message.get("headers", ()), *self._safety.headers, (b"x-request-id", self._request_id), *more]

    def _more(self, message: Message) -> Headers:
        """Headers that only some answers have."""
        more = [_RETRY_AFTER] if self.status == _UNAVAILABLE_STATUS and not _says_when(message) else []
        # Do not wait for a caller that is still sending what we do not read.
        return [*more, (b"connection", b"close")] if self._unread() else more


def _safety(path: str) -> _Safety:
    """The headers by door. The page decides itself what browsers may cache."""
    if path in ("/", "/page") or path.startswith("/page/"):
        return _PAGE
    return _DOCS if path.startswith("/docs") else _API


def _says_when(message: Message) -> bool:
    return any(name.lower() == _RETRY_AFTER[0] for name, _ in message.get("headers", ()))

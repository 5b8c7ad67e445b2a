"""An answer on its way out: what every answer says to browsers, and head and body in one piece."""

from collections.abc import Callable, Iterable

from starlette.types import Message, Scope, Send

from postoffice.doors.extensions import WHOLE_ANSWER

Headers = list[tuple[bytes, bytes]]
_UNAVAILABLE_STATUS = 503
_RETRY_AFTER = (b"retry-after", b"1")
"""Whatever keeps the office from answering now is looked at again at least once a second."""
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


class _Safety:
    """What keeps a browser from being used against the one who uses it, as headers and as they are written."""

    def __init__(self, headers: Iterable[tuple[bytes, bytes]]) -> None:
        self.headers = list(headers)
        self.written = b"".join(b"%b: %b\r\n" % header for header in self.headers)


_API = _Safety([*_SAFETY, (b"content-security-policy", _API_POLICY)])
_DOCS = _Safety([*_SAFETY, (b"content-security-policy", _DOCS_POLICY)])
_PAGE = _Safety(
    [
        # Without any referrer a browser does not say either from which page a form comes; to other sites nothing is said this way too.
        *((name, b"same-origin" if name == b"referrer-policy" else value) for name, value in _SAFETY if name != b"cache-control"),
        (b"content-security-policy", _PAGE_POLICY),
        (b"cross-origin-opener-policy", b"same-origin"),
    ]
)


class Reply:
    """A request's answer on its way out."""

    def __init__(self, scope: Scope, send: Send, request_id: bytes, unread: Callable[[], bool]) -> None:
        self._whole: Callable[[int, Headers, bytes, bytes], bool] | None = scope.get("extensions", {}).get(WHOLE_ANSWER)
        self._send = send
        self._unread = unread
        self._safety = _safety(scope["path"])
        self._request_id = request_id
        self._head: Message | None = None
        """Kept until its body comes: whoever says how long that is has it at hand."""
        self.status = 0

    @property
    def begun(self) -> bool:
        """Whether the caller has heard any of it."""
        return self.status != 0 and self._head is None

    async def send(self, message: Message) -> None:
        """The next of it."""
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
        """Whether the server took head and body in one piece."""
        if self._whole is None or message.get("more_body", False):
            return False
        ours = b"%bx-request-id: %b\r\n" % (self._safety.written, self._request_id)
        return self._whole(self.status, head["headers"], ours, message.get("body", b""))

    def _dress(self, message: Message, more: Headers) -> None:
        message["headers"] = [*message.get("headers", ()), *self._safety.headers, (b"x-request-id", self._request_id), *more]

    def _more(self, message: Message) -> Headers:
        """What only some answers say."""
        more = [_RETRY_AFTER] if self.status == _UNAVAILABLE_STATUS and not _says_when(message) else []
        # Whoever is still sending what nobody reads is not waited for.
        return [*more, (b"connection", b"close")] if self._unread() else more


def _safety(path: str) -> _Safety:
    """By whom it is answered. The page says itself what may be kept."""
    if path in ("/", "/page") or path.startswith("/page/"):
        return _PAGE
    return _DOCS if path.startswith("/docs") else _API


def _says_when(message: Message) -> bool:
    return any(name.lower() == _RETRY_AFTER[0] for name, _ in message.get("headers", ()))

"""One request at the page: who looks, what they ask for, and how the answer is shown."""

import secrets
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qsl, urlencode

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response

from postoffice.core.agent import Caller
from postoffice.core.connection import Status
from postoffice.core.errors import Invalid
from postoffice.doors.page.packing import pack, unpacks
from postoffice.doors.page.stationery import render, render_blocks
from postoffice.doors.page.theme import theme_of
from postoffice.office import Auth, PostOffice

FRAGMENT = "x-fragment"
HAVE = "x-have"
VISITOR = "x-visitor"
_MOST_FIELDS = 120
_REQUESTS_COUNTED = 100


class Look:
    """A request at the page's door, and its visitor."""

    def __init__(self, request: Request, office: PostOffice, caller: Caller | None) -> None:
        self.request = request
        self.office = office
        self._caller = caller

    @property
    def caller(self) -> Caller:
        """The visitor. Views that strangers may see do not use this."""
        assert self._caller is not None
        return self._caller

    @property
    def known(self) -> Caller | None:
        """The visitor; None for a stranger."""
        return self._caller

    def asked(self, name: str) -> str | None:
        """A value of the query; None if it is empty."""
        return (self.request.query_params.get(name) or "").strip() or None

    @property
    def fragments(self) -> list[str]:
        """The fragments asked for; none means a whole page."""
        return [name for name in self.request.headers.get(FRAGMENT, "").split(",") if name]

    @property
    def have(self) -> frozenset[str]:
        """Digests of the rows that the browser already has."""
        return frozenset(self.request.headers.get(HAVE, "").split(","))

    def part(self, name: str) -> str:
        """A parameter of the path."""
        return str(self.request.path_params[name])

    async def form(self) -> dict[str, str]:
        """The form's fields; the last one counts if one comes twice. Outer spaces are removed, except from a message."""
        return {name: value if name == "content" else value.strip() for name, value in await self._fields()}

    async def picked(self, name: str) -> list[str]:
        """All values of one field of a form."""
        return [value for field, value in await self._fields() if field == name]

    async def _fields(self) -> list[tuple[str, str]]:
        try:
            text = (await self.request.body()).decode()
            return parse_qsl(text, keep_blank_values=True, max_num_fields=_MOST_FIELDS)
        except ValueError:
            raise Invalid(what="form", why="it cannot be read; open the page and try again") from None

    async def show(self, template: str, status: int = HTTPStatus.OK, *, badges: bool = True, **facts: Any) -> Response:
        """A whole page, or the fragments asked for, from the same template."""
        wanted = self.fragments
        facts |= await self._around(badges=badges and (not wanted or "nav" in wanted))
        work = run_in_threadpool(render_blocks, template, wanted, facts) if wanted else run_in_threadpool(render, template, facts)
        # All windows of a browser share a cookie. A fragment names its visitor, so that scripts do not put somebody else's into a page.
        headers = {"Vary": f"{FRAGMENT}, accept-encoding", VISITOR: facts["me"] or ""}
        body = (await work).encode()
        if unpacks(self.request) and (packed := pack(body)) is not None:
            headers["Content-Encoding"], body = "gzip", packed
        return HTMLResponse(body, status, headers)

    async def _around(self, *, badges: bool) -> dict[str, Any]:
        """What every page shows around its view."""
        facts: dict[str, Any] = {
            "look": self,
            "me": None if self._caller is None else self._caller.name,
            "owner": self._caller is not None and self._caller.owner,
            "guarded": self.office.rules.auth is Auth.KEYS,
            "path": self.request.url.path,
            "theme": theme_of(self.request),
            "badges": {},
            "cursor": "",
        }
        if self._caller is None or not badges:
            return facts
        caller = self.caller
        dead = (await self.office.totals()).dead if caller.owner else (await self.office.counts(caller)).dead
        waiting = await self.office.connections(caller, Status.PENDING, limit=_REQUESTS_COUNTED, everyone=caller.owner)
        facts["badges"] = {"foryou": await self.office.for_you_count(caller), "dead": dead, "connections": len(waiting.items)}
        facts["cursor"] = await self.office.place(caller)
        return facts

    def to(self, path: str, query: Mapping[str, str | None] | None = None, anchor: str = "") -> Response:
        """Answer a change by a redirect."""
        return RedirectResponse(address(path, query) + anchor, HTTPStatus.SEE_OTHER)

    def back(self, path: str, query: Mapping[str, str | None]) -> Response:
        """The same, or to the first page if the change was made there."""
        return self.to("/", {"said": query.get("said")}) if self.asked("back") == "/" else self.to(path, query)

    @staticmethod
    def once() -> str:
        """An id for a form, so that a form sent twice makes one message."""
        return f"page-{secrets.token_hex(12)}"


def address(path: str, query: Mapping[str, str | None] | None = None) -> str:
    """An address of the page with a query; empty values are left out."""
    fields = {name: value for name, value in (query or {}).items() if value}
    return f"{path}?{urlencode(fields)}" if fields else path

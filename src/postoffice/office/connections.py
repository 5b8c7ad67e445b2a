"""Verbs about connections: ask for one, consent, refuse, end."""

from postoffice.acts.people.connections import Approve, Conclude, Request
from postoffice.core.agent import Caller
from postoffice.core.connection import Connection, Handshake, Status, as_target_sees, read_code
from postoffice.core.errors import (
    NoSuchAgent,
    NoSuchCode,
    NoSuchConnection,
    ToOneself,
)
from postoffice.core.limits import Limits
from postoffice.core.names import check_name, folded
from postoffice.core.views import Page
from postoffice.office.checks import Checks
from postoffice.office.directory import Directory
from postoffice.store.store import Store


class Connections:
    """Either side asks, the other one consents, and either side ends it."""

    def __init__(self, store: Store, checks: Checks, directory: Directory, limits: Limits, handshake: Handshake) -> None:
        self._store = store
        self._checks = checks
        self._directory = directory
        self._limits = limits
        self._handshake = handshake

    async def request_connection(self, caller: Caller, target: str, note: str | None = None) -> Connection:
        """Ask another agent for a connection. The code in the answer goes from person to person."""
        if folded(check_name(target)) == folded(caller.name):
            raise ToOneself(name=caller.name)
        if note is not None:
            self._checks.ref(note, "note", self._limits.note_chars)
        try:
            return await self._store.do(Request(caller.name, target, note, rated=True))
        except NoSuchAgent:
            raise await self._directory.unknown(target) from None

    async def approve_connection(self, caller: Caller, code: str) -> Connection:
        """Give consent by the code that was passed on."""
        read = read_code(code)
        if read is None:
            raise NoSuchCode
        return await self._store.do(Approve(caller.name, read, self._handshake, owner=caller.owner))

    async def approve_for(self, owner: Caller, id: str) -> Connection:
        """The owner gives consent without a code."""
        self._checks.owner_only(owner, "approve a request without its code")
        return await self._store.do(Conclude(owner.name, id, Status.ACTIVE, owner=True))

    async def reject_connection(self, caller: Caller, id: str) -> Connection:
        """Refuse a request, or take one's own back."""
        return self._shown(caller, await self._store.do(Conclude(caller.name, id, Status.REJECTED, owner=caller.owner)))

    async def end_connection(self, caller: Caller, id: str) -> Connection:
        """End a connection; either side may."""
        return self._shown(caller, await self._store.do(Conclude(caller.name, id, Status.ENDED, owner=caller.owner)))

    async def connections(
        self, caller: Caller, status: Status | None = None, cursor: str | None = None, limit: int | None = None, *, everyone: bool = False
    ) -> Page[Connection]:
        """The caller's requests and connections, newest first; the owner sees everyone's."""
        name = None if self._checks.everyone(caller, wanted=everyone) else caller.name
        page = await self._store.connections.page(name, status, cursor, self._checks.page(limit))
        return Page(tuple(self._shown(caller, item) for item in page.items), page.cursor)

    async def connection(self, caller: Caller, id: str) -> Connection:
        """One request or connection, for either side of it."""
        connection = await self._store.connections.named(id)
        if connection is None or not (caller.owner or folded(caller.name) in (folded(connection.requester), folded(connection.target))):
            raise NoSuchConnection(status="known", ref=id, name=caller.name)
        return self._shown(caller, connection)

    def _shown(self, caller: Caller, connection: Connection) -> Connection:
        if caller.owner or folded(connection.target) != folded(caller.name):
            return connection
        return as_target_sees(connection, self._handshake)

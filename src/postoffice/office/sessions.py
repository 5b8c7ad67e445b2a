"""Verbs about an agent's sessions."""

from contextlib import suppress

from postoffice.acts.mail.session import ReadSession
from postoffice.core.agent import Caller
from postoffice.core.clock import is_id
from postoffice.core.errors import NoSuchSession, NotParticipant
from postoffice.core.limits import Limits, bounded
from postoffice.core.names import folded
from postoffice.core.session import Thread
from postoffice.core.views import Page
from postoffice.office.checks import Checks
from postoffice.office.directory import Directory
from postoffice.office.lists import Lists
from postoffice.office.persons import Persons
from postoffice.office.rota import Rota
from postoffice.office.short_ids import ShortIds
from postoffice.store.store import Store


class Sessions:
    """Listing them settles nothing; reading one settles what it shows."""

    def __init__(
        self,
        store: Store,
        checks: Checks,
        limits: Limits,
        directory: Directory,
        short_ids: ShortIds,
        persons: Persons,
        lists: Lists,
        rota: Rota,
    ) -> None:
        self._store = store
        self._lists = lists
        self._rota = rota
        self._checks = checks
        self._limits = limits
        self._directory = directory
        self._short_ids = short_ids
        self._persons = persons

    async def inbox(
        self,
        caller: Caller,
        cursor: str | None = None,
        limit: int | None = None,
        *,
        unread_only: bool = False,
        lines: int = 3,
        of: str | None = None,
    ) -> Page[Thread]:
        """The agent's sessions, newest first, with what was said last. Settles nothing."""
        shown = bounded("lines", lines, 3, 0, self._limits.page_most)
        return await self._store.sessions.inbox(
            await self._directory.mailbox(caller, of), cursor, self._checks.page(limit), unread_only=unread_only, lines=shown
        )

    async def history(
        self, caller: Caller, session_id: str, *, before: str | None = None, limit: int | None = None, peek: bool = False
    ) -> Thread:
        """A session's messages, newest first. What it shows is settled, tasks excepted, unless only peeking; a person has seen it.

        Whoever is in a role may look into its sessions, which settles nothing.
        """
        most = bounded("limit", limit, self._limits.page, 1, self._limits.page_most)
        reader = None if caller.owner else caller.name
        if before is not None and not is_id(before):
            before = await self._short_ids.whole(reader, before) or before
        try:
            thread = await self._read(caller, reader, session_id, before, most, peek=peek)
        except (NoSuchSession, NotParticipant):
            if (seen := await self._of_roles(caller, session_id, before, most)) is not None:
                return seen
            if (found := await self._store.lists.of_session(session_id, caller.name)) is None:
                raise
            thread = await self._lists.read(caller, found, before=before, limit=most, peek=peek)
        unread = [line.message.id for line in thread.lines if line.to == folded(caller.name) and not line.is_read]
        if peek or not unread or not await self._persons.is_person(caller):
            return thread
        await self._persons.all_seen(caller, unread)
        return await self.history(caller, session_id, before=before, limit=most, peek=True)

    async def _read(self, caller: Caller, reader: str | None, session_id: str, before: str | None, most: int, *, peek: bool) -> Thread:
        if peek or reader is None:
            return await self._store.sessions.peek(reader, session_id, before, most)
        place = await self._store.sessions.place(caller.name, session_id, before)
        return await self._store.do(ReadSession(caller.name, session_id, place, most))

    async def _of_roles(self, caller: Caller, session_id: str, before: str | None, most: int) -> Thread | None:
        """The session as a role has it in which the caller is."""
        await self._rota.look()
        for role in self._rota.of(caller.name):
            with suppress(NotParticipant):
                return await self._store.sessions.peek(role, session_id, before, most)
        return None

"""Verbs that look into a mailbox."""

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.errors import NoSuchAgent, Unavailable
from postoffice.core.limits import Limits
from postoffice.core.message import Message
from postoffice.core.views import MailboxCounts, Page, RoleMail
from postoffice.office.checks import Checks
from postoffice.office.directory import Directory
from postoffice.office.rota import Rota
from postoffice.store.store import Store


class Mailboxes:
    """What waits in them, and how much; nothing is taken."""

    def __init__(self, store: Store, checks: Checks, limits: Limits, directory: Directory, rota: Rota) -> None:
        self._store = store
        self._checks = checks
        self._limits = limits
        self._directory = directory
        self._rota = rota

    async def waiting(
        self, caller: Caller, cursor: str | None = None, limit: int | None = None, *, of: str | None = None, outside: bool = False
    ) -> Page[Message]:
        """What waits, or of it what stands outside of sessions, in the order it would be given out. Takes nothing."""
        return await self._store.mail.waiting(await self._directory.mailbox(caller, of), cursor, self._checks.page(limit), outside=outside)

    async def waiting_in_roles(self, caller: Caller, limit: int | None = None) -> tuple[RoleMail, ...]:
        """What the caller would be given now of the mail of its roles, role by role. Takes nothing."""
        most, silence, stay = self._checks.page(limit), self._limits.heartbeat_timeout, self._limits.role_stay
        await self._rota.look()
        roles = self._rota.of(caller.name)
        return tuple([RoleMail(role, await self._store.roles.waiting(role, caller.name, silence, stay, most)) for role in roles])

    async def counts(self, caller: Caller, *, of: str | None = None) -> MailboxCounts:
        """One mailbox in numbers. What is held is counted for the owner only: its recipient is not told of it."""
        try:
            counts = await self._store.mail.counts(await self._directory.whose(caller, of))
            return counts if caller.owner else msgspec.structs.replace(counts, held=0)
        except NoSuchAgent:
            if of is not None:
                raise
            if caller.new:
                return MailboxCounts(held=0, pending=0, leased=0, dead=0, counted=0, unread=0, oldest_waiting=None)
            raise Unavailable(why=f"there is no mailbox of {caller.name} any more, a backup has taken the place of the mail") from None

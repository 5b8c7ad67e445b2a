"""Verbs that look into a mailbox."""

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.errors import NoSuchAgent, Unavailable
from postoffice.core.message import Message
from postoffice.core.views import MailboxCounts, Page
from postoffice.office.checks import Checks
from postoffice.office.directory import Directory
from postoffice.store.store import Store


class Mailboxes:
    """What waits in them, and how much; nothing is taken."""

    def __init__(self, store: Store, checks: Checks, directory: Directory) -> None:
        self._store = store
        self._checks = checks
        self._directory = directory

    async def waiting(
        self, caller: Caller, cursor: str | None = None, limit: int | None = None, *, of: str | None = None, outside: bool = False
    ) -> Page[Message]:
        """What waits, or of it what stands outside of sessions, in the order it would be given out. Takes nothing."""
        return await self._store.mail.waiting(await self._directory.mailbox(caller, of), cursor, self._checks.page(limit), outside=outside)

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

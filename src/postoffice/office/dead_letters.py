"""Verbs about dead letters."""

from postoffice.acts.mail.dead import Discard, Requeue
from postoffice.core.agent import Caller
from postoffice.core.delivery import Settled
from postoffice.core.views import DeadLetter, Page
from postoffice.office.checks import Checks
from postoffice.office.directory import Directory
from postoffice.office.short_ids import ShortIds
from postoffice.store.store import Store


class DeadLetters:
    """Their recipient or the owner sees them, and says what becomes of them."""

    def __init__(self, store: Store, checks: Checks, directory: Directory, short_ids: ShortIds) -> None:
        self._store = store
        self._checks = checks
        self._directory = directory
        self._short_ids = short_ids

    async def dead_letters(
        self, caller: Caller, cursor: str | None = None, limit: int | None = None, *, of: str | None = None, everyone: bool = False
    ) -> Page[DeadLetter]:
        """What could not be delivered, and why."""
        name = None if self._checks.everyone(caller, wanted=everyone) else await self._directory.mailbox(caller, of)
        return await self._store.mail.dead_letters(name, self._checks.cursor(cursor) or None, self._checks.page(limit))

    async def requeue(self, caller: Caller, ref: str, *, of: str | None = None) -> Settled:
        """Give a dead letter another life, with all its tries."""
        name = await self._directory.whose(caller, of)
        return await self._short_ids.named(name, self._checks.ref(ref), lambda whole: self._store.do(Requeue(name, whole)))

    async def discard(self, caller: Caller, ref: str, *, of: str | None = None) -> Settled:
        """Be done with a dead letter."""
        name = await self._directory.whose(caller, of)
        return await self._short_ids.named(name, self._checks.ref(ref), lambda whole: self._store.do(Discard(name, whole)))

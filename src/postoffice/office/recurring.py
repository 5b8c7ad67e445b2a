"""Verbs about letters that are sent again and again."""

from postoffice.acts.mail.recurring import KeepRecurring, SendRecurring, StopRecurring
from postoffice.core.agent import Caller
from postoffice.core.clock import own_writing
from postoffice.core.errors import NoSuchRecurring, OwnerOnly
from postoffice.core.recurring import Missed, Recurring, Template
from postoffice.office.checks import Checks
from postoffice.store.store import Store

_AT_ONCE = 100


class RecurringLetters:
    """Begin, list, stop; and send what is due."""

    def __init__(self, store: Store, checks: Checks, *, strangers: bool) -> None:
        self._store = store
        self._checks = checks
        self._strangers = strangers

    async def begin(self, caller: Caller, every: str, letter: Template, zone: str = "UTC", missed: Missed = Missed.ONCE) -> Recurring:
        """Send it whenever its time comes, by the clocks of that zone, until it is stopped."""
        self._checks.draft(letter.draft())
        for what, text in (("every", every), ("zone", zone)):
            self._checks.ref(text, what)
        return await self._store.do(KeepRecurring(caller.name, every, zone, missed, letter, verified=caller.verified))

    async def all(self, caller: Caller, *, everyone: bool = False) -> tuple[Recurring, ...]:
        """The caller's; the owner's are everybody's."""
        if everyone and not caller.owner:
            raise OwnerOnly(what="see others' recurring letters")
        return await self._store.recurring.all(None if everyone else caller.name)

    async def stop(self, caller: Caller, id: str) -> Recurring:
        """Send it no more: one's own, or for the owner anybody's."""
        wanted = own_writing(self._checks.ref(id))
        fitting = [one for one in await self._store.recurring.all(None if caller.owner else caller.name) if one.id.endswith(wanted)]
        if len(fitting) != 1:
            raise NoSuchRecurring(id=id)
        return await self._store.do(StopRecurring(fitting[0].sender, fitting[0].id))

    async def send_due(self) -> int:
        """Send those whose time has come; gives how many there were."""
        due = await self._store.recurring.due(_AT_ONCE)
        return sum([await self._store.do(SendRecurring(row, strangers=self._strangers)) for row in due])

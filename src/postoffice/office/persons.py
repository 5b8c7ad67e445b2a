"""Verbs of people: what waits for them, and how they finish their mail."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from postoffice.acts.mail.finish import Done, Finish, KeepUnread, See, Snooze
from postoffice.core.agent import Caller
from postoffice.core.clock import Clock, moment
from postoffice.core.delivery import Standing
from postoffice.core.errors import Invalid, PersonsOnly
from postoffice.core.for_you import ForYou
from postoffice.core.limits import LONGEST, bounded
from postoffice.core.names import OWNER, folded
from postoffice.office.checks import Checks
from postoffice.office.short_ids import ShortIds
from postoffice.store.store import Store

_LEAST = timedelta(seconds=1)
_HOUR = timedelta(hours=1)


class Persons:
    """What a person does with mail in their own mailbox, nobody does in another's."""

    def __init__(self, store: Store, checks: Checks, short_ids: ShortIds, clock: Clock) -> None:
        self._store = store
        self._checks = checks
        self._short_ids = short_ids
        self._clock = clock

    async def for_you(self, caller: Caller, limit: int | None = None) -> ForYou:
        """All that waits for the caller, the most pressing first; for the owner also what waits for consent, is dead, or was rung in vain, anywhere."""
        return await self._store.for_you.list(caller.name, self._checks.page(limit), everyone=_is_owner(caller))

    async def for_you_count(self, caller: Caller) -> int:
        """How much that is."""
        return await self._store.for_you.count(caller.name, everyone=_is_owner(caller))

    async def seen(self, caller: Caller, ref: str) -> Standing:
        """Open it: no longer unread, listed until it is answered or done, and its sender hears that it was seen."""
        return await self._finish(caller, ref, lambda whole: See(caller.name, whole))

    async def all_seen(self, caller: Caller, refs: Sequence[str]) -> None:
        """Open several, each by itself; what is not there any more harms none of the others."""
        await self.check_person(caller)
        await self._store.do_each([See(caller.name, self._checks.ref(ref)) for ref in refs])

    async def keep_unread(self, caller: Caller, ref: str) -> Standing:
        """Have it as if it had not been opened."""
        return await self._finish(caller, ref, lambda whole: KeepUnread(caller.name, whole))

    async def done(self, caller: Caller, ref: str) -> Standing:
        """Be done with it, answered or not."""
        return await self._finish(caller, ref, lambda whole: Done(caller.name, whole))

    async def snooze(self, caller: Caller, ref: str, lasts: timedelta | None = None, until: datetime | None = None) -> Standing:
        """Put it off for so long, or until then; an hour unless told otherwise. It comes back by itself, unread."""
        if until is not None:
            if until.tzinfo is None or lasts is not None:
                raise Invalid(what="snooze", why="give seconds, or a time with its time zone")
            lasts = until - moment(self._clock.now())
        span = bounded("snooze", lasts, _HOUR, _LEAST, LONGEST)
        return await self._finish(caller, ref, lambda whole: Snooze(caller.name, whole, span))

    async def is_person(self, caller: Caller) -> bool:
        """Whether it is a person: the owner, or an agent that the owner has marked so."""
        if folded(caller.name) == OWNER:
            return True
        card = await self._store.agents.card(caller.name)
        return card is not None and card.person

    async def check_person(self, caller: Caller) -> None:
        """Refuse whoever is none."""
        if not await self.is_person(caller):
            raise PersonsOnly(name=caller.name)

    async def _finish(self, caller: Caller, ref: str, act: Callable[[str], Finish]) -> Standing:
        await self.check_person(caller)
        return await self._short_ids.named(caller.name, self._checks.ref(ref), lambda whole: self._store.do(act(whole)))


def _is_owner(caller: Caller) -> bool:
    """Whether it is the owner, and not somebody for whom the owner speaks."""
    return caller.owner and folded(caller.name) == OWNER

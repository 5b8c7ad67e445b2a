"""Verbs by which people finish their mail."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from postoffice.acts.mail.finish import Done, Finish, KeepUnread, See, Snooze
from postoffice.core.agent import Caller
from postoffice.core.clock import moment
from postoffice.core.delivery import Standing
from postoffice.core.errors import Invalid, PersonsOnly
from postoffice.core.limits import LONGEST, bounded
from postoffice.core.names import OWNER, folded
from postoffice.office.counter import Counter

_LEAST = timedelta(seconds=1)
_HOUR = timedelta(hours=1)


class FinishingVerbs(Counter):
    """What a person does with mail in their own mailbox. Nobody does it in another's."""

    async def seen(self, caller: Caller, ref: str) -> Standing:
        """Open it: no longer unread, listed until it is answered or done, and its sender hears that it was seen."""
        return await self._finish(caller, ref, lambda whole: See(caller.name, whole))

    async def all_seen(self, caller: Caller, refs: Sequence[str]) -> None:
        """Open several, each by itself; what is not there any more harms none of the others."""
        await self._check_person(caller)
        await self.store.do_each([See(caller.name, self._checks.ref(ref)) for ref in refs])

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
        card = await self.store.agents.card(caller.name)
        return card is not None and card.person

    async def _check_person(self, caller: Caller) -> None:
        if not await self.is_person(caller):
            raise PersonsOnly(name=caller.name)

    async def _finish(self, caller: Caller, ref: str, act: Callable[[str], Finish]) -> Standing:
        await self._check_person(caller)
        return await self.short_ids.named(caller.name, self._checks.ref(ref), lambda whole: self.store.do(act(whole)))

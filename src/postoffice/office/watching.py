"""Verbs of people who watch: the office at a glance, what happens as it happens, and the visits they make to the page."""

import secrets
from collections.abc import AsyncIterator
from datetime import datetime, timedelta

import msgspec

from postoffice.acts.people.agents import Appear
from postoffice.acts.people.logins import EndVisit, MakeLink, UseLink
from postoffice.core.agent import Caller, code_hash
from postoffice.core.errors import BadCursor, BadLink, Invalid, NotYou, NoVisit, OwnerOnly
from postoffice.core.event import Event, beyond
from postoffice.core.names import OWNER, check_free, check_name, folded
from postoffice.core.talk import Aside, Custom, Talk, Waiting
from postoffice.core.task import FINAL, Task, TaskState
from postoffice.core.traffic import Deed, Span, Traffic
from postoffice.core.views import Glance, Page, Seat
from postoffice.office.counter import Counter
from postoffice.wake.protocol import EVERYBODY

_LINK_LASTS = timedelta(minutes=10)
_VISIT_LASTS = timedelta(days=30)
_EVENTS_IN_A_PULSE = 200  # events told one by one; of more it is only said that there were more
_SECOND_LOOK_SECONDS = 0.05  # seconds until the next look after a hint whose cause could not be seen yet
_CURSOR_DIGITS = 18


class Pulse(msgspec.Struct, frozen=True):
    """What happened since the last one: events, or more than can be told, or mail that only changed hands."""

    cursor: str
    events: tuple[Event, ...] = ()
    missed: bool = False
    moved: bool = False

    @property
    def quiet(self) -> bool:
        """Whether nothing happened."""
        return not (self.events or self.missed or self.moved)


class WatchingVerbs(Counter):
    """Watching. None of it settles or takes anything, or counts as a sign of the agent's life."""

    async def roster(self, owner: Caller, cursor: str | None = None, limit: int | None = None) -> Page[Seat]:
        """Every agent with its mailbox in numbers, for the owner."""
        self._owner(owner, "see everyone's numbers")
        page = await self.store.overview.roster(self._checks.cursor(cursor), self._checks.page(limit))
        await self._board.look()
        return Page(tuple(self._with_presence(seat, seat.tasks, owner) for seat in page.items), page.cursor)

    async def glances(self, owner: Caller, cursor: str | None = None, limit: int | None = None) -> Page[Glance]:
        """Everyone's letters, newest first, for the owner."""
        self._owner(owner, "look over everyone's mail")
        return await self.store.overview.glances(cursor, self._checks.page(limit))

    async def talks(self, owner: Caller, cursor: str | None = None, limit: int | None = None, *, waiting_only: bool = False) -> Page[Talk]:
        """Everyone's conversations, by what was said last in each, for the owner."""
        self._owner(owner, "look over everyone's mail")
        return await self.store.talks.page(cursor, self._checks.page(limit), waiting_only=waiting_only)

    async def between(
        self, caller: Caller, one: str, other: str, subject: str | None = None, limit: int | None = None
    ) -> tuple[Aside, ...]:
        """What two agents said to each other last, of all their conversations or of one, for either of them or the owner."""
        mine = folded(caller.name) in (folded(check_name(one)), folded(check_name(other)))
        if not (caller.owner or mine):
            raise OwnerOnly(what="read what others say to each other")
        return await self.store.talks.between(one, other, subject, None if caller.owner else caller.name, self._checks.page(limit))

    async def customs(self, owner: Caller) -> tuple[Custom, ...]:
        """How long mail waits for each agent as a rule, for the owner."""
        self._owner(owner, "see everyone's numbers")
        return await self.store.talks.customs()

    async def who_waits(self, owner: Caller, limit: int | None = None) -> tuple[Waiting, ...]:
        """Who waits on whom, the longest wait first, for the owner."""
        self._owner(owner, "see everyone's numbers")
        return await self.store.talks.waits(self._checks.page(limit))

    async def open_tasks(self, caller: Caller, state: TaskState, cursor: str | None = None, limit: int | None = None) -> Page[Task]:
        """Unfinished tasks in one state, the longest open first: asked of the agent or by it; the owner sees all."""
        return await self.store.tasks.open(None if caller.owner else caller.name, state, cursor, self._checks.page(limit))

    async def finished_tasks(self, caller: Caller, limit: int | None = None) -> tuple[Task, ...]:
        """The newest tasks that are done, one way or the other."""
        most = self._checks.page(limit)
        if caller.owner:
            return (await self.store.tasks.finished(None, most)).items
        tasks: dict[str, Task] = {}
        for state in FINAL:
            asked = await self.store.tasks.page(assignee=caller.name, state=state, limit=most)
            mine = await self.store.tasks.page(requester=caller.name, state=state, limit=most)
            tasks |= {task.message_id: task for task in (*asked.items, *mine.items)}
        return tuple(tasks[id] for id in sorted(tasks, reverse=True)[:most])

    async def traffic(self, caller: Caller, span: Span) -> Traffic:
        """How mail flowed: the agent's own, the owner's view of everyone's."""
        return await self.store.overview.traffic(None if caller.owner else caller.name, span)

    async def deeds(self, caller: Caller, begun: datetime) -> tuple[Deed, ...]:
        """Each delivery since then as it went: the agent's own, for the owner everyone's."""
        return await self.store.talks.deeds(None if caller.owner else caller.name, begun)

    async def speak_as(self, caller: Caller, name: str | None) -> Caller:
        """The owner may lend its voice to people and agents that have no key of their own; others speak for themselves."""
        if name is None or folded(name) == folded(caller.name):
            return caller
        if not caller.owner:
            raise NotYou(claimed=name, name=caller.name)
        return Caller(await self.store.do(Appear(check_free(name))), verified=True, owner=True)

    # What happens

    async def place(self, caller: Caller) -> str:
        """Where the log stands now: what happens after it is news."""
        if caller.owner:
            return await self.store.log.last()
        return str((await self.store.mail.look([caller.name])).get(folded(caller.name), (0, 0))[1])

    async def watch(self, caller: Caller, after: str | None) -> AsyncIterator[Pulse]:
        """What happens after a place in the log, a pulse a tick, sooner with news; until the office closes.

        The owner watches everyone. A place that is not one (of another office) is answered with the present one,
        and with the word that something was missed.
        """
        cursor, stood = after or await self.place(caller), None
        soon = False
        with self.places.taken(caller.name), self.watchers, self._bells.waiting(EVERYBODY if caller.owner else folded(caller.name)) as bell:
            while not self._bells.closed:
                hinted = bell.still()
                pulse = await self._pulse(caller, cursor)
                stands = await self._stands(caller)
                # What neither the log nor the counts explain, even a moment after its hint, is mail that was given back, or a card.
                unexplained = soon and not (pulse.events or pulse.missed)
                pulse = msgspec.structs.replace(pulse, moved=unexplained or stood not in (None, stands))
                cursor, stood = pulse.cursor, stands
                if not caller.owner:
                    bell.after = int(cursor)  # it waits for news: what lies there untaken is none
                yield pulse
                # A hint may come before everybody can see what it is about: then look again soon.
                soon = hinted and pulse.quiet
                if pulse.quiet:
                    await bell.rings(_SECOND_LOOK_SECONDS if soon else self.house.tick)

    async def _pulse(self, caller: Caller, cursor: str) -> Pulse:
        try:
            events = await self._events(caller, cursor)
        except Invalid:  # what nobody could have given out is no place either
            return Pulse(await self.place(caller), missed=True)
        if len(events) > _EVENTS_IN_A_PULSE:
            return Pulse(await self.place(caller), missed=True)
        return Pulse(events[-1].cursor if events else cursor, tuple(events))

    async def _events(self, caller: Caller, cursor: str) -> list[Event]:
        if caller.owner:
            return await self._log(cursor, _EVENTS_IN_A_PULSE + 1)
        if not cursor.isdecimal() or not cursor.isascii() or len(cursor) > _CURSOR_DIGITS:
            raise BadCursor(cursor=cursor)
        events = await self.store.log.of(caller.name, int(cursor), _EVENTS_IN_A_PULSE + 1)
        if not events and beyond(cursor, await self.place(caller)):
            raise BadCursor(cursor=cursor)
        return events

    async def _stands(self, caller: Caller) -> tuple[int, ...]:
        """What leases and returns change, of which the log says nothing."""
        if caller.owner:
            totals = await self.store.overview.totals()
            return totals.agents, totals.held, totals.pending, totals.leased, totals.dead
        counts = await self.store.mail.counts(caller.name)
        return counts.held, counts.pending, counts.leased, counts.dead

    # Visits to the page

    async def make_link(self, caller: Caller) -> str:
        """A code that opens the page once, within ten minutes, for whoever proved to be this agent."""
        if not (caller.verified or caller.owner):
            raise OwnerOnly(what="make a link for a name that no key proves")
        code = secrets.token_urlsafe(32)
        await self.store.do(MakeLink(caller.name, caller.key, code_hash(code), _LINK_LASTS))
        return code

    async def enter(self, code: str) -> tuple[str, timedelta]:
        """Begin a visit by a link's code. Gives what proves the visit from here on, and how long it lasts."""
        proof = secrets.token_urlsafe(32)
        await self.store.do(UseLink(code_hash(code), code_hash(proof), _VISIT_LASTS))
        return proof, _VISIT_LASTS

    async def whose_link(self, code: str) -> str:
        """Whom a link's code lets in. The link is not used by that."""
        name = await self.store.agents.by_login(code_hash(code), "link") if code else None
        if name is None:
            raise BadLink
        return name

    async def visitor(self, proof: str | None) -> Caller:
        """Who is looking, by what proves the visit."""
        name = None if not proof else await self.store.agents.by_login(code_hash(proof), "visit")
        if name is None:
            raise NoVisit
        return Caller(name, verified=True, owner=folded(name) == OWNER)

    async def end_visit(self, proof: str) -> None:
        """End a visit."""
        await self.store.do(EndVisit(code_hash(proof)))

    def _owner(self, caller: Caller, what: str) -> None:
        if not caller.owner:
            raise OwnerOnly(what=what)

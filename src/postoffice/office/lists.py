"""Verbs about lists: who keeps them, who is on them, and what was written to them."""

from collections.abc import Awaitable, Callable, Sequence

import msgspec

from postoffice.acts.lists.joining import Add, Join, Leave
from postoffice.acts.lists.keeping import ChangeList, EndList, MakeList
from postoffice.acts.lists.reading import SettleShown
from postoffice.core.agent import Caller
from postoffice.core.delivery import State
from postoffice.core.errors import Invalid, MailError, NoSuchList, NotOnList
from postoffice.core.limits import Limits, bounded
from postoffice.core.mailing_list import MOST_DESCRIBED, Added, ListMember, ListRules, MailingList, Place
from postoffice.core.names import check_free, check_list, check_name
from postoffice.core.session import Line, Thread
from postoffice.core.views import Page
from postoffice.office.checks import Checks
from postoffice.store.store import Store


class Lists:
    """A list is no agent: it has no mailbox and no key, and cannot write. Its mail goes to its members."""

    def __init__(self, store: Store, checks: Checks, limits: Limits) -> None:
        self._store = store
        self._checks = checks
        self._limits = limits

    async def make(self, caller: Caller, name: str, rules: ListRules, members: Sequence[str] = ()) -> tuple[MailingList, tuple[Added, ...]]:
        """Make a list, and put these on it who let the caller write to them; the others are invited."""
        listed = check_list(name)
        checked = self._rules(rules)
        self._checks.batch(members)
        made = await self._store.do(MakeList(caller.name, listed, checked))
        added = await self._each(members, lambda agent: self._put(caller, listed, agent), alone=False)
        return await self.show(caller, made.name), added

    async def change(self, caller: Caller, name: str, rules: ListRules) -> MailingList:
        """Change what it is for, or who may do what there. Its members hear of it."""
        listed = check_list(name)
        await self._store.do(ChangeList(caller.name, listed, self._rules(rules)))
        return await self.show(caller, listed)

    async def delete(self, caller: Caller, name: str) -> MailingList:
        """End it. What was written to it stays with those who got it."""
        return await self._store.do(EndList(caller.name, check_list(name)))

    async def show(self, caller: Caller, name: str) -> MailingList:
        """One list."""
        listed = check_list(name)
        found = await self._store.lists.named(listed, caller.name)
        if found is None:
            raise NoSuchList(name=listed)
        return found

    async def all(self, caller: Caller, cursor: str | None = None, limit: int | None = None, *, mine: bool = False) -> Page[MailingList]:
        """The lists there are, or those the caller is on or may come to."""
        after = None if cursor is None else self._checks.cursor(cursor)
        return await self._store.lists.all(caller.name, after, self._checks.page(limit), mine=mine)

    async def members(self, caller: Caller, name: str, cursor: str | None = None, limit: int | None = None) -> Page[ListMember]:
        """Who is on it, for those who are and for the owner."""
        found = await self.show(caller, name)
        if found.you is not Place.MEMBER and found.owner != caller.name and not caller.owner:
            raise NotOnList(agent=caller.name, name=found.name)
        after = None if cursor is None else self._checks.cursor(cursor)
        return await self._store.lists.members(found.session_id, after, self._checks.page(limit))

    async def join(self, caller: Caller, name: str) -> MailingList:
        """Be on it from now on."""
        listed = check_list(name)
        await self._store.do(Join(caller.name, listed))
        return await self.show(caller, listed)

    async def leave(self, caller: Caller, name: str) -> MailingList:
        """Be on it no more."""
        listed = check_list(name)
        await self._store.do(Leave(caller.name, listed, caller.name))
        return await self.show(caller, listed)

    async def add(self, caller: Caller, name: str, agents: Sequence[str]) -> tuple[Added, ...]:
        """Put agents on it. Whoever takes no mail from the caller is invited, and joins itself or not."""
        listed = check_list(name)
        return await self._each(agents, lambda agent: self._put(caller, listed, agent))

    async def remove(self, caller: Caller, name: str, agents: Sequence[str]) -> tuple[Added, ...]:
        """Take agents off it, or take invitations back."""
        listed = check_list(name)
        return await self._each(agents, lambda agent: self._store.do(Leave(caller.name, listed, check_name(agent))))

    async def history(
        self, caller: Caller, name: str, *, before: str | None = None, limit: int | None = None, peek: bool = False
    ) -> Thread:
        """What was written to it. What it shows of the caller's own mail is settled, unless only peeking."""
        found = await self.show(caller, name)
        return await self.read(caller, found, before=before, limit=limit, peek=peek)

    async def read(self, caller: Caller, found: MailingList, *, before: str | None, limit: int | None, peek: bool) -> Thread:
        """The same of a list that was found."""
        most = bounded("limit", limit, self._limits.page, 1, self._limits.page_most)
        reader = None if caller.owner and found.you in (None, Place.INVITED) else caller.name
        thread = await self._store.lists.read(found, reader, before, most)
        waiting = [line.message.id for line in thread.lines if line.state is State.PENDING]
        if peek or not waiting or reader is None:
            return thread
        settled = set(await self._store.do(SettleShown(reader, waiting)))
        lines = tuple(_settled(line) if line.message.id in settled else line for line in thread.lines)
        return msgspec.structs.replace(thread, lines=lines, unread=max(0, thread.unread - len(settled)))

    def _rules(self, rules: ListRules) -> ListRules:
        if rules.description is not None:
            self._checks.ref(rules.description, "description", MOST_DESCRIBED)
        if rules.posters is None:
            return rules
        if len(rules.posters) > self._limits.recipients:
            raise Invalid(what="posters", why=f"it names {len(rules.posters)} agents, more than {self._limits.recipients}")
        return msgspec.structs.replace(rules, posters=tuple(map(check_name, rules.posters)))

    async def _put(self, caller: Caller, name: str, agent: str) -> Added:
        return await self._store.do(Add(caller.name, name, check_free(agent)))

    async def _each(self, agents: Sequence[str], do: Callable[[str], Awaitable[Added]], *, alone: bool = True) -> tuple[Added, ...]:
        """What became of each. If nothing but one was asked for, its refusal is the answer."""
        self._checks.batch(agents)
        done: list[Added] = []
        for agent in agents:
            try:
                done.append(await do(agent))
            except MailError as error:
                if alone and len(agents) == 1:
                    raise
                done.append(Added(name=agent, place=None, detail=str(error)))
        return tuple(done)


def _settled(line: Line) -> Line:
    """A line that reading it has settled."""
    standing = None if line.standing is None else msgspec.structs.replace(line.standing, state=State.ACKED)
    return msgspec.structs.replace(line, state=State.ACKED, standing=standing)

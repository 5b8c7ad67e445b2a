"""Verbs that hold an agent's mail for a while."""

from datetime import datetime, timedelta

from postoffice.acts.people.pausing import PauseMail, ResumeMail
from postoffice.core.agent import Agent, Caller
from postoffice.core.clock import Clock, moment
from postoffice.core.errors import Invalid
from postoffice.core.limits import LONGEST, Limits, bounded
from postoffice.core.pause import Pause
from postoffice.office.agents import Agents
from postoffice.office.checks import Checks
from postoffice.office.directory import Directory
from postoffice.store.store import Store

_LEAST = timedelta(seconds=1)


class Pauses:
    """The agent itself or the owner pauses its mail, and resumes it."""

    def __init__(self, store: Store, checks: Checks, limits: Limits, directory: Directory, agents: Agents, clock: Clock) -> None:
        self._store = store
        self._checks = checks
        self._limits = limits
        self._directory = directory
        self._agents = agents
        self._clock = clock

    async def pause(
        self,
        caller: Caller,
        lasts: timedelta | None = None,
        until: datetime | None = None,
        reason: str | None = None,
        *,
        of: str | None = None,
    ) -> Pause:
        """Hold its mail for so long, until then, or until it is resumed. What is in hand goes on; senders are told until when."""
        if until is not None:
            if until.tzinfo is None or lasts is not None:
                raise Invalid(what="pause", why="give seconds, or a time with its time zone")
            lasts = until - moment(self._clock.now())
        span = None if lasts is None else bounded("pause", lasts, _LEAST, _LEAST, LONGEST)
        why = self._checks.ref(reason, "reason", self._limits.note_chars) if reason else None
        return await self._store.do(PauseMail(await self._directory.agent(caller, of), caller.name, span, why))

    async def resume(self, caller: Caller, *, of: str | None = None) -> Agent:
        """Go on at once; whoever waits for its mail gets it in order."""
        name = await self._directory.agent(caller, of)
        await self._store.do(ResumeMail(name))
        return await self._agents.agent(name, caller)

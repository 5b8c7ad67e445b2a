"""What the bell listens to: the news of each agent that has a window here, and of each role that one of them is in."""

import asyncio
from collections.abc import Mapping
from functools import partial

from postoffice.bridges.bell.news import listen
from postoffice.bridges.bell.office import Offices
from postoffice.bridges.bell.window import Window
from postoffice.client.process import Process

Key = tuple[str, str, str]
"""A server, the agent that listens, and whose mail it listens for: its own, or a role's."""


class Listeners:
    """One for each mailbox, however many windows are told of it."""

    def __init__(self, windows: Mapping[Process, Window], offices: Offices) -> None:
        self._windows = windows
        self._offices = offices
        self._tasks: dict[Key, asyncio.Task[None]] = {}

    def keep(self) -> None:
        """Have one for each mailbox that windows here take from, and no others."""
        wanted = self._wanted()
        for key in self._tasks.keys() - wanted.keys():
            self._tasks.pop(key).cancel()
        for key, window in wanted.items():
            if key not in self._tasks:
                self._tasks[key] = asyncio.create_task(self._listen(key, window))

    def begin_anew(self) -> None:
        """Leave those there are, whose connections may be broken, and listen again."""
        self.end()
        self._tasks.clear()
        self.keep()

    def end(self) -> list[asyncio.Task[None]]:
        """Listen no more."""
        for task in self._tasks.values():
            task.cancel()
        return list(self._tasks.values())

    def _wanted(self) -> dict[Key, Window]:
        open_now = [one for one in self._windows.values() if one.agent is not None and one.id is not None]
        wanted = {(one.card.server, str(one.agent), str(one.agent)): one for one in open_now}
        roles: dict[tuple[str, str], Window] = {}
        for one in open_now:
            for role in one.roles:
                first = roles.setdefault((one.card.server, role), one)
                if str(one.agent) < str(first.agent):
                    roles[one.card.server, role] = one  # always the same one, while it is here and in the role
        return wanted | {(server, str(one.agent), role): one for (server, role), one in roles.items()}

    async def _listen(self, key: Key, window: Window) -> None:
        server, agent, mailbox = key
        wire = self._offices.of(window).wire(agent)
        role = None if mailbox == agent else mailbox
        await listen(wire, partial(self._stir, server, mailbox), partial(self._ask, server, mailbox), role)

    def _stir(self, server: str, mailbox: str) -> None:
        """Windows that take from a mailbox look at their mail."""
        for window in self._windows.values():
            if window.card.server == server and (window.agent == mailbox or mailbox in window.roles):
                window.stirred.set()

    def _ask(self, server: str, agent: str) -> None:
        """Somebody asked for a ring: one of the mailbox's windows is rung at once."""
        for window in self._windows.values():
            if (window.card.server, window.agent) == (server, agent):
                window.card.ringing = window.card.ringing.ask()

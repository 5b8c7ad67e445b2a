"""Rings one window: when something is due and the window is idle, by the best way that works."""

import asyncio
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime

from postoffice.bridges.bell import place, words
from postoffice.bridges.bell.office import Office
from postoffice.bridges.bell.window import Window
from postoffice.core.errors import MailError

_BEGIN_SECONDS = 1.5
"""If an idle client has begun no turn within this time after a ring, the way does not work."""
_LAST_SECONDS = 20.0
"""The same for a client rung by its queue, and for the last way left: a client that has just opened is slow."""
_LOOK_SECONDS = 0.2
"""How often to look at a window at work whose client reports by itself when it is idle."""
_ALONE_SECONDS = 5.0
"""How often to ask whether a person still wants a window left alone."""
_LONGEST_SECONDS = 60.0
_NOTHING_SECONDS = 600.0
"""The same while nothing waits: of what comes we are told."""


class Ringer:
    """Attends to one window from its opening to its end."""

    def __init__(self, window: Window, office: Office, fellows: Callable[[Window], Sequence[Window]]) -> None:
        self._window = window
        self._office = office
        self._fellows = fellows
        self._found_at_work = False

    async def attend(self) -> None:
        """Look and ring until cancelled."""
        window = self._window
        while True:
            pause = _LONGEST_SECONDS
            try:
                pause = await self._look()
            except (MailError, LookupError, TypeError):  # the office is away: when it is back, news stirs us
                self._keep(window.card.ringing.begun())
            await self._rest(pause)
            window.stirred.clear()

    async def _rest(self, seconds: float) -> None:
        """Wait this long, or until something stirs, or until a window at work becomes idle."""
        window, until = self._window, time.monotonic() + seconds
        working = self._found_at_work and window.knows_itself()
        while (left := until - time.monotonic()) > 0 and not window.stirred.is_set() and (not working or window.at_work()):
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, _LOOK_SECONDS) if working else left):
                    await window.stirred.wait()

    async def _look(self) -> float:
        """Look at what waits and ring if something is due. Returns how long nothing will be due."""
        window, now = self._window, time.monotonic()
        if window.agent is None or window.id is None:
            return _LONGEST_SECONDS
        if window.left_alone:
            return _ALONE_SECONDS
        self._found_at_work = window.at_work()  # asked before we look at its mail: a turn that ends in between may have taken it
        await self._heed()
        if window.card.ringing.under_way is not None and not window.queued():
            self._keep(window.card.ringing.begun())  # its client no longer has that ring queued, whatever became of it
        ringing = window.card.ringing
        if vain := ringing.in_vain(now):
            self._keep(window.card.ringing.give_up(vain))
            await self._office.untaken(window, vain)
        due = ringing.due(window.letters, now)
        if not due:
            return self._pause(now)
        if self._found_at_work:
            await self._urge()
            return _LONGEST_SECONDS
        fellows = self._fellows(window)
        if (pause := self._busy_for(due, fellows)) is not None:
            return pause
        await self._ring(due, fellows)
        return self._pause(time.monotonic())

    async def _urge(self) -> None:
        """Tell an agent at work of urgent mail. If that is not possible from outside, its hooks do it after its next step."""
        urgent = self._window.untold_urgent()
        if urgent and await self._window.join(words.urgent(len(urgent))):
            self._window.told(urgent)
            place.keep(self._window.card)

    def _busy_for(self, due: Sequence[str], fellows: Sequence[Window]) -> float | None:
        """How long to wait before the next look at a window that cannot be rung now."""
        window = self._window
        if not window.ways():
            return _LONGEST_SECONDS
        if window.awaits_tools():
            return _LOOK_SECONDS
        if window.at_work():
            self._found_at_work = True
            return _LONGEST_SECONDS
        rested_longer = [one for one in fellows if one.quiet_since < window.quiet_since]
        left_to_others = all(any(self._rings(one, id) for one in rested_longer) for id in due)
        return _LOOK_SECONDS if left_to_others else None  # another window is rung for that mail

    def _rings(self, fellow: Window, id: str) -> bool:
        """Whether a window that has rested longer is rung for a letter. One of another agent must be about to be, as it may not be given it."""
        return fellow.is_free() if fellow.agent == self._window.agent else fellow.is_due(id)

    def _pause(self, now: float) -> float:
        if not self._window.letters and self._window.may_get_more():
            return _LONGEST_SECONDS
        if not self._window.letters:
            return _NOTHING_SECONDS * random.uniform(0.7, 1.3)  # noqa: S311 - spreading out, not hiding
        at = self._window.card.ringing.next_at(self._window.letters)
        return _LONGEST_SECONDS if at is None else min(max(at - now, _LOOK_SECONDS), _LONGEST_SECONDS)

    async def _ring(self, due: tuple[str, ...], fellows: Sequence[Window]) -> None:
        """Try one way after another until a turn begins. Other windows of the mailbox, or of a role, are not rung for the same mail."""
        window = self._window
        colleagues = self._colleagues(due, fellows)
        for one, ids in colleagues:
            self._keep(one.card.ringing.ring_elsewhere(ids, str(window.id), time.monotonic()), one)
        before = [(one, one.card.ringing) for one in (window, *fellows) if one.agent == window.agent]
        for one, ringing in before:
            rung = ringing.ring(due, time.monotonic())
            self._keep(rung if one is window else rung.begun(), one)
        written = False
        window.rung_for |= {letter.id for letter in window.letters if letter.role is not None and letter.id in due}
        ways = window.ways()
        for way in ways:
            window.rings += 1
            if not await window.ring(way, words.ring(window.rings, datetime.now().astimezone())):
                continue
            if not written:
                written = True
                with suppress(MailError):
                    await self._office.rung(window, due)
            if await self._begun(_LAST_SECONDS if way == "queue" or way == ways[-1] else _BEGIN_SECONDS):
                return
            if window.queued():
                return  # the client has queued it and will come to it
            window.fail(way)
        # If a way accepted the ring but no turn began, the next ring comes at its own time. If none accepted it, the next way that opens is used.
        for one, ringing in before:
            self._keep(one.card.ringing.begun() if written else ringing, one)
        if not written:
            window.rung_for.difference_update(due)
            self._leave_to(fellows, due)

    def _colleagues(self, due: tuple[str, ...], fellows: Sequence[Window]) -> list[tuple[Window, list[str]]]:
        """Windows of other agents, and for which of these letters of their roles they might be rung too."""
        letters = [letter for letter in self._window.letters if letter.role is not None and letter.id in due]
        others = [one for one in fellows if one.agent != self._window.agent]
        return [(one, [letter.id for letter in letters if letter.role in one.roles]) for one in others]

    def _leave_to(self, fellows: Sequence[Window], due: tuple[str, ...]) -> None:
        """Nothing could ring this window: another may be rung."""
        for one in fellows:
            if one.agent != self._window.agent:
                self._keep(one.card.ringing.forget(due), one)
            one.stirred.set()

    async def _begun(self, seconds: float) -> bool:
        """Wait for a turn to begin; False if none does in time."""
        window = self._window
        until = time.monotonic() + seconds
        while window.card.ringing.under_way is not None:
            if window.at_work():
                self._keep(window.card.ringing.begun())
                break
            left = until - time.monotonic()
            if window.stirred.is_set() or left <= 0:
                window.stirred.clear()
                await self._heed()  # a turn may be over before we saw it begin: then its mail has been taken
                if left <= 0:
                    return window.card.ringing.under_way is None
            with suppress(TimeoutError):
                async with asyncio.timeout(min(left, _LOOK_SECONDS)):
                    await window.stirred.wait()
        return True

    async def _heed(self) -> None:
        window = self._window
        before = window.card.ringing
        await self._office.look(window)
        if window.card.ringing != before:
            place.keep(window.card)

    def _keep(self, ringing: object, window: Window | None = None) -> None:
        window = window or self._window
        if ringing != window.card.ringing:
            window.card.ringing = ringing  # type: ignore[assignment]
            place.keep(window.card)

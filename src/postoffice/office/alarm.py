"""The alarm: mail that waits for its time comes when that has come, what recurs is sent, and what expires ends, whichever process has the other upkeep."""

import asyncio

from postoffice.acts.mail.expiry import ReturnDue
from postoffice.core.errors import MailError
from postoffice.office.recurring import RecurringLetters
from postoffice.store.store import Store

_LOOKS_PER_TICK = 2.5
"""How often in a tick it is looked whether mail is due that another process may have taken in."""


class Alarm:
    """One task of each process. It sleeps until the next letter is due, and looks again before: another process may have taken one in."""

    def __init__(self, store: Store, recurring: RecurringLetters, tick: float) -> None:
        self._store = store
        self._recurring = recurring
        self._looks_every = tick / _LOOKS_PER_TICK

    async def run(self) -> None:
        """Wake until cancelled. What cannot be looked at is looked at the next time; the upkeep says in the log what is wrong."""
        pause = self._looks_every
        while True:
            await asyncio.sleep(pause)
            pause = self._looks_every
            try:
                left = await self._store.mail.next_due()
                if left is None:
                    continue
                if left.total_seconds() > 0:
                    pause = min(left.total_seconds(), self._looks_every)
                elif await self._store.do(ReturnDue()) + await self._recurring.send_due():
                    pause = 0
            except MailError:
                continue

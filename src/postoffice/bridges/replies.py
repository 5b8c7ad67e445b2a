"""Replies on their way back: posted once each, at once or as late as the gateway has them."""

import asyncio
import logging
import time
from typing import Any

import msgspec

from postoffice.bridges.body import say
from postoffice.bridges.book import Book, Errand
from postoffice.bridges.openclaw import Gateway
from postoffice.bridges.outcome import Away, Replied
from postoffice.client.mailbox import Mailbox
from postoffice.core.errors import BudgetSpent, IdConflict, Limited, MailError
from postoffice.core.task import TaskState

log = logging.getLogger(__name__)

_LEAST, _MOST = 1.0, 60.0


class Replies:
    """What is owed to senders. Everything is in the book before it is promised."""

    def __init__(self, box: Mailbox, gateway: Gateway, book: Book, late_for: float) -> None:
        self._box = box
        self._gateway = gateway
        self._book = book
        self._late_for = late_for
        self._more = asyncio.Event()
        self._spent: set[str] = set()
        self._told: str | None = None

    def are_spent(self, session_id: str | None, *, automatic: bool) -> bool:
        """Whether an answer there would be refused: only what a person or a plan wrote refills the budget."""
        if not automatic and session_id is not None:
            self._spent.discard(session_id)
        return session_id in self._spent

    async def post(self, message_id: str, text: str) -> None:
        """Answer a message that is still in hand. Written down first: whatever happens now, its agent is not asked again."""
        errand = self._book.errand(message_id)
        if errand is None or not (errand.session_id or errand.task):
            return  # mail to oneself, or a note: nobody waits there
        errand = msgspec.structs.replace(errand, reply=text)
        self._book.keep(errand)
        if not await self._send(errand, text):
            self.owe(message_id)

    def owe(self, message_id: str, run_id: str | None = None) -> None:
        """Answer later. From here on the book alone knows of it."""
        errand = self._book.errand(message_id)
        if errand is None:
            return
        if not (errand.session_id or errand.task):
            self._book.done(message_id)
            return
        self._book.keep(msgspec.structs.replace(errand, late=True, run_id=run_id or errand.run_id))
        self._more.set()

    async def deliver_late(self) -> None:
        """Look for the late ones until cancelled: the longer one takes, the less a moment matters."""
        due: dict[str, float] = {}
        while True:
            self._more.clear()
            now = time.time()
            self._book.tidy(now - self._late_for)
            for errand in self._book.late():
                if due.setdefault(errand.message_id, now) <= now:
                    await self._look(errand)
                    due[errand.message_id] = now + min(max((now - errand.asked_at) / 10, _LEAST), _MOST)
            due = {errand.message_id: due.get(errand.message_id, now) for errand in self._book.late()}
            rest = max(min(due.values()) - time.time(), 0.05) if due else None
            try:
                async with asyncio.timeout(rest):
                    await self._more.wait()
            except TimeoutError:
                pass  # one is due

    async def _look(self, errand: Errand) -> None:
        if errand.reply is None:
            found = await self._gateway.find(errand.gateway_session, errand.mark, errand.run_id)
            if isinstance(found, Away) and found.why != self._told:
                self._told = found.why
                log.warning("late replies cannot be read: %s", found.why)
            if not isinstance(found, Replied):
                if time.time() - errand.asked_at > self._late_for:
                    await self._give_up(errand)
                return
            errand = msgspec.structs.replace(errand, reply=found.text)
            self._book.keep(errand)
        if await self._send(errand, errand.reply or ""):
            # Not struck out yet: if its ack was lost the message comes again, and must not be handed over again.
            self._book.keep(msgspec.structs.replace(errand, late=False))

    async def _give_up(self, errand: Errand) -> None:
        why = f"no reply came in {self._late_for:g} seconds; none is awaited any more"
        log.warning("message %s: %s", errand.message_id, why)
        # Whoever asked for work counts on hearing how it ended.
        if not errand.task or await self._send(errand, why, TaskState.FAILED):
            self._book.done(errand.message_id)

    async def _send(self, errand: Errand, text: str, state: TaskState = TaskState.COMPLETED) -> bool:
        """Whether that settles it: said now, said before, or not to be said at all. Otherwise it is said later."""
        try:
            await say(text, lambda body: self._say(errand, body, state))
        except IdConflict:
            log.info("message %s was answered before", errand.message_id)
        except BudgetSpent as error:
            self._spent.add(errand.session_id)
            log.warning("no reply to message %s: %s", errand.message_id, error)
        except Limited as error:
            log.warning("the reply to message %s waits: %s", errand.message_id, error)
            return False
        except MailError as error:
            log.warning("the reply to message %s was refused: %s", errand.message_id, error)
        return True

    async def _say(self, errand: Errand, body: dict[str, Any], state: TaskState) -> None:
        said: dict[str, Any] = {"id": f"relay-{errand.message_id}", **body}
        if errand.task:
            await self._box.call("POST", f"/tasks/{errand.message_id}/update", {"state": state, "automatic": True, **said})
            return
        if errand.correlation_id is not None:
            said["correlation_id"] = errand.correlation_id
        await self._box.send(errand.to, session_id=errand.session_id, reply_to=errand.message_id, automatic=True, **said)

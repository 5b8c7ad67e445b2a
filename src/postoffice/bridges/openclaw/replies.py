"""Posts each reply once, at once or whenever the gateway has it."""

import asyncio
import logging
import time
from typing import Any

import msgspec

from postoffice.bridges.body import say
from postoffice.bridges.openclaw.gateway import Gateway
from postoffice.bridges.openclaw.journal import Handover, Journal
from postoffice.bridges.outcome import Away, Replied
from postoffice.client.mailbox import Mailbox
from postoffice.core.errors import BudgetSpent, IdConflict, Limited, MailError
from postoffice.core.task import TaskState

log = logging.getLogger(__name__)

_SHORTEST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 1.0, 60.0


class Replies:
    """The replies owed to senders. Each is in the journal before it is promised."""

    def __init__(self, box: Mailbox, gateway: Gateway, journal: Journal, late_for: float) -> None:
        self._box = box
        self._gateway = gateway
        self._journal = journal
        self._late_for = late_for
        self._more = asyncio.Event()
        self._spent: set[str] = set()
        self._told: str | None = None

    def are_spent(self, session_id: str | None, *, automatic: bool) -> bool:
        """Whether a reply would be refused because the budget is used up: only messages that are not automatic refill it."""
        if not automatic and session_id is not None:
            self._spent.discard(session_id)
        return session_id in self._spent

    async def post(self, message_id: str, text: str) -> None:
        """Answer a message that is still in hand. The reply is written down first, so the agent is never asked twice."""
        handover = self._journal.handover(message_id)
        if handover is None or not (handover.session_id or handover.task):
            return  # mail to oneself, or a note: nobody waits for an answer
        handover = msgspec.structs.replace(handover, reply=text)
        self._journal.keep(handover)
        if not await self._send(handover, text):
            self.owe(message_id)

    def owe(self, message_id: str, run_id: str | None = None) -> None:
        """Answer later. From here on only the journal knows of it."""
        handover = self._journal.handover(message_id)
        if handover is None:
            return
        if not (handover.session_id or handover.task):
            self._journal.done(message_id)
            return
        self._journal.keep(msgspec.structs.replace(handover, late=True, run_id=run_id or handover.run_id))
        self._more.set()

    async def deliver_late(self) -> None:
        """Look for late replies until cancelled; the longer one takes, the longer the pauses."""
        due: dict[str, float] = {}
        while True:
            self._more.clear()
            now = time.time()
            self._journal.tidy(now - self._late_for)
            for handover in self._journal.late():
                if due.setdefault(handover.message_id, now) <= now:
                    await self._look(handover)
                    due[handover.message_id] = now + min(
                        max((now - handover.asked_at) / 10, _SHORTEST_PAUSE_SECONDS), _LONGEST_PAUSE_SECONDS
                    )
            due = {handover.message_id: due.get(handover.message_id, now) for handover in self._journal.late()}
            rest = max(min(due.values()) - time.time(), 0.05) if due else None
            try:
                async with asyncio.timeout(rest):
                    await self._more.wait()
            except TimeoutError:
                pass  # a reply is due

    async def _look(self, handover: Handover) -> None:
        if handover.reply is None:
            reply = await self._gateway.find(handover.gateway_session, handover.mark, handover.run_id)
            if isinstance(reply, Away) and reply.why != self._told:
                self._told = reply.why
                log.warning("late replies cannot be read: %s", reply.why)
            if not isinstance(reply, Replied):
                if time.time() - handover.asked_at > self._late_for:
                    await self._give_up(handover)
                return
            handover = msgspec.structs.replace(handover, reply=reply.text)
            self._journal.keep(handover)
        if await self._send(handover, handover.reply or ""):
            # Do not strike it out yet: if its ack was lost, the message comes again and must not be handed over twice.
            self._journal.keep(msgspec.structs.replace(handover, late=False))

    async def _give_up(self, handover: Handover) -> None:
        why = f"no reply came in {self._late_for:g} seconds; the relay waits no longer"
        log.warning("message %s: %s", handover.message_id, why)
        # The requester of a task counts on hearing how it ended.
        if not handover.task or await self._send(handover, why, TaskState.FAILED):
            self._journal.done(handover.message_id)

    async def _send(self, handover: Handover, text: str, state: TaskState = TaskState.COMPLETED) -> bool:
        """Send a reply. True if it was sent now or before, or can never be; False to try again later."""
        try:
            await say(text, lambda body: self._say(handover, body, state))
        except IdConflict:
            log.info("message %s was answered before", handover.message_id)
        except BudgetSpent as error:
            self._spent.add(handover.session_id)
            log.warning("no reply to message %s: %s", handover.message_id, error)
        except Limited as error:
            log.warning("the reply to message %s waits: %s", handover.message_id, error)
            return False
        except MailError as error:
            log.warning("the reply to message %s was refused: %s", handover.message_id, error)
        return True

    async def _say(self, handover: Handover, body: dict[str, Any], state: TaskState) -> None:
        reply: dict[str, Any] = {"id": f"relay-{handover.message_id}", **body}
        if handover.task:
            await self._box.call("POST", f"/tasks/{handover.message_id}/update", {"state": state, "automatic": True, **reply})
            return
        if handover.correlation_id is not None:
            reply["correlation_id"] = handover.correlation_id
        await self._box.send(handover.to, session_id=handover.session_id, reply_to=handover.message_id, automatic=True, **reply)

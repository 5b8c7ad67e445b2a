"""Handles this agent's mail: it is claimed, worked on, reported on, and only then marked processed."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

from postoffice_files import Busy, FileMailError
from postoffice_nanobot.box import Box
from postoffice_nanobot.config import MailboxConfig
from postoffice_nanobot.delegation import Delegation
from postoffice_nanobot.errand import Errand
from postoffice_nanobot.host import Host, TurnFailed
from postoffice_nanobot.outbox import Order, Origin, Outbox
from postoffice_nanobot.prompts import progress_line, result_prompt, text_of
from postoffice_nanobot.queues import Queues
from postoffice_nanobot.reports import reports_for
from postoffice_nanobot.sorting import Nothing, Progress, Refused, Result, sort

_LOG = logging.getLogger(__name__)
_MAILS_IN_HAND = 32
"""The most mails in hand, without those that wait for other agents."""
_LONGEST_PAUSE_SECONDS = 60.0


class Desk:
    """Runs an asyncio task for each mail. A mail stays claimed while its task lives."""

    def __init__(self, config: MailboxConfig, box: Box, host: Host) -> None:
        self._box = box
        self._host = host
        self._poll_interval = config.poll_interval
        self._in_hand: dict[str, asyncio.Task[None]] = {}
        self._mails: dict[str, dict[str, Any]] = {}
        self._parked: set[str] = set()
        self._errands: dict[str, Errand] = {}
        self._told: dict[str, Delegation] = {}
        self._queues = Queues()
        self._outbox = Outbox(box, self._errands, self._told)
        self._leaving = asyncio.Event()
        self._left = asyncio.Event()
        self._left.set()

    async def run(self) -> None:
        """Handle mail until told to leave."""
        self._left.clear()
        try:
            await self._begin()
            while not self._leaving.is_set():
                try:
                    await self._look()
                except (FileMailError, OSError) as error:
                    _LOG.warning("the mailbox cannot be read: %s", error)
                await self._pause()
        finally:
            await self._put_down()
            self._left.set()

    async def leave(self) -> None:
        """Stop everything and go offline."""
        self._leaving.set()
        await self._left.wait()
        await self._box.status("offline", [])

    async def send(self, order: Order, origin: Origin) -> str | None:
        """Send something new from this agent. Raises FileMailError."""
        return await self._outbox.send(order, origin)

    def hear(self, origin: Origin, text: str) -> bool:
        """Tell the model something in the conversation about a mail; False if it is not working on that mail."""
        errand = self._errands.get(origin.cause or "")
        if errand is not None:
            errand.hear(text)
        return errand is not None

    def mail(self, cause: str) -> dict[str, Any] | None:
        """The mail in hand with this file."""
        return self._mails.get(cause)

    async def _begin(self) -> None:
        """Register this agent, trying again for as long as needed: a full disk or a held lock passes, and nanobot does not restart a channel that ended."""
        while not self._leaving.is_set():
            try:
                await self._box.register()
                await self._outbox.post_again()
            except (Busy, OSError) as error:
                _LOG.warning("the mailbox cannot be opened: %s", error)
                await self._pause()
            else:
                return

    async def _look(self) -> None:
        room = _MAILS_IN_HAND - sum(name not in self._parked and not self._waits(name) for name in self._in_hand)
        mails, lost = await self._box.poll(room, self._in_hand)
        for name in lost:
            if (task := self._in_hand.get(name)) is not None:
                _LOG.warning("%s is another's now", name)
                task.cancel()
        for mail in mails:
            name = mail["filename"]
            if name not in self._in_hand:  # our claim ran out while the machine slept
                self._in_hand[name] = asyncio.create_task(self._attend(mail), name=f"mailbox {name}")

    async def _pause(self) -> None:
        try:
            async with asyncio.timeout(self._poll_interval):
                await self._leaving.wait()
        except TimeoutError:
            pass  # it is time to look again

    async def _put_down(self) -> None:
        names = list(self._in_hand)
        for task in list(self._in_hand.values()):
            task.cancel()
        await asyncio.gather(*self._in_hand.values(), return_exceptions=True)
        for name in names:
            try:
                await self._box.release(name)
            except (FileMailError, OSError) as error:
                _LOG.debug("%s could not be given back: %s", name, error)

    def _waits(self, name: str) -> bool:
        errand = self._errands.get(name)
        return errand is not None and errand.waiting

    async def _attend(self, mail: dict[str, Any]) -> None:
        name = mail["filename"]
        self._mails[name] = mail
        try:
            async with self._queues.turn(mail["from"]) as next_one:
                await self._handle(mail, next_one)
        except (TurnFailed, FileMailError, OSError) as error:
            _LOG.warning("%s of %s: %s", name, mail["from"], error)
            try:
                await self._box.fail(name, str(error), min(2.0 ** mail["attempt"], _LONGEST_PAUSE_SECONDS))
            except (FileMailError, OSError) as worse:
                _LOG.warning("%s will come back when its claim runs out: %s", name, worse)
        except Exception:  # noqa: BLE001 - trouble with one mail must not stop the others
            _LOG.exception("%s of %s will come back when its claim runs out", name, mail["from"])
        finally:
            self._in_hand.pop(name, None)
            self._mails.pop(name, None)
            self._parked.discard(name)

    async def _handle(self, mail: dict[str, Any], next_one: Callable[[], None]) -> None:
        delegation = await self._box.delegation((mail["task"] or {}).get("id"), mail["reply_to"], mail.get("correlation_id"))
        verdict = sort(
            mail,
            delegation=delegation,
            allowed=self._host.allows(mail["from"]),
            card=self._box.card(self._tasks()),
            now=self._box.now(),
        )
        match verdict:
            case Result(delegation, final):
                next_one()  # this one queues in its conversation at once, and may wait there for long
                await self._take_result(mail, delegation, final=final)
            case Progress(delegation):
                await self._take_progress(mail, delegation)
                await self._box.processed(mail["filename"])
            case Refused(reason):
                await reports_for(self._box, mail).refused(reason)
                await self._box.processed(mail["filename"])
            case Nothing(why):
                _LOG.info("%s of %s: %s", mail["filename"], mail["from"], why)
                await self._box.processed(mail["filename"])
            case _:
                await self._work(mail, next_one)

    async def _work(self, mail: dict[str, Any], next_one: Callable[[], None]) -> None:
        name = mail["filename"]
        errand = self._errands[name] = Errand(mail, reports_for(self._box, mail), self._host.ask)
        outcome: Exception | None = TurnFailed("it was stopped before it was done")
        try:
            for delegation in await self._box.delegations():
                if delegation.parent == name:
                    errand.delegated(delegation.id)
            await self._say_what_we_do()
            next_one()
            await errand.work(self._box.now(), lambda: self._box.processed(name))
            outcome = None
        except Exception as failure:
            outcome = failure
            raise
        finally:
            del self._errands[name]
            errand.leave(outcome)
            if not self._leaving.is_set():
                await self._say_what_we_do()

    async def _take_result(self, mail: dict[str, Any], delegation: Delegation, *, final: bool) -> None:
        name = mail["filename"]
        if delegation.parent is None:
            self._told[name] = delegation
            try:
                await self._host.tell(delegation.place, result_prompt(mail), name)
            finally:
                del self._told[name]
        else:
            self._parked.add(name)
            if (errand := await self._errand(delegation.parent)) is not None:
                await errand.hear(result_prompt(mail), delegation.id if final else None)
        await self._box.processed(name)
        if final:
            await self._box.close(delegation)

    async def _take_progress(self, mail: dict[str, Any], delegation: Delegation) -> None:
        if delegation.parent is None:
            await self._host.show(delegation.place, progress_line(mail))
        elif (errand := self._errands.get(delegation.parent)) is not None:
            await errand.reports.progress(text_of(mail))

    async def _errand(self, name: str) -> Errand | None:
        """A mail's errand, as soon as the mail is in hand again; None if it is done."""
        while name not in self._errands and await self._box.waits(name):  # noqa: ASYNC110 - another process may have it
            await asyncio.sleep(self._poll_interval)
        return self._errands.get(name)

    def _tasks(self) -> list[str]:
        return [errand.mail["task"]["id"] for errand in self._errands.values() if errand.is_task]

    async def _say_what_we_do(self) -> None:
        tasks = self._tasks()
        await self._box.status("busy" if tasks else "idle", tasks)

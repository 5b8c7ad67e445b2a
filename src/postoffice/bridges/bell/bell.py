"""The bell: every open window of this person on this machine, kept open at its office, and rung."""

import asyncio
import logging
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import msgspec

from postoffice.bridges.bell import place, words
from postoffice.bridges.bell.ends import Ends
from postoffice.bridges.bell.listeners import Listeners
from postoffice.bridges.bell.office import Office, Offices
from postoffice.bridges.bell.pane import Pane
from postoffice.bridges.bell.ringer import Ringer
from postoffice.bridges.bell.window import Window
from postoffice.client.process import Process
from postoffice.core.errors import MailError

log = logging.getLogger(__name__)

_RENEW_SECONDS = 5.0
_EMPTY_SECONDS = 60.0
"""The bell ends after this long without a window."""
_SLEPT_SECONDS = 10.0
"""If the clock is further ahead than this of the time that passed, the machine slept."""


class Bell:
    """All windows, and what is done about them."""

    def __init__(self) -> None:
        self.windows: dict[Process, Window] = {}
        self.calls = 0
        """Calls that are open now."""
        self.ended = asyncio.Event()
        self._offices = Offices()
        self._ends = Ends(self._ended)
        self._listeners = Listeners(self.windows, self._offices)
        self._ringers: dict[Window, asyncio.Task[None]] = {}
        self._jobs: set[asyncio.Task[None]] = set()

    def restore(self) -> None:
        """Take over the windows of an earlier bell that are still open."""
        for card in place.cards():
            if card.process.alive:
                self._know(Window(card))
            else:
                place.forget(card)

    async def run(self) -> None:
        """Run until there has been no window for a while, or until told to stop."""
        since = time.monotonic()
        while not self.ended.is_set():
            before = time.time() - time.monotonic()
            with suppress(TimeoutError):
                async with asyncio.timeout(_RENEW_SECONDS):
                    await self.ended.wait()
            if time.time() - time.monotonic() - before > _SLEPT_SECONDS:
                self._wake_up()
            await self._sweep(window for window in self.windows.values() if window.card.process not in self._ends)
            await self._renew()
            if self.windows or self.calls:
                since = time.monotonic()
            elif time.monotonic() - since > _EMPTY_SECONDS:
                return

    async def end(self, said: dict[str, Any]) -> None:
        """A client reports the end of its session. The window may be closed already, if its process has ended too."""
        at = Process(int(said["process"]["pid"]), str(said["process"]["started"]))
        if (window := self.windows.get(at)) is not None:
            await self.close(window)

    async def window(self, said: dict[str, Any]) -> Window:
        """The window that is calling. If it is new, remember it."""
        at = Process(int(said["process"]["pid"]), str(said["process"]["started"]))
        session = said.get("session")
        window = self.windows.get(at)
        if window is None:
            await self._sweep(self.windows.values())  # a name that has just become free is the one to take
            card = place.Card(client=said["client"], process=at, folder=said["folder"], server=said["server"], session=session)
            window = self._know(Window(card))
        card = window.card
        changed = (session or card.session, said.get("home") or card.home, card.named or said.get("agent") or card.wished)
        anew = window.id is None or (card.session, card.wished) != (changed[0], changed[2])
        card.session, card.home, card.wished = changed
        card.mode = said.get("mode") or card.mode
        card.shared = bool(said.get("shared", card.shared))
        if "pane" in said:
            card.pane = said["pane"] and Pane(**said["pane"])
        if said.get("tools") and not card.tools:
            window.has_tools()
        if inbox := said.get("inbox"):
            card.inbox = msgspec.convert(inbox, place.Inbox)
        place.keep(card)
        if anew:
            with suppress(MailError):  # the office is away; the next sweep asks again
                await self._open(window)
        return window

    async def rename(self, window: Window, name: str) -> dict[str, Any]:
        """Give the window the name its person chose. Returns the name it has afterwards, and, if that is another one, the reason."""
        card = window.card
        before = card.named, card.wished
        card.named = card.wished = name
        try:
            await self._open(window)
        except MailError as error:
            card.named, card.wished = before
            return {"agent": window.agent, "why": str(error)}
        finally:
            place.keep(card)
        window.stirred.set()
        return {"agent": window.agent}

    async def heed(self, window: Window, event: str, said: dict[str, Any]) -> dict[str, Any]:
        """The answer to what a client's hook reports."""
        if window.id is None or window.agent is None:
            return {}
        answer: dict[str, Any] = {"agent": window.agent}
        if event == "edit":
            return answer | await self._edit(window, said)
        window.sign(busy=event in ("prompt", "tool") or (event == "stop" and window.goes_on(again=bool(said.get("again")))))
        if event == "start":
            with suppress(MailError):
                await self._look(window)
            return answer | {"text": words.greeting(window.agent, window.was, len(window.letters))}
        if event == "prompt":
            window.card.ringing = window.card.ringing.begun()
            if said.get("ring"):
                window.heard_a_ring()
            self._run(self._turn(window))
        with suppress(MailError):
            await self._look(window)
        text = self._text(window, event, said)
        window.stirred.set()
        return answer | ({"text": text} if text else {})

    async def _edit(self, window: Window, said: dict[str, Any]) -> dict[str, Any]:
        """How long another agent has reserved the files to be edited; None if the office cannot be asked."""
        window.sign(busy=True)
        with suppress(MailError):
            return {"reserved_until": await self._offices.of(window).reserved_until(window, said["files"])}
        return {}

    def stir(self) -> None:
        """Make all windows look at their mail."""
        for window in self.windows.values():
            window.stirred.set()

    async def close(self, window: Window) -> None:
        """Close a window that has ended: its leases go back and its name becomes free."""
        self.windows.pop(window.card.process, None)
        self._ends.leave(window.card.process)
        if (ringer := self._ringers.pop(window, None)) is not None:
            ringer.cancel()
        place.forget(window.card)
        for say in (window.waiter, window.plugin):
            if say is not None:
                await say({"bye": True})
        if window.id is not None:
            with suppress(MailError):
                await self._offices.of(window).close(window)
        for one in self._fellows(window):
            one.card.ringing = one.card.ringing.left_by(str(window.id))
            one.stirred.set()
        self._listeners.keep()

    async def leave(self) -> None:
        """End, and leave the windows to the next bell."""
        tasks = [*self._ringers.values(), *self._listeners.end(), *self._jobs]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _text(self, window: Window, event: str, said: dict[str, Any]) -> str | None:
        """What to tell a turn: urgent mail at once, all mail with the next prompt, and at the end what arrived during the turn."""
        untold = window.untold()
        if event != "prompt" and window.left_alone:
            return None
        if event == "tool":
            untold = window.untold_urgent()
        elif event == "stop":
            untold = [] if said.get("again") else [letter for letter in untold if letter.rings]
        if not untold or (event == "prompt" and said.get("ring")):
            return None  # the ring announced its own letters; later ones are announced when they are due
        window.told(untold)
        place.keep(window.card)
        return words.urgent(len(untold)) if event == "tool" else words.told(len(untold))

    def _know(self, window: Window) -> Window:
        self.windows[window.card.process] = window
        self._ends.watch(window.card.process)
        return window

    def _ended(self, at: Process) -> None:
        self._ends.leave(at)
        if (window := self.windows.get(at)) is not None:
            self._run(self.close(window))

    async def _sweep(self, windows: Iterable[Window]) -> None:
        """Close those whose process has ended without our being told."""
        for window in [one for one in windows if not one.card.process.alive]:
            await self.close(window)

    async def _look(self, window: Window) -> None:
        await self._offices.of(window).look(window)

    async def _turn(self, window: Window) -> None:
        with suppress(MailError):
            await self._offices.of(window).turn(window)

    async def _named(self, window: Window) -> None:
        """Pass the window's name to the servers beside its client: they call under that name."""
        place.keep(window.card)
        for say in tuple(window.beside):
            await say({"agent": window.agent, "window": window.id})

    def _run(self, job: Any) -> None:
        task = asyncio.create_task(job)
        self._jobs.add(task)
        task.add_done_callback(self._jobs.discard)

    async def _open(self, window: Window) -> None:
        opened = await self._offices.of(window).open(window)
        window.id, window.card.agent = opened["id"], opened["agent"]
        window.was = opened.get("was")
        await self._named(window)
        if window not in self._ringers:
            ringer = Ringer(window, self._offices.of(window), self._fellows)
            self._ringers[window] = asyncio.create_task(ringer.attend())
        log.info("%s: a window of %s in %s, by %s", window.agent, window.card.client, window.card.folder, window.reach())
        self._listeners.keep()

    async def _renew(self) -> None:
        by_office: dict[Office, list[Window]] = {}
        for window in list(self.windows.values()):
            try:
                if window.id is None:
                    await self._open(window)
                else:
                    by_office.setdefault(self._offices.of(window), []).append(window)
            except MailError as error:
                self._offices.look_again()
                log.debug("a window cannot be opened: %s", error)
        for office, windows in by_office.items():
            try:
                answer = await office.renew(windows)
            except MailError as error:
                self._offices.look_again()
                log.debug("%s cannot be told of %d windows: %s", office.server, len(windows), error)
                continue
            known = {one["id"]: one for one in answer["windows"]}
            for window in windows:
                if window.id in answer["gone"]:
                    window.id = None  # its lease ran out before we could renew it
                    with suppress(MailError):
                        await self._open(window)
                elif now := known.get(window.id):
                    if now["agent"] != window.agent:
                        window.card.agent = now["agent"]
                        await self._named(window)
                        window.stirred.set()
                    window.count(now["waiting"], now.get("roles", {}))
            self._listeners.keep()

    def _fellows(self, window: Window) -> list[Window]:
        """The other windows of the same mailbox, or of the same role."""
        others = [one for one in self.windows.values() if one is not window and one.card.server == window.card.server]
        return [one for one in others if one.agent == window.agent or one.roles & window.roles]

    def _wake_up(self) -> None:
        """Start over after the machine slept: connections broke meanwhile, and nothing reports that."""
        log.info("the machine was asleep; checking everything again")
        self._listeners.begin_anew()
        self.stir()

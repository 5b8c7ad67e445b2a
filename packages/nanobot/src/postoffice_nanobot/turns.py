"""Nanobot's turns: when one may begin in a session, and how it ends."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from weakref import WeakValueDictionary

from nanobot.bus.runtime_events import SessionTurnStarted, TurnCompleted, TurnRunStatusChanged

from postoffice_nanobot.meeting import Meeting

_MODEL_ERROR = "[Assistant reply unavailable due to model error.]"
"""What nanobot 0.2 writes into a session if a turn fails; its event does not show the failure."""


@dataclass(frozen=True, slots=True)
class Ended:
    """The outcome of a turn."""

    failure: str | None = None


class Turns:
    """Follows nanobot's turns. Version 0.3 reports them on the bus, 0.2 on another bus that only tools get."""

    def __init__(self, bus: Any, meeting: Meeting) -> None:
        self._sessions = meeting.sessions
        self._source = bus if hasattr(bus, "subscribe") else meeting.events
        self._running: set[str] = set()
        self._quiet = asyncio.Event()
        self._locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._waiting: dict[str, asyncio.Future[Ended]] = {}
        self._unsubscribe: list[Callable[[], None]] = []

    def follow(self) -> None:
        """Start listening."""
        if self._source is None:
            msg = "nanobot has not loaded the tool of postoffice-nanobot, and without it its turns cannot be followed"
            raise RuntimeError(msg)
        for kind, act in ((SessionTurnStarted, self._started), (TurnCompleted, self._completed), (TurnRunStatusChanged, self._changed)):
            self._unsubscribe.append(self._source.subscribe(act, kind))

    def unfollow(self) -> None:
        """Stop listening."""
        while self._unsubscribe:
            self._unsubscribe.pop()()

    async def take(self, session: str, publish: Callable[[], Awaitable[None]]) -> Ended:
        """Put something into a session while no turn is under way there, and wait for the turn it causes.

        A turn that is under way would take it too, but nothing would say when.
        """
        lock = self._locks.setdefault(session, asyncio.Lock())
        async with lock:
            while session in self._running:
                await self._quiet.wait()
            self._waiting[session] = asyncio.get_running_loop().create_future()
            try:
                await publish()
                return await self._waiting[session]
            finally:
                del self._waiting[session]

    def _started(self, event: Any) -> None:
        self._running.add(event.context.session_key)

    def _completed(self, event: Any) -> None:
        self._end(event.context.session_key, Ended(self._failure(event)))

    def _changed(self, event: Any) -> None:
        session = event.context.session_key
        if event.status == "idle":
            self._running.discard(session)
            self._quiet.set()
            self._quiet = asyncio.Event()
            # A turn that completed was reported earlier, so this one was broken off.
            self._end(session, Ended("the turn was stopped"))

    def _end(self, session: str, ended: Ended) -> None:
        waiting = self._waiting.get(session)
        if waiting is not None and not waiting.done():
            waiting.set_result(ended)

    def _failure(self, event: Any) -> str | None:
        outcome = getattr(event, "outcome", None)
        if outcome is not None:
            return None if outcome == "completed" else f"the turn has failed ({event.failure_kind or outcome})"
        session = self._sessions.get_or_create(event.context.session_key)
        contents = [message.get("content") for message in session.messages[-1:]]
        return "the model cannot be reached" if contents == [_MODEL_ERROR] else None

"""One open window, as the bell has it: what it is doing, what waits for it, and the ways by which it can be rung."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable

import msgspec

from postoffice.bridges.bell import claude, codex
from postoffice.bridges.bell.place import CLAUDE, CODEX, GEMINI, Card
from postoffice.core.ringing import Letter

FAILED_SECONDS = 60.0
"""A way that failed is tried again after this."""
_SILENT_SECONDS = 300.0
"""After this without a word from a window at work, it is taken for idle: a turn that a person breaks off ends without one."""

Say = Callable[[dict[str, object]], Awaitable[bool]]


class Window:
    """A card, and what is known of it while this bell runs."""

    def __init__(self, card: Card) -> None:
        self.card = card
        self.id: str | None = None
        self.busy = False
        self.letters: list[Letter] = []
        self.waiter: Say | None = None
        """The line of a hook that waits to wake its client."""
        self.plugin: Say | None = None
        """The line of a plugin inside its client."""
        self.beside: set[Say] = set()
        """The lines of servers beside its client, which have to know its name."""
        self.stirred = asyncio.Event()
        self.rings = 0
        self.was: str | None = None
        self._failed: dict[str, float] = {}
        self._sign = time.monotonic()

    @property
    def agent(self) -> str | None:
        """The name it has."""
        return self.card.agent

    def sign(self, *, busy: bool | None = None) -> None:
        """It has shown that it lives."""
        self._sign = time.monotonic()
        if busy is not None:
            self.busy = busy

    def at_work(self) -> bool:
        """Whether a turn is under way."""
        if self.card.client == CLAUDE and (told := claude.status(self.card)) is not None:
            return told != "idle"
        return self.busy and time.monotonic() - self._sign < _SILENT_SECONDS

    @property
    def quiet_since(self) -> float:
        """When it last gave a sign."""
        return self._sign

    def is_free(self) -> bool:
        """Whether it could be rung now."""
        return self.id is not None and self.card.ringing.under_way is None and bool(self.ways()) and not self.at_work()

    def knows_itself(self) -> bool:
        """Whether the client itself says whether it is at work, without being asked by a hook."""
        return self.card.client == CLAUDE and claude.status(self.card) is not None

    def held(self) -> bool:
        """Whether its client keeps rings back for its user."""
        return self.card.client == CLAUDE and claude.holds(self.card)

    def ways(self) -> list[str]:
        """The ways that are open now, best first."""
        if self.held():
            return []
        return [way for way in self._open() if time.monotonic() - self._failed.get(way, -FAILED_SECONDS) >= FAILED_SECONDS]

    def reach(self) -> str:
        """In one word, how it can be rung."""
        if self.card.client == GEMINI:
            return "turn-end"
        return next(iter(self.ways()), "none")

    async def ring(self, way: str, text: str) -> bool:
        """Ring by this way; False if it failed."""
        if way == "socket":
            done = await claude.ring(self.card, text)
        elif way == "queue":
            done = await codex.ring(self.card, text)
        else:
            say = self.waiter if way == "hook" else self.plugin
            done = say is not None and await say({"wake": text})
        if not done:
            self.fail(way)
        return done

    def fail(self, way: str) -> None:
        """It did not work."""
        self._failed[way] = time.monotonic()

    def queued(self) -> bool:
        """Whether the client still keeps an earlier ring in its own queue."""
        return self.card.client == CODEX and codex.still_queued(self.card)

    def told(self, letters: Iterable[Letter]) -> None:
        """A turn has been told of these."""
        self.card.ringing = self.card.ringing.tell([letter.id for letter in letters], time.monotonic())

    def untold(self) -> list[Letter]:
        """What waits and no turn has been told of."""
        return [letter for letter in self.letters if letter.id not in self.card.ringing.told]

    def _open(self) -> list[str]:
        client = self.card.client
        found = []
        if client == CLAUDE and claude.socket_path(self.card) is not None:
            found.append("socket")
        if client == CODEX and codex.can_queue(self.card):
            found.append("queue")
        if self.plugin is not None:
            found.append("plugin")
        if self.waiter is not None:
            found.append("hook")
        return found


def letters_of(raw: Iterable[dict[str, object]]) -> list[Letter]:
    """What waits, as the office lists it."""
    return [
        Letter(
            id=str(one.get("message_id") or one["id"]),
            priority=msgspec.convert(one.get("priority", 3), int),
            notice=one["from"] == "system",
        )
        for one in raw
    ]

"""One open window, as the bell has it: what it is doing, what waits for it, and the ways by which it can be rung."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable

import msgspec

from postoffice.bridges.bell import app_server, claude, codex, place, qwen, tmux
from postoffice.bridges.bell.place import CLAUDE, CODEX, GEMINI, QWEN, Card
from postoffice.bridges.bell.quiet import is_quiet
from postoffice.core.ringing import AT_ONCE, Letter

FAILED_SECONDS = 60.0
"""A way that failed is tried again after this."""
_SILENT_SECONDS = 300.0
"""After this without a word from a window at work, it is taken for idle: a turn that a person breaks off ends without one."""
_HEARS_AT_END = (GEMINI, QWEN)
"""Clients whose hooks tell of mail at the end of a turn, where nothing else is open."""

_SERVER_SECONDS, _TOOLS_SECONDS = 10.0, 30.0
"""A client that opens has started a server of ours within the one, and has its tools within the other; or it never will."""

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
        self._shown_in_tmux = False
        self._failed: dict[str, float] = {}
        self._sign = self._known_since = time.monotonic()

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
        if self.card.client == CLAUDE and (status := claude.status(self.card)) is not None:
            return status != "idle"
        return self.busy and time.monotonic() - self._sign < _SILENT_SECONDS

    @property
    def quiet_since(self) -> float:
        """When it last gave a sign."""
        return self._sign

    @property
    def left_alone(self) -> bool:
        """Whether a person said so."""
        return is_quiet(self.agent or "")

    def is_free(self) -> bool:
        """Whether it could be rung now."""
        return self.id is not None and self.card.ringing.under_way is None and bool(self.ways()) and not self.at_work()

    def knows_itself(self) -> bool:
        """Whether the client itself says whether it is at work, without being asked by a hook."""
        return self.card.client == CLAUDE and claude.status(self.card) is not None

    def awaits_tools(self) -> bool:
        """Whether its client is still about to get our tools: a turn that began now could not take its mail."""
        patience = _TOOLS_SECONDS if self.beside else _SERVER_SECONDS
        return not self.card.tools and time.monotonic() - self._known_since < patience

    def has_tools(self) -> None:
        """Its client has our tools. What it was rung for before, it could not take; a ring under way begins a turn that can."""
        self.card.tools = True
        if self.card.ringing.under_way is None:
            self.card.ringing = self.card.ringing.unheard()
        place.keep(self.card)
        self.stirred.set()

    def held(self) -> bool:
        """Whether its client keeps rings back for its user."""
        holds = {CLAUDE: claude.holds, QWEN: qwen.holds}.get(self.card.client)
        return holds is not None and holds(self.card)

    def ways(self) -> list[str]:
        """The ways that are open now, best first."""
        if self.held():
            return []
        return [way for way in self._open() if time.monotonic() - self._failed.get(way, -FAILED_SECONDS) >= FAILED_SECONDS]

    def reach(self) -> str:
        """In one word, how it can be rung."""
        if self.left_alone:
            return "none"
        return next(iter(self.ways()), "turn-end" if self.card.client in _HEARS_AT_END else "none")

    async def look(self) -> str:
        """How it can be rung, kept for whoever asks while the bell runs."""
        pane = self.card.pane
        self._shown_in_tmux = pane is not None and await tmux.is_open(pane, self.card.process)
        if (reach := self.reach()) != self.card.reach:
            self.card.reach = reach
            place.keep(self.card)
        return reach

    async def ring(self, way: str, text: str) -> bool:
        """Ring by this way; False if it failed."""
        if way == "socket" and self.card.client == QWEN:
            done = await self._ring_qwen(text)
        elif way == "socket":
            done = await claude.ring(self.card, text)
        elif way == "queue":
            done = await codex.ring(self.card, text)
        elif way == "keys":
            done = self.card.pane is not None and await tmux.ring(self.card.pane, self.card.process, text)
        else:
            say = self.waiter if way == "hook" else self.plugin
            done = say is not None and await say({"wake": text})
        if not done:
            self.fail(way)
        return done

    async def join(self, text: str) -> bool:
        """Tell a turn under way, where that can be done from outside."""
        return self.card.client == CODEX and await app_server.steer(self.card, text)

    async def _ring_qwen(self, text: str) -> bool:
        """It says that it heard, and of a turn that begins so it says nothing more before its first tool call."""
        before = self._sign
        done = await qwen.ring(self.card, text)
        if done and self._sign == before:
            self.sign(busy=True)
        return done

    def fail(self, way: str) -> None:
        """It did not work."""
        self._failed[way] = time.monotonic()

    def heard_a_ring(self) -> None:
        """A turn begins by it, however late: no way that was tried has failed."""
        self._failed.clear()

    def queued(self) -> bool:
        """Whether the client still keeps an earlier ring in its own queue."""
        return self.card.client == CODEX and codex.still_queued(self.card)

    def told(self, letters: Iterable[Letter]) -> None:
        """A turn has been told of these."""
        self.card.ringing = self.card.ringing.tell([letter.id for letter in letters], time.monotonic())

    def untold_urgent(self) -> list[Letter]:
        """Of these, what an agent at work is told at once."""
        return [letter for letter in self.untold() if letter.priority <= AT_ONCE and not letter.notice]

    def untold(self) -> list[Letter]:
        """What waits and no turn has been told of."""
        return [letter for letter in self.letters if letter.id not in self.card.ringing.told]

    def _open(self) -> list[str]:
        client = self.card.client
        ways = []
        if client == CLAUDE and claude.socket_path(self.card) is not None:
            ways.append("socket")
        if client == QWEN and qwen.has_inbox(self.card):
            ways.append("socket")
        if client == CODEX and codex.can_queue(self.card):
            ways.append("queue")
        if self.plugin is not None:
            ways.append("plugin")
        if self.waiter is not None:
            ways.append("hook")
        if self._shown_in_tmux:
            ways.append("keys")
        return ways


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

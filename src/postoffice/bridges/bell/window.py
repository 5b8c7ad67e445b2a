"""One open window, as the bell knows it: what it is doing, what waits for it, and the ways to ring it."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable

import msgspec

from postoffice.bridges.bell import app_server, claude, codex, place, qwen, tmux
from postoffice.bridges.bell.place import CLAUDE, CODEX, GEMINI, QWEN, Card
from postoffice.bridges.bell.quiet import is_quiet
from postoffice.core.ringing import AT_ONCE, Letter

FAILED_SECONDS = 60.0
"""A way that failed is tried again after this time."""
_SILENT_SECONDS = 300.0
"""A window at work that gives no sign for this long counts as idle: a turn that a person breaks off ends without a report."""
_ANSWERING = {QWEN: qwen.ring, CODEX: app_server.start}
"""Clients whose socket answers a ring."""
_HEARS_AT_END = (GEMINI, QWEN)
"""Clients whose hooks announce mail at the end of a turn, if no other way is open."""

_SERVER_SECONDS, _TOOLS_SECONDS = 10.0, 30.0
"""A client starts our server within the first time after it opens, and has its tools within the second, or never."""

Say = Callable[[dict[str, object]], Awaitable[bool]]


class Window:
    """A window's card, and what this bell knows of it while it runs."""

    def __init__(self, card: Card) -> None:
        self.card = card
        self.id: str | None = None
        self.busy = False
        self.letters: list[Letter] = []
        self.waiter: Say | None = None
        """The open call of a hook that waits to wake its client."""
        self.plugin: Say | None = None
        """The open call of a plugin inside its client."""
        self.beside: set[Say] = set()
        """The open calls of servers beside its client, which have to know its name."""
        self.stirred = asyncio.Event()
        self.rings = 0
        self.was: str | None = None
        self.roles: frozenset[str] = frozenset()
        """The roles that its agent is in."""
        self.rung_for: set[str] = set()
        """Letters of roles that it was rung for since its last turn."""
        self._waiting = 0
        self._waiting_in_roles: dict[str, int] = {}
        self._shown_in_tmux = False
        self._failed: dict[str, float] = {}
        self._sign = self._known_since = time.monotonic()

    @property
    def agent(self) -> str | None:
        """The window's name."""
        return self.card.agent

    def sign(self, *, busy: bool | None = None) -> None:
        """The window gave a sign of life."""
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
        """When it last gave a sign of life."""
        return self._sign

    @property
    def left_alone(self) -> bool:
        """Whether a person asked for quiet."""
        return is_quiet(self.agent or "")

    def is_free(self) -> bool:
        """Whether it could be rung now."""
        return self.id is not None and self.card.ringing.under_way is None and bool(self.ways()) and not self.at_work()

    def knows_itself(self) -> bool:
        """Whether the client itself reports that it is at work, even without a hook."""
        return self.card.client == CLAUDE and claude.status(self.card) is not None

    def awaits_tools(self) -> bool:
        """Whether its client does not have our tools yet: a turn that begins now could not take mail."""
        patience = _TOOLS_SECONDS if self.beside else _SERVER_SECONDS
        return not self.card.tools and time.monotonic() - self._known_since < patience

    def goes_on(self, *, again: bool) -> bool:
        """Whether a turn that stops is not really over, because our answer keeps it going."""
        return self.busy and not again and not self.left_alone and any(letter.rings for letter in self.untold())

    def has_tools(self) -> None:
        """Note that its client has our tools. It could not take what it was rung for earlier; the turn of a ring under way can."""
        self.card.tools = True
        if self.card.ringing.under_way is None:
            self.card.ringing = self.card.ringing.unheard()
        place.keep(self.card)
        self.stirred.set()

    def held(self) -> bool:
        """Whether its client holds rings back for its user."""
        holds = {CLAUDE: claude.holds, QWEN: qwen.holds}.get(self.card.client)
        return holds is not None and holds(self.card)

    def ways(self) -> list[str]:
        """The ways that are open now, best first."""
        if self.held():
            return []
        return [way for way in self._open() if time.monotonic() - self._failed.get(way, -FAILED_SECONDS) >= FAILED_SECONDS]

    def reach(self) -> str:
        """How it can be rung, in one word."""
        if self.left_alone:
            return "none"
        return next(iter(self.ways()), "turn-end" if self.card.client in _HEARS_AT_END else "none")

    async def look(self) -> str:
        """Find out how it can be rung, and write that down for the commands that show it."""
        pane = self.card.pane
        self._shown_in_tmux = pane is not None and await tmux.is_open(pane, self.card.process)
        if (reach := self.reach()) != self.card.reach:
            self.card.reach = reach
            place.keep(self.card)
        return reach

    async def ring(self, way: str, text: str) -> bool:
        """Ring in this way; False if that failed."""
        if way == "socket" and self.card.client in _ANSWERING:
            done = await self._ring_answered(_ANSWERING[self.card.client], text)
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
        """Add to a turn under way, if that is possible from outside."""
        return self.card.client == CODEX and await app_server.steer(self.card, text)

    async def _ring_answered(self, ring: Callable[[Card, str], Awaitable[bool]], text: str) -> bool:
        """The answer counts as the start of a turn: the client may report no more before the turn's first tool call."""
        before = self._sign
        done = await ring(self.card, text)
        if done and self._sign == before:
            self.sign(busy=True)
        return done

    def fail(self, way: str) -> None:
        """Note that a way did not work."""
        self._failed[way] = time.monotonic()

    def heard_a_ring(self) -> None:
        """A ring began a turn, however late: none of the ways tried has failed."""
        self._failed.clear()

    def queued(self) -> bool:
        """Whether an earlier ring still waits in the client's queue."""
        return self.card.client == CODEX and codex.still_queued(self.card)

    def count(self, waiting: int, in_roles: dict[str, int]) -> None:
        """How much mail waits, as the office says with each renewal. No event tells of a letter that comes back, or is due by now."""
        self.roles = frozenset(in_roles)
        if (waiting, in_roles) != (self._waiting, self._waiting_in_roles):
            self._waiting, self._waiting_in_roles = waiting, in_roles
            self.stirred.set()

    def may_get_more(self) -> bool:
        """Whether mail waits in its agent's roles, which may become its own to take without any news: its taker went, or has its hands free."""
        return any(self._waiting_in_roles.values())

    def is_due(self, id: str) -> bool:
        """Whether this window would be rung for a letter now."""
        ready = self.is_free() and not self.left_alone and not self.awaits_tools()
        return ready and id in self.card.ringing.due(self.letters, time.monotonic())

    def told(self, letters: Iterable[Letter]) -> None:
        """Note that a turn was told of these."""
        self.card.ringing = self.card.ringing.tell([letter.id for letter in letters], time.monotonic())

    def untold_urgent(self) -> list[Letter]:
        """The urgent ones among the untold letters, which an agent at work is told at once."""
        return [letter for letter in self.untold() if letter.priority <= AT_ONCE and not letter.notice]

    def untold(self) -> list[Letter]:
        """The letters that wait and that no turn was told of."""
        return [letter for letter in self.letters if letter.id not in self.card.ringing.told]

    def _open(self) -> list[str]:
        client = self.card.client
        ways = []
        if client == CLAUDE and claude.socket_path(self.card) is not None:
            ways.append("socket")
        if client == QWEN and qwen.has_inbox(self.card):
            ways.append("socket")
        if client == CODEX and app_server.is_open(self.card):
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


def letters_of(raw: Iterable[dict[str, object]], role: str | None = None) -> list[Letter]:
    """The waiting letters in an answer of the office."""
    return [
        Letter(
            id=str(one.get("message_id") or one["id"]),
            priority=msgspec.convert(one.get("priority", 3), int),
            notice=one["from"] == "system",
            role=role,
        )
        for one in raw
    ]

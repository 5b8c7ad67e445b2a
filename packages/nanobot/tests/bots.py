"""A desk with real files and a model that is a function, and ways to watch it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from postoffice_files import Clock, MailboxManager
from postoffice_nanobot.answer import Answer
from postoffice_nanobot.box import Box
from postoffice_nanobot.config import MailboxConfig
from postoffice_nanobot.desk import Desk
from postoffice_nanobot.outbox import Order, Origin
from postoffice_nanobot.place import Place

CHAT = Place("websocket:1", "websocket", "1")
FINAL = {"completed", "failed", "rejected"}


class Later(Clock):
    """A clock that has seen every claim run out."""

    def now(self) -> int:
        return super().now() + 60_000_000


class Still(Clock):
    """A clock that stands still."""

    def __init__(self) -> None:
        self._now = super().now()

    def now(self) -> int:
        return self._now


class Bot:
    """A host whose model is a function, and whose chats are lists."""

    def __init__(self, config: MailboxConfig, clock: Clock | None = None) -> None:
        self.desk = Desk(config, Box(config, clock), self)
        self.say: Callable[[Place, str, str], Any] = lambda _place, _text, _cause: "done"
        self.asked: list[tuple[str, str]] = []
        self.shown: list[tuple[Place, str]] = []
        self.allowed = True

    def allows(self, sender: str) -> bool:
        return self.allowed or not sender

    async def ask(self, place: Place, text: str, cause: str) -> Answer:
        self.asked.append((place.session_id, text))
        said = self.say(place, text, cause)
        return Answer(await said if asyncio.iscoroutine(said) else said)

    async def tell(self, place: Place, text: str, cause: str) -> None:
        self.shown.append((place, (await self.ask(place, text, cause)).text))

    async def show(self, place: Place, text: str) -> None:
        self.shown.append((place, text))


@asynccontextmanager
async def at_work(bot: Bot) -> AsyncIterator[None]:
    task = asyncio.create_task(bot.desk.run())
    try:
        yield
    finally:
        await bot.desk.leave()
        await task


async def until(check: Callable[[], Any]) -> Any:
    """What the check gives, once it gives something."""
    async with asyncio.timeout(60):
        while not (found := check()):  # noqa: ASYNC110 - what is awaited happens elsewhere
            await asyncio.sleep(0.01)
    return found


def states(messages: list[dict[str, Any]]) -> list[str]:
    return [message["task"]["state"] for message in messages]


async def told(mail: MailboxManager, enough: Callable[[list[dict[str, Any]]], Any]) -> list[dict[str, Any]]:
    """What researcher is told next, until it is enough."""
    got: list[dict[str, Any]] = []

    def look() -> Any:
        got.extend(mail.poll("researcher"))
        return enough(got)

    await until(look)
    return got


async def ended(mail: MailboxManager) -> list[dict[str, Any]]:
    """All that researcher was told of a task, once it is over."""
    return await told(mail, lambda got: FINAL & set(states(got)))


def names(root: Path, folder: str) -> list[str]:
    return [path.name for path in (root / "coder" / folder).iterdir()]


def delegating(bot: Bot) -> None:
    """Its model hands every task on to typist, and answers with what comes back."""

    async def say(place: Place, text: str, cause: str) -> str:
        if "A task from" in text:
            await bot.desk.send(Order("typist", Answer("type this")), Origin(place, cause))
            return "typist has it"
        return "typed: " + text.splitlines()[2]

    bot.say = say

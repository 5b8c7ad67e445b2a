"""A process of senders and takers that go on whatever happens to the office, until they are told to stop."""

import asyncio
import itertools
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tests.chaos.caller import Caller
from tests.chaos.form import chance
from tests.chaos.history import Item, Op, Scribe

BOXES: Final = ("ada", "bob")
SENDERS, TAKERS = 4, 4
_PRIORITIES = (3, 3, 3, 3, 1, 5)
_PAUSE = 0.05


class Client:
    """One process's part of the load."""

    def __init__(self, scribe: Scribe, name: str, urls: Sequence[str], patience: float) -> None:
        self._scribe = scribe
        self._name = name
        self._urls = urls
        self._patience = patience
        self._stop = asyncio.Event()

    async def run(self) -> None:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, self._stop.set)
        async with asyncio.TaskGroup() as group:
            for number in range(SENDERS):
                group.create_task(self._send(f"{self._name}-sender-{number}"))
            for number in range(TAKERS):
                group.create_task(self._take(f"{self._name}-taker-{number}", BOXES[number % len(BOXES)]))

    def _caller(self, client: str, agent: str, turn: int) -> Caller:
        turn %= len(self._urls)
        return Caller(self._scribe, client, agent, [*self._urls[turn:], *self._urls[:turn]], self._patience)

    async def _pause(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self._stop.wait()
        except TimeoutError:
            pass

    async def _send(self, name: str) -> None:
        """Sends under its own ids; what was not accepted it mostly sends again, what was accepted now and then, too."""
        luck = chance(name)
        async with self._caller(name, name, luck.randrange(9)) as caller:
            for number in itertools.count(1):
                if self._stop.is_set():
                    return
                to, priority = luck.choice(BOXES), luck.choice(_PRIORITIES)
                letter = (to, f"{name}-{number}", f"Letter {number} of {name}. {'x' * luck.randrange(300)}", priority)
                call = await caller.send(*letter)
                while not call.answered and not self._stop.is_set() and luck.random() < 0.8:
                    await self._pause(_PAUSE)
                    call = await caller.send(*letter)
                if call.answered and luck.random() < 0.05:
                    await caller.send(*letter)
                await self._pause(luck.uniform(0, 2 * _PAUSE))

    async def _take(self, name: str, box: str) -> None:
        """Takes and settles, mostly as one should."""
        luck = chance(name)
        async with self._caller(name, box, luck.randrange(9)) as caller:
            while not self._stop.is_set():
                visible_for = luck.choice((1.0, 1.2, 1.5))
                call = await caller.take(luck.randint(1, 5), visible_for, luck.choice((0.0, 0.5)))
                for item in call.items:
                    await self._handle(caller, item, visible_for, luck.random())
                if not call.items:
                    await self._pause(_PAUSE)

    async def _handle(self, caller: Caller, item: Item, visible_for: float, fate: float) -> None:
        if fate < 0.05:
            return  # left in hand until its lease runs out
        if fate < 0.12:
            await caller.settle(Op.NACK, item)
            return
        if fate < 0.17:
            await caller.settle(Op.EXTEND, item, visible_for)
        if fate > 0.97:
            await self._pause(visible_for + 0.6)  # too late, by its own fault
        call = await caller.settle(Op.ACK, item)
        for _ in range(3):
            if not call.unknown:
                return
            await self._pause(_PAUSE)
            call = await caller.settle(Op.ACK, item)


async def main(history: Path, name: str, patience: float, urls: Sequence[str]) -> None:
    async with Scribe(history) as scribe:
        await Client(scribe, name, urls, patience).run()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], float(sys.argv[3]), sys.argv[4:]))

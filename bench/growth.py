"""What a send, a lease and a look at the inbox cost as an office grows: by messages in one mailbox, and by agents."""

import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from statistics import median

import msgspec

from bench.crowding import Crowded
from bench.filling import READER, Filled
from bench.plan import BODY, Plan
from bench.scratch import progress
from postoffice.acts.mail.send import Send
from postoffice.acts.mail.take_and_settle import TakeAndSettle
from postoffice.acts.people.agents import Appear
from postoffice.core.delivery import Ack, Wish
from postoffice.core.draft import Draft
from postoffice.store.store import Store

MESSAGES, AGENTS = "messages", "agents"
_WRITER = "writer"
_SHOWN = 20
_BLOCK = 20
_WISH = Wish(limit=1, visible_for=timedelta(seconds=30))


class Cost(msgspec.Struct, frozen=True):
    """The medians in an office of one size; what writes is on disk."""

    engine: str
    by: str
    size: int
    send_micros: float
    lease_micros: float
    inbox_micros: float


async def growth_costs(engine: Filled, crowds: Crowded, plan: Plan) -> list[Cost]:
    """Every size by messages, and every size by agents."""
    mailboxes = [(await engine.filled(size))[0] for size in plan.sizes]
    offices = [(await crowds.crowded(size))[0] for size in plan.crowds]
    return [
        *await _costs(engine.name, MESSAGES, plan.sizes, mailboxes, plan),
        *await _costs(engine.name, AGENTS, plan.crowds, offices, plan),
    ]


async def _costs(engine: str, by: str, sizes: Sequence[int], stores: Sequence[Store], plan: Plan) -> list[Cost]:
    """Time a few acts at each size in turn, so that a noisy moment hits all of them."""
    progress(f"timing growth by {by} on {engine}")
    times: list[tuple[list[float], list[float], list[float]]] = [([], [], []) for _ in sizes]
    async with AsyncExitStack() as stack:
        for store in stores:
            await store.open(lambda _agents: None)
            stack.push_async_callback(store.close)
            await store.do(Appear(_WRITER))
        for block in range(-1, max(1, plan.leases // _BLOCK)):
            for store, (sends, leases, inboxes) in zip(stores, times, strict=True):
                for _ in range(_BLOCK):
                    sent, leased, looked = await _send(store), await _lease(store), await _look(store)
                    # The first block only warms caches and plans.
                    if block >= 0:
                        sends.append(sent)
                        leases.append(leased)
                        inboxes.append(looked)
    return [Cost(engine, by, size, *(median(taken) * 1e6 for taken in of_size)) for size, of_size in zip(sizes, times, strict=True)]


async def _send(store: Store) -> float:
    letter = Draft(to=READER, content=BODY, priority=3, ttl=3)
    return await _timed(lambda: store.do(Send(_WRITER, letter, verified=False, strangers=True)))


async def _lease(store: Store) -> float:
    """It is acked off the clock, and the next one takes the next message."""
    began = time.perf_counter()
    turned = await store.do(TakeAndSettle(READER, (), _WISH))
    took = time.perf_counter() - began
    (leased,) = turned.leased
    await store.do(TakeAndSettle(READER, (Ack(leased.message.id, leased.token),), None))
    return took


async def _look(store: Store) -> float:
    return await _timed(lambda: store.sessions.inbox(READER, None, _SHOWN, unread_only=False, lines=3))


async def _timed(act: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await act()
    return time.perf_counter() - began

"""The verb that waits for mail."""

import asyncio
from datetime import timedelta
from typing import Any

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.delivery import Collected
from postoffice.core.errors import Invalid
from postoffice.core.limits import Limits, bounded
from postoffice.core.names import folded
from postoffice.office.awaited import LOOK_SECONDS, Awaited
from postoffice.office.bells import Bells
from postoffice.office.deliveries import Deliveries
from postoffice.office.identity import Again
from postoffice.office.places import Places
from postoffice.office.presences import Presences
from postoffice.office.proofs import Proofs
from postoffice.office.rota import Rota
from postoffice.office.tallies import Tallies
from postoffice.store.store import Store

_NOW = timedelta(0)
_NARROWING = frozenset({"asked", "correlation_id", "session_id"})
"""Wishes of one who waits for some mail and no other."""


class Waits:
    """Whoever waits hangs up a bell before it looks, and looks again whenever it rings."""

    def __init__(
        self,
        store: Store,
        limits: Limits,
        deliveries: Deliveries,
        proofs: Proofs,
        rota: Rota,
        bells: Bells,
        presences: Presences,
        places: Places,
        tallies: Tallies,
    ) -> None:
        self._store = store
        self._limits = limits
        self._deliveries = deliveries
        self._proofs = proofs
        self._rota = rota
        self._bells = bells
        self._presences = presences
        self._places = places
        self._tallies = tallies

    async def wait(
        self,
        caller: Caller,
        limit: int | None = None,
        *,
        within: timedelta | None = None,
        again: Again | None = None,
        called_off: asyncio.Future[None] | None = None,
        answer_to: str | None = None,
        of: str | None = None,
        **wish: Any,
    ) -> Collected:
        """Like receive, but wait for mail. A waiter that goes away leaves no lease behind; one called off takes nothing more.

        `answer_to` waits for the answer to one message of the caller's. Those who wait for each other's are told so at once.
        """
        place = await self._rota.place(caller, of)
        awaited = await self._awaited(caller, answer_to)
        wish |= awaited.wish
        patience = bounded("wait", within, self._limits.wait, _NOW, self._limits.wait_most)
        until = asyncio.get_running_loop().time() + patience.total_seconds()
        pause = min(self._presences.sign_after, LOOK_SECONDS) if awaited.wish else self._presences.sign_after
        settled: tuple[Any, ...] = ()
        woken = False
        with (
            self._places.taken(caller.name),
            self._tallies.waiters,
            awaited,
            self._bells.waiting(place or folded(caller.name), narrow=any(wish.get(one) for one in _NARROWING)) as bell,
        ):
            if called_off is not None:
                called_off.add_done_callback(lambda _: bell.ring())
            while True:
                bell.still()
                if woken:
                    if again is not None:
                        await again()
                    self._presences.touch(caller.name)
                if place is None:
                    await self._rota.look()  # it may have been put into a role while it waited
                    bell.hear_also(self._rota.of(caller.name))
                done = await self._deliveries.receive(caller, limit, of=place, **wish)
                settled = settled or done.settled
                wish.pop("settle", None)
                if woken:
                    self._tallies.wakes.extend(self._deliveries.ages(done.leased))
                left = until - asyncio.get_running_loop().time()
                woken = True
                if done.leased and called_off is not None and called_off.done():
                    await self._deliveries.give_back(caller, done.leased)  # while it was taken
                    return msgspec.structs.replace(done, settled=settled, leased=(), waiting=done.waiting + len(done.leased))
                if done.leased or left <= 0 or self._is_over(called_off):
                    return msgspec.structs.replace(done, settled=settled)
                await awaited.check(timedelta(seconds=left))
                if (not await bell.rings(min(left, pause)) and left <= pause) or self._is_over(called_off):
                    return msgspec.structs.replace(done, settled=settled)

    async def _awaited(self, caller: Caller, ref: str | None) -> Awaited:
        if ref is None:
            return Awaited(self._store, caller.name)
        proof = await self._proofs.of_sent(caller, ref)
        assert proof.message is not None
        if len(proof.standings) != 1:
            raise Invalid(what="answer_to", why="it waits for one agent's answer, and that message went to several")
        return Awaited(self._store, caller.name, proof.message, proof.standings[0])

    def _is_over(self, called_off: asyncio.Future[None] | None) -> bool:
        return self._bells.closed or (called_off is not None and called_off.done())

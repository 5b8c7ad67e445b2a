"""Verbs that take mail and settle it."""

import asyncio
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from postoffice.acts.mail.take_and_settle import Collected
from postoffice.core.agent import Caller
from postoffice.core.clock import is_id
from postoffice.core.delivery import Ack, Asked, Extend, GiveBack, InHand, Leased, Nack, Settled, Settlement, Unread, Wish
from postoffice.core.errors import (
    Invalid,
    MailError,
    NoSuchSession,
)
from postoffice.core.limits import bounded
from postoffice.core.names import folded
from postoffice.office.awaited import LOOK_SECONDS, Awaited
from postoffice.office.identity import Again
from postoffice.office.sending import SendingVerbs

_NOW = timedelta(0)
_NARROWING = frozenset({"asked", "correlation_id", "session_id"})
"""Wishes of one who waits for some mail and no other."""


class MailVerbs(SendingVerbs):
    """Taking and settling."""

    async def receive(
        self,
        caller: Caller,
        limit: int | None = None,
        *,
        visible_for: timedelta | None = None,
        settle: Sequence[Settlement | Unread] = (),
        one_per_session: bool = False,
        session_id: str | None = None,
        correlation_id: str | None = None,
        asked: Asked | None = None,
    ) -> Collected:
        """Settle what was handled, and lease what waits."""
        if session_id and not is_id(session_id):
            raise NoSuchSession(session=session_id)  # an empty answer would say that there is no mail
        wish = Wish(
            limit=bounded("limit", limit, self._limits.receive, 1, self._limits.batch),
            visible_for=self._checks.visible(visible_for),
            one_per_session=one_per_session,
            session_id=session_id or None,
            correlation_id=self._checks.ref(correlation_id, "correlation_id") if correlation_id else None,
            answer_to=asked,
        )
        if one_per_session and settle:
            # A session is known to be free only once what was in hand of it is settled.
            settled = await self.settle(caller, settle)
            return Collected(settled, (await self._turn(caller, (), wish)).leased)
        return await self._turn(caller, settle, wish)

    async def wait(
        self,
        caller: Caller,
        limit: int | None = None,
        *,
        within: timedelta | None = None,
        again: Again | None = None,
        called_off: asyncio.Future[None] | None = None,
        answer_to: str | None = None,
        **wish: Any,
    ) -> Collected:
        """Like receive, but wait for mail. A waiter that goes away leaves no lease behind; one called off takes nothing more.

        `answer_to` waits for the answer to one message of the caller's. Those who wait for each other's are told so at once.
        """
        awaited = await self._awaited(caller, answer_to)
        wish |= awaited.wish
        patience = bounded("wait", within, self._limits.wait, _NOW, self._limits.wait_most)
        until = asyncio.get_running_loop().time() + patience.total_seconds()
        pause = min(self._sign_after, LOOK_SECONDS) if awaited.wish else self._sign_after
        settled: tuple[Any, ...] = ()
        woken = False
        with (
            self.places.taken(caller.name),
            self.waiters,
            awaited,
            self._bells.waiting(folded(caller.name), narrow=any(wish.get(one) for one in _NARROWING)) as bell,
        ):
            if called_off is not None:
                called_off.add_done_callback(lambda _: bell.ring())
            while True:
                bell.still()
                if woken:
                    if again is not None:
                        await again()
                    self._presences.touch(caller.name)
                turned = await self.receive(caller, limit, **wish)
                settled = settled or turned.settled
                wish.pop("settle", None)
                if woken:
                    self.wakes.extend(self._ages(turned.leased))
                left = until - asyncio.get_running_loop().time()
                woken = True
                if turned.leased and called_off is not None and called_off.done():
                    await self.give_back(caller, turned.leased)  # while it was taken
                    return Collected(settled, ())
                if turned.leased or left <= 0 or self._is_over(called_off):
                    return Collected(settled, turned.leased)
                await awaited.check(timedelta(seconds=left))
                if (not await bell.rings(min(left, pause)) and left <= pause) or self._is_over(called_off):
                    return Collected(settled, ())

    async def _awaited(self, caller: Caller, ref: str | None) -> Awaited:
        if ref is None:
            return Awaited(self.store, caller.name)
        proof = await self.short_ids.named(caller.name, self._checks.ref(ref), lambda whole: self._own(caller, whole))
        assert proof.message is not None
        if len(proof.standings) != 1:
            raise Invalid(what="answer_to", why="it waits for one agent's answer, and that message went to several")
        return Awaited(self.store, caller.name, proof.message, proof.standings[0])

    def _is_over(self, called_off: asyncio.Future[None] | None) -> bool:
        return self._bells.closed or (called_off is not None and called_off.done())

    async def pop(self, caller: Caller, limit: int = 1) -> tuple[Leased, ...]:
        """Take and settle in one act: at most once, by contract."""
        most = bounded("limit", limit, 1, 1, self._limits.batch)
        return (await self._turn(caller, (), Wish(limit=most, visible_for=None, pop=True))).leased

    async def settle(self, caller: Caller, settlements: Sequence[Settlement | Unread]) -> tuple[Settled | MailError, ...]:
        """Ack, nack, extend or give back, each answered by itself."""
        return (await self._turn(caller, settlements, None)).settled

    async def ack(self, caller: Caller, ref: str, token: str | None = None) -> Settled:
        """Done with it."""
        return await self._settle_one(caller, Ack(ref, token))

    async def nack(
        self,
        caller: Caller,
        ref: str,
        token: str | None = None,
        *,
        delay: timedelta = _NOW,
        reason: str | None = None,
        untried: bool = False,
    ) -> Settled:
        """Not done with it: give it back. What was never begun was no attempt."""
        return await self._settle_one(caller, Nack(ref, token, delay, reason, untried))

    async def extend(self, caller: Caller, ref: str, visible_for: timedelta | None = None, token: str | None = None) -> Settled:
        """Still at it: keep the lease longer."""
        return await self._settle_one(caller, Extend(ref, self._checks.visible(visible_for), token))

    async def keep(self, caller: Caller, refs: Sequence[str], visible_for: timedelta | None = None) -> None:
        """Still at these: what the caller holds of them it holds for so long from now, or for longer if it did. Says nothing of the rest."""
        span = self._checks.visible(visible_for)
        await self.settle(caller, [Extend(ref, span, shorten=False) for ref in refs])

    async def in_hand(self, caller: Caller, limit: int | None = None) -> tuple[InHand, ...]:
        """What the caller has taken and neither settled nor lost, in the order it was given out, and how long it may keep each.

        What another open window of the same mailbox has is not its own.
        """
        await self._board.look()
        others = {one.id for one in self._board.of(caller.name)} - {caller.window} if caller.window else set[str]()
        return await self.store.mail.in_hand(caller.name, self._checks.page(limit), others)

    async def give_back(self, caller: Caller, leased: Sequence[Leased]) -> None:
        """Undo leases whose taker could not be told of them: no attempt was made."""
        await self.settle(caller, [GiveBack(item.message.id, item.token) for item in leased])

    async def _settle_one(self, caller: Caller, settlement: Settlement) -> Settled:
        (outcome,) = (await self._turn(caller, (settlement,), None)).settled
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

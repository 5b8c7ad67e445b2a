"""Verbs that take mail and settle it."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from types import MappingProxyType

import msgspec

from postoffice.acts.mail.role_taking import TakeFromRole
from postoffice.acts.mail.take_and_settle import TakeAndSettle
from postoffice.core.agent import Caller
from postoffice.core.clock import Clock, is_id, moment, steady
from postoffice.core.delivery import Ack, Asked, Collected, Extend, GiveBack, InHand, Leased, Nack, Settled, Settlement, Unread, Wish
from postoffice.core.errors import MailError, NoSuchMessage, NoSuchSession
from postoffice.core.limits import Limits, bounded
from postoffice.core.names import folded
from postoffice.office.board import Board
from postoffice.office.checks import Checks
from postoffice.office.rota import Rota
from postoffice.office.short_ids import ShortIds
from postoffice.office.tallies import Tallies
from postoffice.office.trace import Trace
from postoffice.store.store import Store

_NOW = timedelta(0)
_NO_IDS: Mapping[str, str] = MappingProxyType({})


class Deliveries:
    """What is leased is settled by whoever holds it. Each settlement is answered by itself."""

    def __init__(
        self,
        store: Store,
        checks: Checks,
        limits: Limits,
        short_ids: ShortIds,
        board: Board,
        rota: Rota,
        clock: Clock,
        tallies: Tallies,
        trace: Trace | None,
    ) -> None:
        self._store = store
        self._checks = checks
        self._limits = limits
        self._short_ids = short_ids
        self._board = board
        self._rota = rota
        self._clock = clock
        self._tallies = tallies
        self._trace = trace

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
        of: str | None = None,
    ) -> Collected:
        """Settle what was handled, and lease what waits: for the caller itself first, then for the roles it is in; with `of`, for one role alone."""
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
            return msgspec.structs.replace(await self.take_and_settle(caller, (), wish, of), settled=settled)
        return await self.take_and_settle(caller, settle, wish, of)

    async def pop(self, caller: Caller, limit: int = 1, *, of: str | None = None) -> tuple[Leased, ...]:
        """Take and settle in one act: at most once, by contract."""
        most = bounded("limit", limit, 1, 1, self._limits.batch)
        return (await self.take_and_settle(caller, (), Wish(limit=most, visible_for=None, pop=True), of)).leased

    async def settle(self, caller: Caller, settlements: Sequence[Settlement | Unread]) -> tuple[Settled | MailError, ...]:
        """Ack, nack, extend or give back, each answered by itself."""
        return (await self.take_and_settle(caller, settlements, None)).settled

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
        """Still at these: the caller keeps those it holds for so long from now, or for longer if it already could. It ignores the others."""
        span = self._checks.visible(visible_for)
        await self.settle(caller, [Extend(ref, span, shorten=False) for ref in refs])

    async def in_hand(self, caller: Caller, limit: int | None = None) -> tuple[InHand, ...]:
        """What the caller has taken and neither settled nor lost, in the order it was given out, and how long it may keep each.

        What another open window of the same mailbox has is not its own.
        """
        await self._board.look()
        others = {one.id for one in self._board.of(caller.name)} - {caller.window} if caller.window else set[str]()
        most = self._checks.page(limit)
        own = await self._store.mail.in_hand(caller.name, most, others)
        await self._rota.look()
        for role in self._rota.of(caller.name):
            hands = {one.message_id for one in await self._store.roles.hands(role) if folded(one.agent) == folded(caller.name)}
            found = await self._store.mail.in_hand(role, most, others) if hands else ()
            own += tuple(one for one in found if one.leased.message.id in hands)
        return own[:most]

    async def give_back(self, caller: Caller, leased: Sequence[Leased]) -> None:
        """Undo leases whose taker could not be told of them: no attempt was made."""
        await self.settle(caller, [GiveBack(item.message.id, item.token) for item in leased])

    async def _settle_one(self, caller: Caller, settlement: Settlement) -> Settled:
        (outcome,) = (await self.take_and_settle(caller, (settlement,), None)).settled
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    # What all of these come to

    async def take_and_settle(
        self, caller: Caller, asked: Sequence[Settlement | Unread], wish: Wish | None, of: str | None = None
    ) -> Collected:
        """Do both in one act, and count it. A wrong settlement is answered with its error, and the others are done."""
        place = await self._rota.place(caller, of)
        self._checks.batch(asked)
        judged = [self._checks.settlement(one) for one in asked]
        fit = tuple(one for one in judged if not isinstance(one, MailError))
        begun = steady()
        whole = self._short_ids.remembered(caller.name, fit) if fit else {}
        done = await self._turn(caller, fit, wish if place is None else None, whole=whole)
        done = await self._with_roles(caller, fit, await self._with_short_ids(caller, fit, done))
        if wish is not None and (roles := await self._roles(caller, wish, place)):
            done = await self._from_roles(caller, roles, wish, done)
        self._follow(caller, done, begun)
        if done.leased:
            self._short_ids.note_taken(caller, done.leased)
            self._tallies.waits.extend(self.ages(done.leased))
            self._tallies.redelivered += sum(one.attempt > 1 for one in done.leased)
        if len(fit) == len(judged):
            return done
        answers = iter(done.settled)
        return msgspec.structs.replace(done, settled=tuple(one if isinstance(one, MailError) else next(answers) for one in judged))

    async def _turn(
        self, caller: Caller, fit: tuple[Settlement, ...], wish: Wish | None, role: str | None = None, whole: Mapping[str, str] = _NO_IDS
    ) -> Collected:
        """A turn at the caller's own mailbox, or at a role's."""

        def act(settlements: tuple[Settlement, ...], wished: Wish | None) -> TakeAndSettle:
            if role is None:
                return TakeAndSettle(caller.name, settlements, wished, caller.window, whole)
            return TakeFromRole(role, caller.name, settlements, wished, caller.window)

        done = await self._store.do(act(fit, wish))
        if wish is not None and done.in_order:
            taken = await self._store.do(act((), msgspec.structs.replace(wish, one_per_session=True)))
            return msgspec.structs.replace(taken, settled=done.settled)
        return done

    async def _roles(self, caller: Caller, wish: Wish, place: str | None) -> tuple[str, ...]:
        """The roles whose mail a taker is given too. Answers come to itself, and what it keeps elsewhere must be its own."""
        if place is not None:
            return (place,)
        if wish.answer_to is not None or (wish.visible_for is None and not wish.pop):
            return ()
        await self._rota.look()
        return self._rota.of(caller.name)

    async def _from_roles(self, caller: Caller, roles: tuple[str, ...], wish: Wish, done: Collected) -> Collected:
        """What is still wanted comes from the roles, one after the other."""
        for role in roles:
            in_hand = 1  # where nothing more is wanted, what it has in hand there is not asked for either
            leased = done.leased
            if (left := wish.limit - len(leased)) > 0:
                more = await self._turn(caller, (), msgspec.structs.replace(wish, limit=left, taker=caller.name), role)
                leased, in_hand = leased + more.leased, more.in_hand
            done = msgspec.structs.replace(done, leased=leased, in_hand=done.in_hand + in_hand)
        return done

    async def _with_roles(self, caller: Caller, asked: tuple[Settlement, ...], done: Collected) -> Collected:
        """What names nothing in the caller's own mailbox may be a role's, which the caller took."""
        missing = [place for place, outcome in enumerate(done.settled) if isinstance(outcome, NoSuchMessage)]
        if not missing:
            return done
        await self._rota.look()
        if self._rota.empty:
            return done
        settled = list(done.settled)
        for place in missing:
            try:
                ref = await self._short_ids.whole(caller.name, asked[place].ref) or asked[place].ref
            except MailError as error:
                settled[place] = error
                continue
            for role in await self._store.roles.mailboxes(ref):
                if not isinstance(settled[place], Settled):
                    one = msgspec.structs.replace(asked[place], ref=ref)
                    (settled[place],) = (await self._turn(caller, (one,), None, role)).settled
        return msgspec.structs.replace(done, settled=tuple(settled))

    async def _with_short_ids(self, caller: Caller, asked: tuple[Settlement, ...], done: Collected) -> Collected:
        """A ref that named nothing may be the end of an id."""
        if not done.settled or not any(isinstance(outcome, NoSuchMessage) for outcome in done.settled):
            return done
        wholes = await self._short_ids.whole_of(caller.name, asked, done.settled)
        again = {place: whole for place, whole in wholes.items() if isinstance(whole, str)}
        renamed = tuple(msgspec.structs.replace(asked[place], ref=whole) for place, whole in again.items())
        settled = (await self._store.do(TakeAndSettle(caller.name, renamed, None, caller.window))).settled if renamed else ()
        outcomes: dict[int, Settled | MailError] = {place: error for place, error in wholes.items() if isinstance(error, MailError)}
        outcomes |= dict(zip(again, settled, strict=True))
        return msgspec.structs.replace(done, settled=tuple(outcomes.get(place, outcome) for place, outcome in enumerate(done.settled)))

    def _follow(self, caller: Caller, done: Collected, begun: int) -> None:
        if self._trace is not None:
            took = timedelta(microseconds=(steady() - begun) // 1000)
            for leased in done.leased:
                self._trace.taken(caller.name, leased, took)
            for settled in done.settled:
                if isinstance(settled, Settled):
                    self._trace.settled(caller.name, settled, took)

    def ages(self, leased: Sequence[Leased]) -> list[float]:
        """How long ago each was accepted, in seconds."""
        now = moment(self._clock.now())
        return [max(0.0, (now - (one.message.deliver_at or one.message.created_at)).total_seconds()) for one in leased]

"""What every verb has at hand: the store, the rules of the house, and the checks they share."""

from collections.abc import Sequence
from datetime import timedelta
from typing import TypeVar

import msgspec

from postoffice.acts.mail.take_and_settle import Collected, TakeAndSettle
from postoffice.core.agent import Agent, Caller, presence
from postoffice.core.clock import Clock, moment, steady
from postoffice.core.delivery import Leased, Settled, Settlement, Unread, Wish
from postoffice.core.errors import (
    BadCursor,
    MailError,
    NoSuchMessage,
)
from postoffice.core.event import Event, beyond
from postoffice.core.names import folded
from postoffice.core.reach import Known, Reach, Signs, reach_of
from postoffice.core.tally import Headcount, Tally
from postoffice.core.views import Seat
from postoffice.office.bells import Bells
from postoffice.office.board import Board
from postoffice.office.checks import Checks
from postoffice.office.foreign import ForeignVerbs
from postoffice.office.house import House
from postoffice.office.identity import Identities
from postoffice.office.invites import InviteVerbs
from postoffice.office.ledger import LedgerVerbs
from postoffice.office.lending import LendingVerbs
from postoffice.office.machines import MachineVerbs
from postoffice.office.naming_mail import ShortIds
from postoffice.office.near_names import NearNames
from postoffice.office.places import Places
from postoffice.office.trace import Trace
from postoffice.office.upkeep import Presences, Upkeep
from postoffice.office.webhooks import Webhooks
from postoffice.store.store import Store
from postoffice.wake.protocol import Wake

Shown = TypeVar("Shown", Agent, Seat)

_NOW = timedelta(0)


class Counter:
    """The office's side of the counter; the verbs are written on top of it."""

    def __init__(self, store: Store, wake: Wake, house: House | None = None, trace: Trace | None = None) -> None:
        self.house = house or House()
        self.trace = trace
        self.store = store
        self.wake = wake
        self._limits = self.house.limits
        self._checks = Checks(self._limits)
        self._near_names = NearNames(store)
        self._bells = Bells()
        self._presences = Presences()
        self._board = Board(store)
        self._sign_after = max(1.0, self._limits.heartbeat_timeout.total_seconds() * 3 / 4)
        """Seconds after which whoever still waits shows that it is there: a wait may last longer than silence may."""
        self._identities = Identities(store, self.house.auth)
        self._clock = Clock()
        self.short_ids = ShortIds(store)
        self.upkeep = Upkeep(store, wake, self._bells, self._board, self._presences, self.house, self._clock.new_id())
        self.webhooks = Webhooks(store, self._bells, self._clock)
        self.waits = Tally()
        """How long mail waited before it was taken."""
        self.wakes = Tally()
        """How long mail was on its way to somebody who was waiting for it."""
        self.waiters = Headcount()
        """Calls that wait for mail."""
        self.watchers = Headcount()
        """Pages that are told what happens."""
        self.places = Places(self._limits.waits)
        """How many lines each agent keeps open."""
        self.sent = 0
        self.redelivered = 0
        self.ledger = LedgerVerbs(store, self.house, self._checks, self._near_names)
        self.foreign = ForeignVerbs(store, self.house, self._checks)
        self.invites = InviteVerbs(store, self._checks, self._clock)
        self.machines = MachineVerbs(store, self._checks)
        self.lending = LendingVerbs(store, self._checks, self._bells, self._turn)

    async def _of(self, caller: Caller, of: str | None) -> str:
        """The same, for a verb that would find nothing wrong with nobody's mailbox."""
        name = self._checks.whose(caller, of)
        if of is not None and await self.store.agents.named(name) is None:
            raise await self._near_names.unknown(name)
        return name

    async def _log(self, after: str, most: int) -> list[Event]:
        """Everyone's log after a cursor. One from beyond it is refused at each look: a backup may take the log's place meanwhile."""
        events = await self.store.log.page(self._checks.ref(after, "cursor"), most)
        if not events and beyond(after, await self.store.log.last()):
            raise BadCursor(cursor=after)
        return events

    async def _turn(self, caller: Caller, asked: Sequence[Settlement | Unread], wish: Wish | None) -> Collected:
        """A taker's turn, counted. A settlement that is not right is answered as such, and keeps none of the others from being done."""
        self._checks.batch(asked)
        judged = [self._checks.settlement(one) for one in asked]
        fit = tuple(one for one in judged if not isinstance(one, MailError))
        begun = steady()
        turned = await self._by_short_ids(caller, fit, await self.store.do(TakeAndSettle(caller.name, fit, wish, caller.window)))
        self._follow(caller, turned, begun)
        if turned.leased:
            self.waits.extend(self._ages(turned.leased))
            self.redelivered += sum(one.attempt > 1 for one in turned.leased)
        if len(fit) == len(judged):
            return turned
        answers = iter(turned.settled)
        return Collected(tuple(one if isinstance(one, MailError) else next(answers) for one in judged), turned.leased)

    async def _by_short_ids(self, caller: Caller, asked: tuple[Settlement, ...], turned: Collected) -> Collected:
        """What named nothing may have named something by the end of its id."""
        if not turned.settled or not any(isinstance(outcome, NoSuchMessage) for outcome in turned.settled):
            return turned
        wholes = await self.short_ids.whole_of(caller.name, asked, turned.settled)
        again = {place: whole for place, whole in wholes.items() if isinstance(whole, str)}
        renamed = tuple(msgspec.structs.replace(asked[place], ref=whole) for place, whole in again.items())
        settled = (await self.store.do(TakeAndSettle(caller.name, renamed, None, caller.window))).settled if renamed else ()
        said: dict[int, Settled | MailError] = {place: error for place, error in wholes.items() if isinstance(error, MailError)}
        said |= dict(zip(again, settled, strict=True))
        return Collected(tuple(said.get(place, outcome) for place, outcome in enumerate(turned.settled)), turned.leased)

    def _follow(self, caller: Caller, turned: Collected, begun: int) -> None:
        if self.trace is not None:
            took = timedelta(microseconds=(steady() - begun) // 1000)
            for leased in turned.leased:
                self.trace.taken(caller.name, leased, took)
            for settled in turned.settled:
                if isinstance(settled, Settled):
                    self.trace.settled(caller.name, settled, took)

    def _ages(self, leased: Sequence[Leased]) -> list[float]:
        now = moment(self._clock.now())
        return [max(0.0, (now - one.message.created_at).total_seconds()) for one in leased]

    def _reach(self, caller: Caller | None, name: str, known: Known) -> Reach:
        """Whether an agent can take mail now, as far as the board and this process know."""
        agent = folded(name)
        newer = self._presences.silent_for(name)
        signs = Signs(
            came=known.came or newer is not None,
            silent_for=newer if newer is not None else known.silent_for,
            waits=self._bells.mail_awaited(agent),
            waits_for_some=self._bells.mail_awaited(agent, narrow=True),
            at_work=known.at_work,
            pause=known.pause,
            certain=not self.store.engine.shared,
        )
        whole = caller is not None and caller.owner
        return reach_of(self._board.of(name), signs, self._limits.heartbeat_timeout, moment(self._clock.now()), whole=whole)

    def _with_presence(self, shown: Shown, tasks: int, caller: Caller | None = None) -> Shown:
        """Count the signs of life that are not written down yet, and say what reaches it."""
        silent = None if shown.last_seen is None else moment(self._clock.now()) - shown.last_seen
        signs = Known(came=shown.acted, silent_for=silent, at_work=shown.leased > 0, pause=shown.paused)
        shown = msgspec.structs.replace(shown, reach=self._reach(caller, shown.name, signs))
        silent_for = self._presences.silent_for(shown.name)
        if silent_for is None:
            return shown
        seen = moment(self._clock.now()) - silent_for  # by our clock: the store's may be another, and what it wrote may be newer
        return msgspec.structs.replace(
            shown,
            presence=presence(silent_for, tasks, self._limits.heartbeat_timeout),
            last_seen=seen if shown.last_seen is None else max(seen, shown.last_seen),
        )

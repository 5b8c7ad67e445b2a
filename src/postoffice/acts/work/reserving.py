"""Files are reserved and released; of all who claim one at once, one gets it."""

from collections.abc import Collection, Iterable
from datetime import timedelta

import msgspec

from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import notify
from postoffice.acts.needs import Needs
from postoffice.acts.rules.notices import reservation_broken, reservation_free
from postoffice.acts.upkeep.housekeeping import Housekeeping
from postoffice.acts.work.rows import BidRow, ReservationRow
from postoffice.core.clock import micros, moment
from postoffice.core.errors import AlreadyReserved, MailError, TooManyReservations
from postoffice.core.event import Kind
from postoffice.core.names import SYSTEM, folded
from postoffice.core.reservation import MOST_HELD, Claim, Reservation
from postoffice.core.session import pair

_encode = msgspec.json.Encoder().encode


class Reserve(Housekeeping[Reservation]):
    """Claim files for so long. The same claim said again is the same reservation, with another end."""

    def __init__(self, holder: str, window: str | None, claim: Claim, lasts: timedelta, why: str, *, tell: bool) -> None:
        self.agent = folded(holder)
        self.window = window
        self.claim = claim
        self.lasts = lasts
        self.why = why
        self.tell = tell
        """Whether its agent is told when what stands in the way has ended."""

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.boxes.add(self.agent)
        needs.extra |= {"reservations": (), "reservation_bids": ()}
        if self.window is not None:
            needs.holders.add(self.window)

    def run(self, desk: Desk) -> Reservation | MailError:
        box = desk.boxes[self.agent]
        window = self.window if desk.holders.get(self.window or "") == self.agent else None
        mine, others = self._sides(desk, window)
        if (path_and_row := first_clash(self.claim, others)) is not None:
            refusal = _refusal(*path_and_row)
            if self.tell:
                self._bid(desk, box.name)
                return refusal  # what is returned keeps the bid
            raise refusal
        row = next((row for row in mine if row.claim.same_files(self.claim)), None)
        if row is None and len(mine) >= MOST_HELD:
            raise TooManyReservations(name=box.name, count=len(mine), limit=MOST_HELD)
        desk.room.take()
        for lapsed in [one for one in kept(desk) if not one.holds(desk.now) and self.claim.clash(one.claim) is not None]:
            lapsed.until, lapsed.live = min(lapsed.until, desk.now), False  # should its window come back, this does not come back with it
            _put(desk, lapsed)
        row = ReservationRow(
            id=desk.clock.new_id() if row is None else row.id,
            agent=self.agent,
            name=box.name,
            claim=self.claim,
            why=self.why,
            window=window,
            made_at=desk.now if row is None else row.made_at,
            until=desk.now + micros(self.lasts),
        )
        _put(desk, row)
        for bid in [one for one in bids(desk).values() if one.agent == self.agent and one.claim.same_files(self.claim)]:
            _forget(desk, bid)
        _tell(desk, row, "held")
        return as_reservation(row)

    def _sides(self, desk: Desk, window: str | None) -> tuple[list[ReservationRow], list[ReservationRow]]:
        mine: list[ReservationRow] = []
        others: list[ReservationRow] = []
        for row in held(desk):
            (mine if row.is_of(self.agent, window) else others).append(row)
        return mine, others

    def _bid(self, desk: Desk, name: str) -> None:
        own = [one for one in bids(desk).values() if one.agent == self.agent]
        if any(one.claim == self.claim for one in own):
            return
        if len(own) >= MOST_HELD:
            raise TooManyReservations(name=name, count=f"{len(own)} bids for", limit=MOST_HELD)
        desk.room.take()
        bid = BidRow(id=desk.clock.new_id(), agent=self.agent, claim=self.claim, asked_at=desk.now)
        bids(desk)[bid.id] = bid
        claim = bid.claim
        desk.write("put_bid", (bid.id, bid.agent, claim.project, _texts(claim.paths), claim.exclusive, bid.asked_at), bid.id)


class Release(Housekeeping[tuple[Reservation, ...]]):
    """Give up what an agent has reserved: one reservation, some paths of a project, all of a project, or all."""

    def __init__(self, holder: str, window: str | None, *, id: str | None, project: str | None, paths: Collection[str]) -> None:
        self.agent = folded(holder)
        self.window = window
        self.id = id
        self.project = project
        self.paths = frozenset(paths)

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.boxes.add(self.agent)
        needs.extra["reservations"] = ()

    def run(self, desk: Desk) -> tuple[Reservation, ...]:
        released = []
        for row in held(desk):
            if not row.is_of(self.agent, self.window) or self.id not in (None, row.id) or self.project not in (None, row.claim.project):
                continue
            left = tuple(path for path in row.claim.paths if self.paths and path not in self.paths)
            if len(left) == len(row.claim.paths):
                continue
            gone = tuple(path for path in row.claim.paths if path not in left)
            released.append(as_reservation(msgspec.structs.replace(row, claim=msgspec.structs.replace(row.claim, paths=gone))))
            if left:
                row.claim = msgspec.structs.replace(row.claim, paths=left)
                _put(desk, row)
            else:
                _drop(desk, row)
            _tell(desk, row, "released", gone)
        return tuple(released)


class EndReservations(Housekeeping[tuple[Reservation, ...]]):
    """Reservations whose time has come, whose window has ended, or that the owner breaks."""

    def __init__(self, some: Collection[tuple[str, str]], *, broken: bool = False) -> None:
        self.ids = frozenset(id for id, _ in some)
        self.agents = frozenset(agent for _, agent in some)
        self.broken = broken

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.boxes.update(self.agents)
        needs.thread_keys.update((*pair(SYSTEM, agent), "") for agent in self.agents)
        needs.extra["reservations"] = ()

    def run(self, desk: Desk) -> tuple[Reservation, ...]:
        rows = [row for row in kept(desk) if row.id in self.ids and row.agent in self.agents and row.holds(desk.now) is self.broken]
        for row in rows:
            _drop(desk, row)
            _tell(desk, row, "broken" if self.broken else "ended")
            if self.broken:
                notify(desk, desk.boxes[row.agent], reservation_broken(row))
        return tuple(map(as_reservation, rows))


class TellFree(Housekeeping[int]):
    """Tell those who asked for it, once, that nothing stands in their way any more."""

    def __init__(self, some: Collection[BidRow]) -> None:
        self.some = tuple(some)

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.boxes.update(bid.agent for bid in self.some)
        needs.thread_keys.update((*pair(SYSTEM, bid.agent), "") for bid in self.some)
        needs.extra |= {"reservations": (), "reservation_bids": ()}

    def run(self, desk: Desk) -> int:
        freed = [bid for bid in self.some if bid.id in bids(desk) and not in_the_way(bid, held(desk))]
        for bid in freed:
            _forget(desk, bid)
            notify(desk, desk.boxes[bid.agent], reservation_free(bid.claim))
        return len(freed)


def first_clash(claim: Claim, rows: Iterable[ReservationRow]) -> tuple[str, ReservationRow] | None:
    """The first path that may not be had, and who has it."""
    return next(((path, row) for row in rows if (path := claim.clash(row.claim)) is not None), None)


def in_the_way(bid: BidRow, rows: Iterable[ReservationRow]) -> bool:
    """Whether somebody else still has what is bid for."""
    return first_clash(bid.claim, (row for row in rows if row.agent != bid.agent)) is not None


def kept(desk: Desk) -> list[ReservationRow]:
    """What is reserved as far as this group has come, and what has ended and is not swept yet."""
    if desk.reservations is None:
        desk.reservations = {row.id: row for row in map(ReservationRow.of, desk.extra["reservations"])}
    return list(desk.reservations.values())


def held(desk: Desk) -> list[ReservationRow]:
    """What is reserved now."""
    return [row for row in kept(desk) if row.holds(desk.now)]


def bids(desk: Desk) -> dict[str, BidRow]:
    """Who is to be told of what, as far as this group has come."""
    if desk.bids is None:
        desk.bids = {row.id: row for row in map(BidRow.of, desk.extra["reservation_bids"])}
    return desk.bids


def as_reservation(row: ReservationRow) -> Reservation:
    """A reservation as a value."""
    return Reservation(
        id=row.id,
        holder=row.name,
        project=row.claim.project,
        paths=row.claim.paths,
        exclusive=row.claim.exclusive,
        why=row.why,
        window=row.window,
        since=moment(row.made_at),
        until=moment(row.until),
    )


def _refusal(path: str, row: ReservationRow) -> AlreadyReserved:
    why = f", who says: {row.why!r}" if row.why else ""
    until = moment(row.until).isoformat(timespec="seconds")
    return AlreadyReserved(path=path, holder=row.name, until=until, said=why, reservation=as_reservation(row))


def _put(desk: Desk, row: ReservationRow) -> None:
    assert desk.reservations is not None  # every act has looked first
    desk.reservations[row.id] = row
    claim = row.claim
    # One that was released in this group and is claimed again is not dropped after it is written.
    desk.writes.get("drop_reservation", {}).pop(row.id, None)
    values = (row.id, row.agent, claim.project, _texts(claim.paths), claim.exclusive, row.why, row.window, row.made_at, row.until)
    desk.write("put_reservation", values, row.id)


def _drop(desk: Desk, row: ReservationRow) -> None:
    assert desk.reservations is not None  # every act has looked first
    desk.reservations.pop(row.id, None)
    desk.writes.get("put_reservation", {}).pop(row.id, None)
    desk.write("drop_reservation", (row.id,), row.id)


def _forget(desk: Desk, bid: BidRow) -> None:
    del bids(desk)[bid.id]
    desk.writes.get("put_bid", {}).pop(bid.id, None)
    desk.write("drop_bid", (bid.id,), bid.id)


def _tell(desk: Desk, row: ReservationRow, state: str, paths: tuple[str, ...] | None = None) -> None:
    """The holder's windows and programs hear of it; who waits for the files is told by a letter."""
    facts = {"state": state, "project": row.claim.project, "paths": paths or row.claim.paths, "until": moment(row.until).isoformat()}
    desk.tell(desk.boxes[row.agent], Kind.RESERVATION, row.id, facts)


def _texts(paths: tuple[str, ...]) -> str:
    return _encode(paths).decode()

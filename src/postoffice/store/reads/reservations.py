"""What a store can be asked about reservations."""

from postoffice.acts.work.reserving import as_reservation
from postoffice.acts.work.rows import BidRow, ReservationRow
from postoffice.core.reservation import Reservation
from postoffice.store.engine import Engine


class ReservationReads:
    """Which files are reserved, and who waits for some."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def held(self) -> tuple[Reservation, ...]:
        """All that is reserved now, by project."""
        return tuple(map(as_reservation, await self.rows()))

    async def rows(self) -> list[ReservationRow]:
        """The same, as acts have it."""
        return [row for row in map(ReservationRow.of, await self._engine.fetch("reservations")) if row.live]

    async def ended(self, limit: int) -> list[tuple[str, str]]:
        """Those whose time has come or whose window has ended: each with its agent."""
        return [(id, agent) for id, agent in await self._engine.fetch("ended_reservations", limit=limit)]

    async def bids(self) -> list[BidRow]:
        """Who is to be told once files are free."""
        return [BidRow.of(row) for row in await self._engine.fetch("reservation_bids")]

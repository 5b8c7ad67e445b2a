"""A file that is claimed at several replicas at once: one agent gets it, and whoever waits is told once."""

import asyncio

from postoffice.core.errors import AlreadyReserved
from postoffice.core.reservation import Reservation
from postoffice.office import OfficeRules, PostOffice
from postoffice.wake.local import LocalWake
from tests.engines import PostgresEngine
from tests.mail import people

_CLAIMS = 1000
HOME = "/home/ann/shop"


async def test_of_a_thousand_claims_at_two_replicas_one_wins(database: str) -> None:
    engine = PostgresEngine(database)
    one, other = (PostOffice(engine.store(), LocalWake(), OfficeRules(tick=3600)) for _ in range(2))
    async with one, other:
        callers = await people(one, *[f"agent-{number}" for number in range(_CLAIMS)])
        outcomes = await asyncio.gather(
            *[
                office.reservations.reserve(caller, HOME, ["src/**" if number % 3 else "src/pay/card.py"])
                for number, (caller, office) in enumerate(zip(callers, (one, other) * (_CLAIMS // 2), strict=True))
            ],
            return_exceptions=True,
        )
        (winner,) = [outcome for outcome in outcomes if not isinstance(outcome, AlreadyReserved)]
        assert isinstance(winner, Reservation)
        assert await one.reservations.all() == await other.reservations.all() == (winner,)


async def test_what_one_replica_frees_is_told_once_by_all_of_them(database: str) -> None:
    engine = PostgresEngine(database)
    one, other = (PostOffice(engine.store(), LocalWake(), OfficeRules(tick=3600)) for _ in range(2))
    async with one, other:
        holder, waiter = await people(one, "holder", "waiter")
        await one.reservations.reserve(holder, HOME, ["docs"])
        refusal = await asyncio.gather(other.reservations.reserve(waiter, HOME, ["docs"], tell=True), return_exceptions=True)
        assert isinstance(refusal[0], AlreadyReserved)
        await asyncio.gather(one.reservations.release(holder), one.upkeep.sweep(), other.upkeep.sweep())
        await asyncio.gather(one.upkeep.sweep(), other.upkeep.sweep())
        assert len((await other.waiting(waiter)).items) == 1

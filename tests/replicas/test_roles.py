"""A role at several replicas: each letter is taken once, who waits elsewhere is woken, and a session stays with its taker."""

import asyncio
from datetime import timedelta

from postoffice.office import OfficeRules, PostOffice
from postoffice.wake.postgres import PostgresWake
from tests.engines import PostgresEngine
from tests.mail import people, taken, write

_LETTERS = 120
_TAKERS = 6
ROLE = "role:reviewer"


async def test_each_letter_is_taken_once_at_whichever_replica_and_in_no_more_hands_than_may_be(database: str) -> None:
    engine = PostgresEngine(database)
    one, other = (PostOffice(engine.store(), PostgresWake(database), OfficeRules(tick=3600)) for _ in range(2))
    async with one, other:
        sender, *staff = await people(one, "sender", *[f"taker-{number}" for number in range(_TAKERS)])
        await one.roles.make(sender, ROLE, [caller.name for caller in staff], max_in_hand=_LETTERS // 2)
        for number in range(_LETTERS):
            await write(one, sender, ROLE, str(number), subject=str(number % 40))
        shares = await asyncio.gather(*[taken(office, caller) for caller in staff for office in (one, other)])
        first = [letter for share in shares for letter in share]
        assert len(first) == len(set(first)) == _LETTERS // 2
        whose: dict[int, set[str]] = {}
        for caller, share in zip([caller for caller in staff for _ in range(2)], shares, strict=True):
            for letter in share:
                whose.setdefault(int(letter or 0) % 40, set()).add(caller.name)
        assert {len(names) for names in whose.values()} == {1}


async def test_who_waits_at_one_replica_is_woken_by_a_letter_at_another(database: str) -> None:
    engine = PostgresEngine(database)
    one, other = (PostOffice(engine.store(), PostgresWake(database), OfficeRules(tick=3600)) for _ in range(2))
    async with one, other:
        sender, taker = await people(one, "sender", "taker")
        waiting = asyncio.create_task(other.wait(taker, within=timedelta(seconds=60)))
        await asyncio.sleep(0)
        await one.roles.make(sender, "role:waker", ["taker"])
        await write(one, sender, "role:waker", "wake up")
        (got,) = (await waiting).leased
        assert got.message.content == "wake up"

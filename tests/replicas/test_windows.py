"""Windows that open at several replicas at once: each gets a name of its own."""

import asyncio

from postoffice.core.window import Opening, Place
from postoffice.office import OfficeRules, PostOffice
from postoffice.wake.local import LocalWake
from tests.engines import PostgresEngine

_EACH = 12


async def test_windows_that_open_at_two_replicas_together_never_get_one_name(database: str) -> None:
    engine = PostgresEngine(database)
    one, other = (PostOffice(engine.store(), LocalWake(), OfficeRules(tick=3600)) for _ in range(2))
    async with one, other:
        opened = await asyncio.gather(
            *[
                office.open_window(None, Opening(client="claude-code", place=Place(f"machine-{number}", process, "1"), folder="/x/shop"))
                for process in range(_EACH)
                for number, office in enumerate((one, other))
            ]
        )
        assert len({window.agent for window in opened}) == 2 * _EACH
        assert [window.agent for window in await one.windows()] == [window.agent for window in await other.windows()]


async def test_one_process_that_opens_at_two_replicas_at_once_is_one_window(database: str) -> None:
    engine = PostgresEngine(database)
    one, other = (PostOffice(engine.store(), LocalWake(), OfficeRules(tick=3600)) for _ in range(2))
    async with one, other:
        mine = Opening(client="claude-code", place=Place("another", 7, "1"), folder="/x/till")
        opened = await asyncio.gather(*[office.open_window(None, mine) for office in (one, other) * 4])
        assert len({window.id for window in opened}) == 1

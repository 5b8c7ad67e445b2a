"""Joins, leaves and letters of a list cross between replicas: all members see one order, and who gets a letter is what was true as it was accepted."""

import asyncio

from postoffice.core.mailing_list import ListRules, MayJoin
from postoffice.office import OfficeRules, PostOffice
from postoffice.wake.local import LocalWake
from tests.engines import PostgresEngine
from tests.mail import people, taken, write

_LETTERS = 40
_NEWCOMERS = 20


async def test_joins_and_letters_at_two_replicas_leave_one_order_and_no_gap(database: str) -> None:
    engine = PostgresEngine(database)
    one, other = (PostOffice(engine.store(), LocalWake(), OfficeRules(tick=3600)) for _ in range(2))
    async with one, other:
        ann, ben, *others = await people(one, "ann", "ben", *[f"agent-{number}" for number in range(_NEWCOMERS)])
        made, _ = await one.lists.make(ann, "#backend", ListRules(who_may_join=MayJoin.ANYONE))
        await other.lists.join(ben, "#backend")
        await asyncio.gather(
            *(write(office, caller, "#backend", str(n)) for n in range(_LETTERS // 2) for office, caller in ((one, ann), (other, ben))),
            *((one, other)[n % 2].lists.join(caller, "#backend") for n, caller in enumerate(others)),
        )
        assert (await other.lists.show(ann, "#backend")).members == 2 + _NEWCOMERS
        whole = [line.message.id for line in (await one.history(ann, made.session_id, peek=True, limit=200)).lines]
        assert len(whole) == _LETTERS
        assert [line.message.id for line in (await other.history(ben, made.session_id, peek=True, limit=200)).lines] == whole
        for caller in others:
            got = [line.message.id for line in (await other.history(caller, made.session_id, peek=True, limit=200)).lines]
            assert got == whole[: len(got)], "whoever comes gets all that is accepted from then on"
            assert sum(thread.unread for thread in (await one.inbox(caller)).items) == len(got)
            assert len(await taken(other, caller)) == len(got)

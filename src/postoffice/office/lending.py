"""Verbs for bridges that keep an agent's mail elsewhere: lend it, and know what is lent."""

from postoffice.acts.people.agents import Appear
from postoffice.core.agent import Caller
from postoffice.core.delivery import Leased, Lent, Wish
from postoffice.core.names import check_free, folded
from postoffice.core.views import Page
from postoffice.office.bells import Bells
from postoffice.office.checks import Checks
from postoffice.office.deliveries import Deliveries
from postoffice.store.store import Store


class Lending:
    """Mail lent is leased without expiry: it is settled, handed on or refused by whoever keeps it."""

    def __init__(self, store: Store, checks: Checks, bells: Bells, deliveries: Deliveries) -> None:
        self._store = store
        self._checks = checks
        self._bells = bells
        self._deliveries = deliveries

    async def guest(self, name: str) -> Caller:
        """An agent at home elsewhere, for whom a bridge speaks. A name with a key never is one."""
        return Caller(await self._store.do(Appear(check_free(name))), verified=False)

    async def lend(self, caller: Caller, limit: int | None = None, *, within: float) -> tuple[Leased, ...]:
        """Lend what waits, or what comes within so many seconds."""
        wish = Wish(limit=self._checks.loan(limit), visible_for=None)
        with self._bells.waiting(folded(caller.name)) as bell:
            while True:
                bell.still()
                lent = (await self._deliveries.take_and_settle(caller, (), wish)).leased
                if lent or self._bells.closed or not await bell.rings(within):
                    return lent

    async def lent(self, caller: Caller, cursor: str | None = None, limit: int | None = None) -> Page[Lent]:
        """What has been lent and is neither settled nor given back, oldest first."""
        return await self._store.mail.lent(caller.name, cursor, self._checks.page(limit))

    async def borrowers(self) -> tuple[str, ...]:
        """Everybody to whom something is lent."""
        return await self._store.mail.borrowers()

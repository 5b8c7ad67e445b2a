"""Verbs about files: reserve, release, and see who is in the way of an edit."""

from collections.abc import Sequence
from datetime import timedelta

from postoffice.acts.work.reserving import EndReservations, Release, Reserve, as_reservation
from postoffice.core.agent import Caller
from postoffice.core.errors import Invalid, NoSuchReservation
from postoffice.core.globs import glob_of, path_of, project_of
from postoffice.core.limits import bounded
from postoffice.core.names import folded
from postoffice.core.reservation import LONGEST_HELD, USUAL, Reservation, check_claim
from postoffice.office.checks import Checks
from postoffice.store.store import Store

_LEAST = timedelta(seconds=1)
_WHY_CHARACTERS = 500


class Reservations:
    """Who works on which files."""

    def __init__(self, store: Store, checks: Checks) -> None:
        self._store = store
        self._checks = checks

    async def reserve(
        self,
        caller: Caller,
        project: str,
        paths: Sequence[str],
        lasts: timedelta | None = None,
        why: str = "",
        *,
        exclusive: bool = True,
        tell: bool = False,
    ) -> Reservation:
        """Have files to oneself, or share them. What clashes is refused; with `tell` a letter comes once it is free."""
        claim = check_claim(project, paths, exclusive=exclusive)
        span = bounded("seconds", lasts, USUAL, _LEAST, LONGEST_HELD)
        reason = self._checks.ref(why, "why", _WHY_CHARACTERS)
        return await self._store.do(Reserve(caller.name, caller.window, claim, span, reason, tell=tell))

    async def release(self, caller: Caller, project: str | None = None, paths: Sequence[str] = ()) -> tuple[Reservation, ...]:
        """Give up some paths of a project, all of a project, or all there is. What is not reserved is no mistake."""
        if paths and project is None:
            raise Invalid(what="project", why="say of which project these paths are")
        kept = None if project is None else project_of(project)
        globs = [glob_of(path, kept) for path in paths] if kept is not None else []
        released = await self._store.do(Release(caller.name, caller.window, id=None, project=kept, paths=globs))
        return await self._told(released)

    async def end(self, caller: Caller, id: str) -> Reservation:
        """End one reservation: one's own, or for the owner anybody's, whose holder is told."""
        ended = await self._store.do(Release(caller.name, caller.window, id=id, project=None, paths=()))
        if not ended and caller.owner:
            others = [(one.id, folded(one.holder)) for one in await self._store.reservations.held() if one.id == id]
            ended = await self._store.do(EndReservations(others, broken=True)) if others else ()
        if not ended:
            raise NoSuchReservation(id=id)
        await self._told(ended)
        return ended[0]

    async def all(self, project: str | None = None) -> tuple[Reservation, ...]:
        """All that is reserved now, or that of one project."""
        kept = None if project is None else project_of(project)
        return tuple(one for one in await self._store.reservations.held() if kept in (None, one.project))

    async def in_the_way(self, caller: Caller, places: Sequence[tuple[str, str]]) -> tuple[Reservation, ...]:
        """Others' reservations of these files, each given by its project and its path there. What is shared is in nobody's way."""
        self._checks.batch(places)
        checked = [(kept := project_of(project), path_of(path, kept)) for project, path in places]
        rows = [row for row in await self._store.reservations.rows() if not row.is_of(folded(caller.name), caller.window)]
        clashes = [row for row in rows if row.claim.exclusive and any(row.claim.covers(*place) for place in checked)]
        return tuple(as_reservation(row) for row in clashes)

    async def _told(self, ended: tuple[Reservation, ...]) -> tuple[Reservation, ...]:
        """Whoever waits for what has just ended hears of it at once, and not with the next tick."""
        if ended:
            await self._store.sweeps.tell_free()
        return ended

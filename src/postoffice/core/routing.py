"""Who is told of what happens to an entity: a table that is configuration, seed 004's being the example."""

from fnmatch import fnmatchcase

import msgspec

from postoffice.core.limits import bounded
from postoffice.core.names import EVERYONE, check_name


class Route(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row: events of this type go to these agents, this urgent."""

    event: str
    to: tuple[str, ...]
    priority: int = 3


def check_route(route: Route) -> Route:
    """The route, if mail can go along it."""
    for name in route.to:
        if name != EVERYONE:
            check_name(name)
    bounded("priority", route.priority, 3, 1, 5)
    return route


def routes_for(event: str, table: tuple[Route, ...]) -> tuple[Route, ...]:
    """The rows that fit an event, most urgent first, nobody named twice."""
    named: set[str] = set()
    fitting = []
    for route in sorted((row for row in table if fnmatchcase(event, row.event)), key=lambda row: row.priority):
        to = tuple(name for name in route.to if name.lower() not in named)
        named.update(name.lower() for name in to)
        if to:
            fitting.append(msgspec.structs.replace(route, to=to))
    return tuple(fitting)

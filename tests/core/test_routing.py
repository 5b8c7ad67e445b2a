"""Who is told of what happens to an entity."""

import pytest

from postoffice.core.errors import Invalid
from postoffice.core.routing import Route, check_route, routes_for

SEED = (
    Route(event="task.blocked", to=("mindy", "justin"), priority=1),
    Route(event="task.complete", to=("engine",)),
    Route(event="phase.complete", to=("engine", "mindy"), priority=2),
)


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ("task.blocked", {("mindy", 1), ("justin", 1)}),
        ("task.complete", {("engine", 3)}),
        ("phase.complete", {("engine", 2), ("mindy", 2)}),
        ("task.opened", set()),
        ("TASK.BLOCKED", set()),
    ],
)
def test_every_row_of_the_seeds_table(event: str, told: set[tuple[str, int]]) -> None:
    assert {(name, route.priority) for route in routes_for(event, SEED) for name in route.to} == told


def test_a_star_fits_more_and_nobody_is_told_twice() -> None:
    table = (*SEED, Route(event="*.blocked", to=("Mindy", "boss"), priority=4), Route(event="*", to=("log",), priority=5))
    told = [(name, route.priority) for route in routes_for("task.blocked", table) for name in route.to]
    assert told == [("mindy", 1), ("justin", 1), ("boss", 4), ("log", 5)]


@pytest.mark.parametrize(
    "route", [Route(event="x", to=("a b",)), Route(event="x", to=("a",), priority=0), Route(event="x", to=("a",), priority=6)]
)
def test_a_row_that_leads_nowhere_is_refused(route: Route) -> None:
    with pytest.raises(Invalid):
        check_route(route)


def test_everyone_may_be_told() -> None:
    assert check_route(Route(event="x", to=("ALL",))).to == ("ALL",)

"""What the doors' tests share: a served office on each engine."""

from collections.abc import AsyncIterator

import pytest

from tests.doors.callers import Callers
from tests.doors.served import Served, serving
from tests.engines import Engine


@pytest.fixture
async def served(engine: Engine) -> AsyncIterator[Served]:
    """An open office, as a laptop has it."""
    async with serving(engine) as running:
        yield running


@pytest.fixture
async def guarded(engine: Engine) -> AsyncIterator[Served]:
    """An office that requires keys, as a team has it."""
    async with serving(engine, auth="keys") as running:
        yield running


@pytest.fixture
async def callers(served: Served) -> AsyncIterator[Callers]:
    """Clients of that office, each under a name of its own."""
    async with Callers(served) as clients:
        yield clients

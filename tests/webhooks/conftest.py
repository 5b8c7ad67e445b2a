"""A receiver that is told, and a served office that asks for keys."""

from collections.abc import AsyncIterator, Iterator

import pytest

from tests.doors.served import Served, serving
from tests.engines import Engine
from tests.webhooks.receiver import Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found


@pytest.fixture
async def served(engine: Engine) -> AsyncIterator[Served]:
    async with serving(engine, auth="keys") as running:
        yield running

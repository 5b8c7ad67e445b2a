"""A ledger of its own for each test, and the unmodified Python SDK pointed at it."""

from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest

from tests.ledger.emulator import Emulator, running_emulator
from tests.ledger.sdk import connected


@pytest.fixture
async def ledger() -> AsyncIterator[Emulator]:
    async with running_emulator() as running:
        yield running


@pytest.fixture
def client(ledger: Emulator) -> Iterator[Any]:
    """The operator's."""
    with connected(ledger) as opened:
        yield opened

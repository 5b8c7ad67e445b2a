"""What the replicas stand on: a PostgreSQL database of the module's own, and a NATS server that may be killed."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.engines import PostgresServer
from tests.serve.running import free_port
from tests.wake.test_nats import Nats


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Several servers start for some of these; a busy machine needs longer for that than a test is given elsewhere."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here):
            item.add_marker(pytest.mark.timeout(400))


@pytest.fixture(scope="module")
def database(postgres: PostgresServer) -> Iterator[str]:
    """The address of a migrated database, whose clock is the test's."""
    url = asyncio.run(postgres.copy())
    yield url
    asyncio.run(postgres.drop(url))


@pytest.fixture(scope="module")
def nats() -> Iterator[Nats]:
    running = Nats(free_port())
    running.start()
    yield running
    running.kill()

"""One office for all of these tests, with few tries and few automatic replies; each test has agents of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.runner.bench import Bench
from tests.runner.office import Office

TRIES = 2
BUDGET = 6


@pytest.fixture(scope="session")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    office = Office(tmp_path_factory.mktemp("office"), POSTOFFICE_MAX_ATTEMPTS=str(TRIES), POSTOFFICE_AUTOMATIC_REPLIES=str(BUDGET))
    office.start()
    yield office
    office.close()


@pytest.fixture
def bench(office: Office, tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(office, tmp_path)
    yield bench
    bench.close()

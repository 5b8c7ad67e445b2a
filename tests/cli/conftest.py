"""Two offices for all these tests, and a home for each."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.home import Home, Office, opened


@pytest.fixture(scope="session")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    with opened(tmp_path_factory.mktemp("office") / "data") as found:
        yield found


@pytest.fixture(scope="session")
def hasty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    """An office that gives up on a letter after its first try."""
    with opened(tmp_path_factory.mktemp("hasty") / "data", extra={"POSTOFFICE_MAX_ATTEMPTS": "1"}) as found:
        yield found


@pytest.fixture
def home(tmp_path: Path, office: Office) -> Home:
    return Home(tmp_path / "home", office)


@pytest.fixture
def hasty_home(tmp_path: Path, hasty: Office) -> Home:
    return Home(tmp_path / "home", hasty)

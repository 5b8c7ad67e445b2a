"""An open office for all of these tests, one that wants keys, and one for each test that kills it."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.runner.office import Office

_numbers = itertools.count(1)


class Town(NamedTuple):
    """An office, and two names nobody else uses."""

    office: Office
    ann: str
    bob: str

    def state(self, message_id: str) -> tuple[str, int]:
        """Where a message of ann's stands, and after how many tries."""
        standing = self.office.standing(self.ann, message_id)
        return standing["state"], standing["attempts"]


def town_of(office: Office) -> Town:
    number = next(_numbers)
    return Town(office, f"ann-{number}", f"bob-{number}")


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    office = Office(tmp_path_factory.mktemp("office"))
    office.start()
    yield office
    office.close()


@pytest.fixture(scope="session")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Office]:
    office = Office(tmp_path_factory.mktemp("guarded"), "--auth", "keys")
    office.start()
    yield office
    office.close()


@pytest.fixture
def town(shared: Office) -> Town:
    return town_of(shared)


@pytest.fixture
def mortal(tmp_path: Path) -> Iterator[Town]:
    """A town whose office is killed."""
    office = Office(tmp_path)
    office.start()
    yield town_of(office)
    office.close()


@pytest.fixture(autouse=True)
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Nobody's own keys are used."""
    monkeypatch.setenv("POSTOFFICE_CREDENTIALS", str(tmp_path / "keys"))
    monkeypatch.delenv("POSTOFFICE_SERVER", raising=False)
    return tmp_path / "keys"

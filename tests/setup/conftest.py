"""An office, and somebody at home who sets their clients up for it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.serve.running import COMMAND, free_port, serving
from tests.setup.person import Person


@pytest.fixture(scope="session")
def office(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an open office."""
    port, here = free_port(), tmp_path_factory.mktemp("office")
    with serving(*COMMAND, "serve", "--data", str(here), "--port", str(port), "--log-level", "error", port=port, here=here):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def person(tmp_path: Path, office: str) -> Person:
    return Person(tmp_path / "home", office)

"""A real postoffice for programs of others to talk to."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from postoffice.client.credentials import Credential, save
from tests.peers.client import call
from tests.peers.outside import ROOT
from tests.serve.running import COMMAND, free_port, serving
from tests.setup.person import AGENT, Person


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an open server, as a user would start it."""
    port, here = free_port(), tmp_path_factory.mktemp("served")
    with serving(*COMMAND, "serve", "--data", str(here), "--port", str(port), "--log-level", "error", port=port, here=here):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def fixture_served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the same application with the conformance suite's own tools in place of ours."""
    port, here = free_port(), tmp_path_factory.mktemp("fixture")
    extra = {"PYTHONPATH": str(Path(ROOT))}
    with serving(sys.executable, "-m", "tests.peers.fixture_server", str(port), str(here), port=port, here=here, extra=extra):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an office that wants keys."""
    port, here = free_port(), tmp_path_factory.mktemp("guarded")
    arguments = ("serve", "--data", str(here), "--port", str(port), "--auth", "keys", "--log-level", "error")
    with serving(*COMMAND, *arguments, port=port, here=here):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture(scope="module")
def keys(guarded: str) -> dict[str, str]:
    """The agents there are, who take mail from each other."""
    keys = {name: str(call(guarded, "/agents/register", {"name": name})["api_key"]) for name in (AGENT, "reviewer")}
    for key in keys.values():
        call(guarded, "/agents/me", {"allow_from": ["*"]}, key, method="PATCH")
    return keys


@pytest.fixture
def person(tmp_path: Path, guarded: str, keys: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> Person:
    """Somebody whose agent has a key."""
    person = Person(tmp_path / "home", guarded)
    monkeypatch.setenv("POSTOFFICE_CREDENTIALS", str(person.home / "keys"))
    save(Credential(server=guarded, agent=AGENT, key=keys[AGENT]))
    return person

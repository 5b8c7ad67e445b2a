"""A real postoffice for programs of others to talk to."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.peers.outside import ROOT
from tests.serve.running import COMMAND, free_port, serving


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

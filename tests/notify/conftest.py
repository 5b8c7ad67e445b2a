"""A stand-in for whatever an address leads to."""

from collections.abc import Iterator

import pytest

from postoffice.bridges.notify import messenger
from tests.warm import start
from tests.webhooks.receiver import Receiver, receiving


@pytest.fixture(autouse=True)
def _warm(monkeypatch: pytest.MonkeyPatch) -> None:
    """To know of all services there are takes a process longer than its word. Offices in processes of their own (test_kill) start it as anybody's."""
    monkeypatch.setattr(messenger, "_PROGRAM", start.beside("word")[1:])


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found

"""A stand-in for whatever an address leads to."""

from collections.abc import Iterator

import pytest

from tests.webhooks.receiver import Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found

"""A receiver, and the bridge that tells it."""

from collections.abc import Iterator

import pytest

from tests.webhooks.receiver import Receiver, receiving


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with receiving() as found:
        yield found

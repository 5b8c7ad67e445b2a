"""What the testnet suite needs, and that it is told when it did not run."""

import os
from typing import Final

CREDENTIALS: Final = ("HEDERA_TESTNET_ACCOUNT", "HEDERA_TESTNET_KEY")


def given() -> bool:
    """Whether there are credentials."""
    return all(os.environ.get(name) for name in CREDENTIALS)

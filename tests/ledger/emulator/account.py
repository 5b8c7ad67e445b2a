"""An account: who may sign for it, what it can pay, what its memo says."""

from dataclasses import dataclass
from typing import Any

HBAR = 100_000_000


@dataclass
class Account:
    id: str
    key: Any
    balance: int
    """In tinybars."""
    memo: str
    created: int
    arrived: float
    private_key: Any = None
    """Known for accounts that a test made here."""

    @property
    def secret(self) -> str:
        """The private key as people write it into a file."""
        assert self.private_key is not None, f"the key of {self.id} was made elsewhere"
        return str(self.private_key.to_string_der())

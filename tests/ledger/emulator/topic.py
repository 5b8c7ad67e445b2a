"""A topic and the messages on it."""

from dataclasses import dataclass, field, replace
from typing import Any

from tests.ledger.emulator import running_hash


@dataclass(frozen=True)
class Chunk:
    """Which piece of a longer message this is."""

    payer: str
    valid_start: int
    number: int
    total: int
    nonce: int = 0
    scheduled: bool = False


@dataclass(frozen=True)
class Message:
    sequence: int
    moment: int
    """When it reached consensus."""
    body: bytes
    payer: str
    running_hash: bytes
    chunk: Chunk | None
    arrived: float
    """The same in this machine's time, from which the mirror counts its delay."""


@dataclass
class Topic:
    id: str
    memo: str
    admin_key: Any | None
    submit_key: Any | None
    auto_renew_account: str | None
    auto_renew_seconds: int
    created: int
    arrived: float
    messages: list[Message] = field(default_factory=list)

    @property
    def running_hash(self) -> bytes:
        return self.messages[-1].running_hash if self.messages else running_hash.EMPTY

    @property
    def bodies(self) -> list[bytes]:
        return [message.body for message in self.messages]

    def append(self, body: bytes, *, payer: str, moment: int, arrived: float, chunk: Chunk | None) -> Message:
        sequence = len(self.messages) + 1
        linked = running_hash.following(self.running_hash, payer=payer, topic=self.id, moment=moment, sequence=sequence, body=body)
        message = Message(sequence, moment, body, payer, linked, chunk, arrived)
        self.messages.append(message)
        return message

    def alter(self, sequence: int, body: bytes) -> None:
        """Let the mirror lie: another text under the old hash."""
        self.messages[sequence - 1] = replace(self.messages[sequence - 1], body=body)

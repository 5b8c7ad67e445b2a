"""What is true on the ledger: accounts, topics, and the record of every transaction that was taken."""

import json
import time
from collections.abc import Sequence
from typing import Any

from hiero_sdk_python import PrivateKey

from tests.ledger.emulator.account import HBAR, Account
from tests.ledger.emulator.clock import Clock
from tests.ledger.emulator.consensus import Consensus
from tests.ledger.emulator.faults import Faults
from tests.ledger.emulator.throttle import Throttle
from tests.ledger.emulator.topic import Chunk, Message, Topic
from tests.ledger.emulator.traffic import Traffic
from tests.ledger.emulator.transaction import Record, Transaction

FIRST_NODE = 3
FIRST_NUMBER = 1001
RICH = 1_000_000 * HBAR


class Ledger:
    """The state, and what a test may do to it without asking a node."""

    def __init__(
        self,
        *,
        consensus_delay: float = 0.0,
        mirror_delay: float = 0.0,
        topics: Throttle | None = None,
        mirror: Throttle | None = None,
        unknown_topic: int = 404,
    ) -> None:
        self.consensus_delay = consensus_delay
        self.mirror_delay = mirror_delay
        self.topic_throttle = topics or Throttle(5)
        self.mirror_throttle = mirror
        self.unknown_topic = unknown_topic
        """How the mirror answers for the messages of a topic it does not know: 404, or 200 with none."""
        self.clock = Clock()
        self.faults = Faults()
        self.requests = Traffic()
        self.consensus = Consensus(self)
        self.accounts: dict[str, Account] = {}
        self.topics: dict[str, Topic] = {}
        self.records: dict[str, Record] = {}
        self.receipt_life = 180.0
        self._number = FIRST_NUMBER
        self._mirrored: int | None = None
        self.operator = self.new_account(balance=RICH)

    @property
    def operator_id(self) -> str:
        return self.operator.id

    @property
    def operator_key(self) -> str:
        """The operator's private key as people write it into a file: hexadecimal DER."""
        return self.operator.secret

    def new_account(self, *, balance: int = 1000 * HBAR, ecdsa: bool = False, memo: str = "") -> Account:
        """An account with a key of its own; the balance is in tinybars."""
        private = PrivateKey.generate("ecdsa" if ecdsa else "ed25519")
        account = self.add_account(private.public_key().to_proto_key(), balance, memo)
        account.private_key = private
        return account

    def add_account(self, key: Any, balance: int, memo: str, name: str | None = None) -> Account:
        account = Account(name or self._name(), key, balance, memo, self.clock.tick(), time.monotonic())
        self.accounts[account.id] = account
        return account

    def new_topic(self, memo: str = "", *, admin_key: Any | None = None, submit_key: Any | None = None) -> Topic:
        """A topic made by nobody in particular."""
        return self.add_topic(memo, admin_key, submit_key, None, 7_776_000)

    def add_topic(self, memo: str, admin_key: Any | None, submit_key: Any | None, renewer: str | None, seconds: int) -> Topic:
        topic = Topic(self._name(), memo, admin_key, submit_key, renewer, seconds, self.clock.tick(), time.monotonic())
        self.topics[topic.id] = topic
        return topic

    def topic(self, name: str) -> Topic:
        return self.topics[name]

    def accept(self, transaction: Transaction) -> Record:
        """Take a transaction that passed its node's checks."""
        record = self.records[transaction.name] = Record(transaction)
        self.consensus.add(record)
        return record

    # Planting: messages that no client of ours would send

    def plant(self, topic: str, body: bytes | str, *, payer: str | None = None, chunk: Chunk | None = None) -> Message:
        """Put anything on a topic, unchecked: malformed, larger than allowed, by anyone."""
        payer, data = payer or self.operator_id, body.encode() if isinstance(body, str) else body
        return self.topic(topic).append(data, payer=payer, moment=self.clock.tick(), arrived=time.monotonic(), chunk=chunk)

    def plant_chunks(
        self, topic: str, pieces: Sequence[bytes], *, order: Sequence[int] | None = None, payer: str | None = None
    ) -> list[Message]:
        """Put the pieces of one message on a topic; those that `order` leaves out are missing, those it repeats come twice."""
        payer, start = payer or self.operator_id, self.clock.now()
        chunks = [Chunk(payer, start, number, len(pieces)) for number in range(1, len(pieces) + 1)]
        turn = range(len(pieces)) if order is None else order
        return [self.plant(topic, pieces[place], payer=payer, chunk=chunks[place]) for place in turn]

    def forge(self, topic: str, *, operator_id: str, payer: str, data: str = "forged") -> Message:
        """Put a message on a topic that says it is from one account and was paid for by another."""
        body = {"p": "hcs-10", "op": "message", "operator_id": operator_id, "data": data}
        return self.plant(topic, json.dumps(body, separators=(",", ":")).encode(), payer=payer)

    # The mirror's view

    def freeze_mirror(self) -> None:
        """Let the mirror see nothing that happens from now on."""
        self._mirrored = self.clock.tick()

    def thaw_mirror(self) -> None:
        self._mirrored = None

    def mirrored(self, moment: int, arrived: float) -> bool:
        """Whether the mirror knows by now what happened then."""
        return (self._mirrored is None or moment <= self._mirrored) and arrived + self.mirror_delay <= time.monotonic()

    def _name(self) -> str:
        self._number += 1
        return f"0.0.{self._number - 1}"

"""A Hedera network small enough for tests: it answers unmodified SDKs over real sockets and goes wrong on demand."""

from tests.ledger.emulator.account import HBAR, Account
from tests.ledger.emulator.ledger import Ledger
from tests.ledger.emulator.process import Remote, emulator_process
from tests.ledger.emulator.running import Emulator, running_emulator
from tests.ledger.emulator.throttle import Throttle
from tests.ledger.emulator.topic import Chunk, Message, Topic

__all__ = [
    "HBAR",
    "Account",
    "Chunk",
    "Emulator",
    "Ledger",
    "Message",
    "Remote",
    "Throttle",
    "Topic",
    "emulator_process",
    "running_emulator",
]

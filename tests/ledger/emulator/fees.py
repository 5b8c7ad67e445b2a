"""What things cost, in tinybars, at ten cents an hbar."""

from tests.ledger.emulator.account import HBAR

_DOLLAR = 10 * HBAR

PRICES = {
    "consensusCreateTopic": _DOLLAR // 100,
    "consensusUpdateTopic": _DOLLAR * 22 // 100_000,
    "consensusSubmitMessage": _DOLLAR * 8 // 10_000,
    "cryptoCreateAccount": _DOLLAR // 20,
    "cryptoUpdateAccount": _DOLLAR * 22 // 100_000,
    "cryptoTransfer": _DOLLAR // 10_000,
}
QUERY = _DOLLAR // 10_000
MESSAGE = PRICES["consensusSubmitMessage"]
TOPIC = PRICES["consensusCreateTopic"]

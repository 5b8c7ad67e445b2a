"""What a node answers at once: the checks of one transaction before it is taken, in the order a node makes them."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from hiero_sdk_python.response_code import ResponseCode

from tests.ledger.emulator import fees
from tests.ledger.emulator.names import account_name
from tests.ledger.emulator.transaction import Refused, Transaction

if TYPE_CHECKING:
    from tests.ledger.emulator.ledger import Ledger

LARGEST = 6144
LONGEST_MEMO = 100
SHORTEST_WINDOW, LONGEST_WINDOW = 15, 180


def precheck(ledger: "Ledger", wire: Any, node: str) -> Transaction:
    """The transaction, if the node takes it."""
    if len(wire.signedTransactionBytes) > LARGEST:
        raise Refused(ResponseCode.TRANSACTION_OVERSIZE)
    transaction = Transaction.parse(wire)
    for code in _faults(ledger, transaction, node):
        raise Refused(code)
    return transaction


def _faults(ledger: "Ledger", transaction: Transaction, node: str) -> Iterator[Any]:
    body = transaction.body
    if len(body.memo.encode()) > LONGEST_MEMO:
        yield ResponseCode.MEMO_TOO_LONG
    if account_name(body.nodeAccountID) != node:
        yield ResponseCode.INVALID_NODE_ACCOUNT
    yield from _out_of_time(transaction, ledger.clock.now())
    if transaction.name in ledger.records:
        yield ResponseCode.DUPLICATE_TRANSACTION
    if transaction.kind not in fees.PRICES:
        yield ResponseCode.NOT_SUPPORTED
    if transaction.kind == "consensusSubmitMessage" and not transaction.act.message:
        yield ResponseCode.INVALID_TOPIC_MESSAGE
    if transaction.kind == "consensusCreateTopic" and not ledger.topic_throttle.passes():
        yield ResponseCode.BUSY
    yield from _cannot_pay(ledger, transaction)


def _out_of_time(transaction: Transaction, now: int) -> Iterator[Any]:
    if not SHORTEST_WINDOW <= transaction.seconds <= LONGEST_WINDOW:
        yield ResponseCode.INVALID_TRANSACTION_DURATION
    if now >= transaction.ends:
        yield ResponseCode.TRANSACTION_EXPIRED
    if now < transaction.starts:
        yield ResponseCode.INVALID_TRANSACTION_START


def _cannot_pay(ledger: "Ledger", transaction: Transaction) -> Iterator[Any]:
    payer = ledger.accounts.get(transaction.payer)
    if payer is None:
        yield ResponseCode.PAYER_ACCOUNT_NOT_FOUND
        return
    if not transaction.signed_by(payer.key):
        yield ResponseCode.INVALID_SIGNATURE
    price = fees.PRICES.get(transaction.kind, 0)
    if transaction.body.transactionFee < price:
        yield ResponseCode.INSUFFICIENT_TX_FEE
    if payer.balance < price:
        yield ResponseCode.INSUFFICIENT_PAYER_BALANCE

"""What each kind of transaction does when its turn has come; what fails here is in the receipt, not in the node's answer."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hiero_sdk_python.response_code import ResponseCode

from tests.ledger.emulator import keys, running_hash
from tests.ledger.emulator.clock import from_proto
from tests.ledger.emulator.names import account_name, account_proto, topic_name, topic_proto, transaction_name
from tests.ledger.emulator.precheck import LONGEST_MEMO
from tests.ledger.emulator.topic import Chunk, Topic
from tests.ledger.emulator.transaction import Record, Refused, Transaction

if TYPE_CHECKING:
    from tests.ledger.emulator.ledger import Ledger

LONGEST_MESSAGE = 1024
RENEWAL = range(2_592_000, 8_000_001)


def _need(holds: bool, code: Any) -> None:  # noqa: FBT001
    if not holds:
        raise Refused(code)


def _signed(transaction: Transaction, key: Any | None) -> None:
    _need(key is None or transaction.signed_by(key), ResponseCode.INVALID_SIGNATURE)


def _fits(memo: str) -> None:
    _need(len(memo.encode()) <= LONGEST_MEMO, ResponseCode.MEMO_TOO_LONG)


def _topic(ledger: "Ledger", value: Any) -> Topic:
    topic = ledger.topics.get(topic_name(value))
    if topic is None:
        raise Refused(ResponseCode.INVALID_TOPIC_ID)
    return topic


def create_topic(ledger: "Ledger", record: Record) -> None:
    transaction, act = record.transaction, record.transaction.act
    admin, submit = keys.present(act.adminKey), keys.present(act.submitKey)
    renewer = account_name(act.autoRenewAccount) if act.HasField("autoRenewAccount") else None
    _fits(act.memo)
    _need(act.autoRenewPeriod.seconds in RENEWAL, ResponseCode.AUTORENEW_DURATION_NOT_IN_RANGE)
    _signed(transaction, admin)
    if renewer is not None:
        _need(renewer in ledger.accounts, ResponseCode.INVALID_AUTORENEW_ACCOUNT)
        _signed(transaction, ledger.accounts[renewer].key)
    topic = ledger.add_topic(act.memo, admin, submit, renewer, int(act.autoRenewPeriod.seconds))
    record.receipt.topicID.CopyFrom(topic_proto(topic.id))


def update_topic(ledger: "Ledger", record: Record) -> None:
    transaction, act = record.transaction, record.transaction.act
    topic = _topic(ledger, act.topicID)
    _need(topic.admin_key is not None, ResponseCode.UNAUTHORIZED)
    _signed(transaction, topic.admin_key)
    if act.HasField("adminKey"):
        _signed(transaction, keys.present(act.adminKey))
        topic.admin_key = keys.present(act.adminKey)
    if act.HasField("submitKey"):
        topic.submit_key = keys.present(act.submitKey)
    if act.HasField("memo"):
        _fits(act.memo.value)
        topic.memo = act.memo.value


def submit_message(ledger: "Ledger", record: Record) -> None:
    transaction, act = record.transaction, record.transaction.act
    topic = _topic(ledger, act.topicID)
    _signed(transaction, topic.submit_key)
    _need(len(act.message) <= LONGEST_MESSAGE, ResponseCode.MESSAGE_SIZE_TOO_LARGE)
    chunk = _chunk(transaction, act.chunkInfo) if act.HasField("chunkInfo") else None
    assert record.moment is not None
    message = topic.append(bytes(act.message), payer=transaction.payer, moment=record.moment, arrived=record.arrived, chunk=chunk)
    record.receipt.topicSequenceNumber = message.sequence
    record.receipt.topicRunningHash = message.running_hash
    record.receipt.topicRunningHashVersion = running_hash.VERSION


def _chunk(transaction: Transaction, info: Any) -> Chunk:
    first = info.initialTransactionID
    payer = account_name(first.accountID)
    _need(1 <= info.number <= info.total, ResponseCode.INVALID_CHUNK_NUMBER)
    _need(payer == transaction.payer, ResponseCode.INVALID_CHUNK_TRANSACTION_ID)
    _need(info.number > 1 or transaction_name(first) == transaction.name, ResponseCode.INVALID_CHUNK_TRANSACTION_ID)
    return Chunk(payer, from_proto(first.transactionValidStart), info.number, info.total, first.nonce, first.scheduled)


def create_account(ledger: "Ledger", record: Record) -> None:
    act = record.transaction.act
    key = keys.present(act.key)
    _need(key is not None, ResponseCode.KEY_REQUIRED)
    _fits(act.memo)
    payer = ledger.accounts[record.transaction.payer]
    _need(payer.balance >= act.initialBalance, ResponseCode.INSUFFICIENT_PAYER_BALANCE)
    account = ledger.add_account(key, 0, act.memo)
    _move(ledger, record, [(payer.id, -int(act.initialBalance)), (account.id, int(act.initialBalance))])
    record.receipt.accountID.CopyFrom(account_proto(account.id))


def update_account(ledger: "Ledger", record: Record) -> None:
    transaction, act = record.transaction, record.transaction.act
    account = ledger.accounts.get(account_name(act.accountIDToUpdate))
    if account is None:
        raise Refused(ResponseCode.INVALID_ACCOUNT_ID)
    _signed(transaction, account.key)
    if act.HasField("memo"):
        _fits(act.memo.value)
    if act.HasField("key"):
        _signed(transaction, act.key)
        account.key = act.key
    if act.HasField("memo"):
        account.memo = act.memo.value


def transfer(ledger: "Ledger", record: Record) -> None:
    transaction = record.transaction
    moves = [(account_name(part.accountID), int(part.amount)) for part in transaction.act.transfers.accountAmounts]
    _need(sum(amount for _, amount in moves) == 0, ResponseCode.INVALID_ACCOUNT_AMOUNTS)
    for name, amount in moves:
        account = ledger.accounts.get(name)
        if account is None:
            raise Refused(ResponseCode.INVALID_ACCOUNT_ID)
        if amount < 0:
            _signed(transaction, account.key)
            _need(account.balance + amount >= 0, ResponseCode.INSUFFICIENT_ACCOUNT_BALANCE)
    _move(ledger, record, moves)


def _move(ledger: "Ledger", record: Record, moves: list[tuple[str, int]]) -> None:
    for name, amount in moves:
        ledger.accounts[name].balance += amount
    record.transfers.extend(moves)


EFFECTS: dict[str, Callable[["Ledger", Record], None]] = {
    "consensusCreateTopic": create_topic,
    "consensusUpdateTopic": update_topic,
    "consensusSubmitMessage": submit_message,
    "cryptoCreateAccount": create_account,
    "cryptoUpdateAccount": update_account,
    "cryptoTransfer": transfer,
}

"""What a node answers to questions: receipts and balances for nothing, records, topics and accounts for a fee."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from hiero_sdk_python.hapi.services.basic_types_pb2 import AccountAmount
from hiero_sdk_python.hapi.services.query_header_pb2 import ResponseType
from hiero_sdk_python.hapi.services.response_pb2 import Response
from hiero_sdk_python.response_code import ResponseCode

from tests.ledger.emulator import fees
from tests.ledger.emulator.account import Account
from tests.ledger.emulator.clock import SECOND, to_proto
from tests.ledger.emulator.names import account_name, account_proto, topic_name, topic_proto, transaction_name
from tests.ledger.emulator.precheck import precheck
from tests.ledger.emulator.transaction import Record, Refused

if TYPE_CHECKING:
    from tests.ledger.emulator.ledger import Ledger

NINETY_DAYS = 7_776_000


def answer(ledger: "Ledger", query: Any, node: str) -> Any:
    """The answer; what is wrong stands in its header, which is always there: some clients fail without."""
    kind = str(query.WhichOneof("query"))
    asked, response = getattr(query, kind), Response()
    said = getattr(response, kind)
    try:
        ANSWERS.get(kind, unknown)(ledger, asked, said)
        if kind not in FREE:
            if asked.header.responseType == ResponseType.COST_ANSWER:
                said.Clear()
                said.header.cost = fees.QUERY
            else:
                _pay(ledger, asked.header.payment, node)
    except Refused as refused:
        said.Clear()
        said.header.nodeTransactionPrecheckCode = refused.code
    said.header.responseType = asked.header.responseType
    said.header.SetInParent()
    return response


def refusal(query: Any, code: Any) -> Any:
    """The answer of a node that does not look at the question."""
    kind, response = str(query.WhichOneof("query")), Response()
    getattr(response, kind).header.nodeTransactionPrecheckCode = code
    return response


def _pay(ledger: "Ledger", payment: Any, node: str) -> None:
    transaction = precheck(ledger, payment, node)
    paid = sum(part.amount for part in transaction.act.transfers.accountAmounts if account_name(part.accountID) == node)
    if paid < fees.QUERY:
        raise Refused(ResponseCode.INSUFFICIENT_TX_FEE)
    ledger.accept(transaction)


def _record(ledger: "Ledger", value: Any, missing: Any) -> Record:
    record = ledger.records.get(transaction_name(value))
    if record is None or (record.moment is not None and ledger.clock.now() - record.moment > ledger.receipt_life * SECOND):
        raise Refused(missing)
    return record


def _receipt(record: Record, said: Any) -> None:
    said.CopyFrom(record.receipt)
    for rate in (said.exchangeRate.currentRate, said.exchangeRate.nextRate):  # the JavaScript SDK fails where one is missing
        rate.hbarEquiv, rate.centEquiv = 1, 10


def unknown(_: "Ledger", __: Any, ___: Any) -> None:
    raise Refused(ResponseCode.NOT_SUPPORTED)


def receipt(ledger: "Ledger", asked: Any, said: Any) -> None:
    _receipt(_record(ledger, asked.transactionID, ResponseCode.RECEIPT_NOT_FOUND), said.receipt)


def record(ledger: "Ledger", asked: Any, said: Any) -> None:
    found = _record(ledger, asked.transactionID, ResponseCode.RECORD_NOT_FOUND)
    if found.moment is None:
        raise Refused(ResponseCode.RECORD_NOT_FOUND)
    told = said.transactionRecord
    _receipt(found, told.receipt)
    told.transactionHash = found.transaction.hash
    told.consensusTimestamp.CopyFrom(to_proto(found.moment))
    told.transactionID.CopyFrom(found.transaction.body.transactionID)
    told.memo = found.transaction.body.memo
    told.transactionFee = found.fee
    told.transferList.accountAmounts.extend(AccountAmount(accountID=account_proto(name), amount=amount) for name, amount in found.transfers)


def topic(ledger: "Ledger", asked: Any, said: Any) -> None:
    found = ledger.topics.get(topic_name(asked.topicID))
    if found is None:
        raise Refused(ResponseCode.INVALID_TOPIC_ID)
    said.topicID.CopyFrom(topic_proto(found.id))
    info = said.topicInfo
    info.memo, info.runningHash, info.sequenceNumber = found.memo, found.running_hash, len(found.messages)
    info.expirationTime.CopyFrom(to_proto(found.created + found.auto_renew_seconds * SECOND))
    info.autoRenewPeriod.seconds = found.auto_renew_seconds
    if found.admin_key is not None:
        info.adminKey.CopyFrom(found.admin_key)
    if found.submit_key is not None:
        info.submitKey.CopyFrom(found.submit_key)
    if found.auto_renew_account is not None:
        info.autoRenewAccount.CopyFrom(account_proto(found.auto_renew_account))
    info.ledger_id = b"\x03"


def _account(ledger: "Ledger", value: Any) -> Account:
    found = ledger.accounts.get(account_name(value))
    if found is None:
        raise Refused(ResponseCode.INVALID_ACCOUNT_ID)
    return found


def balance(ledger: "Ledger", asked: Any, said: Any) -> None:
    found = _account(ledger, asked.accountID)
    said.accountID.CopyFrom(account_proto(found.id))
    said.balance = found.balance


def account(ledger: "Ledger", asked: Any, said: Any) -> None:
    found, info = _account(ledger, asked.accountID), said.accountInfo
    info.accountID.CopyFrom(account_proto(found.id))
    info.key.CopyFrom(found.key)
    info.balance, info.memo, info.ledger_id = found.balance, found.memo, b"\x03"
    info.contractAccountID = f"{int(found.id.rpartition('.')[2]):040x}"
    info.expirationTime.CopyFrom(to_proto(found.created + NINETY_DAYS * SECOND))
    info.autoRenewPeriod.seconds = NINETY_DAYS


ANSWERS: dict[str, Callable[["Ledger", Any, Any], None]] = {
    "transactionGetReceipt": receipt,
    "transactionGetRecord": record,
    "consensusGetTopicInfo": topic,
    "cryptogetAccountBalance": balance,
    "cryptoGetInfo": account,
}
FREE = {"transactionGetReceipt", "cryptogetAccountBalance"}

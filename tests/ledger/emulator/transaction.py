"""A signed transaction as it came over the wire, and what became of it."""

import hashlib
from dataclasses import dataclass, field
from typing import Any

from google.protobuf.message import DecodeError
from hiero_sdk_python.hapi.services.transaction_contents_pb2 import SignedTransaction
from hiero_sdk_python.hapi.services.transaction_pb2 import TransactionBody
from hiero_sdk_python.hapi.services.transaction_receipt_pb2 import TransactionReceipt
from hiero_sdk_python.response_code import ResponseCode

from tests.ledger.emulator import keys
from tests.ledger.emulator.clock import SECOND, from_proto
from tests.ledger.emulator.names import account_name, transaction_name


class Refused(Exception):
    """A transaction that is not taken, or that fails in its turn."""

    def __init__(self, code: Any) -> None:
        super().__init__(code.name)
        self.code = code


@dataclass(frozen=True)
class Transaction:
    name: str
    payer: str
    kind: str
    """The field of the body that says what is to be done, `consensusSubmitMessage` and the like."""
    body: Any
    body_bytes: bytes
    signatures: Any
    hash: bytes

    @classmethod
    def parse(cls, wire: Any) -> "Transaction":
        signed, body = SignedTransaction(), TransactionBody()
        try:
            signed.ParseFromString(wire.signedTransactionBytes)
            body.ParseFromString(signed.bodyBytes)
        except DecodeError as error:
            raise Refused(ResponseCode.INVALID_TRANSACTION) from error
        if body.WhichOneof("data") is None or not body.HasField("transactionID"):
            raise Refused(ResponseCode.INVALID_TRANSACTION_BODY)
        return cls(
            name=transaction_name(body.transactionID),
            payer=account_name(body.transactionID.accountID),
            kind=str(body.WhichOneof("data")),
            body=body,
            body_bytes=bytes(signed.bodyBytes),
            signatures=signed.sigMap,
            hash=hashlib.sha384(wire.signedTransactionBytes).digest(),
        )

    @property
    def act(self) -> Any:
        """The part of the body that says what is to be done."""
        return getattr(self.body, self.kind)

    @property
    def starts(self) -> int:
        return from_proto(self.body.transactionID.transactionValidStart)

    @property
    def seconds(self) -> int:
        return int(self.body.transactionValidDuration.seconds)

    @property
    def ends(self) -> int:
        return self.starts + self.seconds * SECOND

    def signed_by(self, key: Any) -> bool:
        return keys.signed(key, self.signatures, self.body_bytes)


@dataclass
class Record:
    """What became of a transaction that was taken."""

    transaction: Transaction
    receipt: Any = field(default_factory=lambda: TransactionReceipt(status=ResponseCode.UNKNOWN))
    moment: int | None = None
    """When it reached consensus; not yet, as long as this is nothing."""
    arrived: float = 0.0
    fee: int = 0
    transfers: list[tuple[str, int]] = field(default_factory=list)

    @property
    def result(self) -> str:
        return str(ResponseCode(self.receipt.status).name)

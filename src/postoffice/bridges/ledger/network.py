"""The ledger's network through its SDK: sign, submit, create. Synchronous, as the SDK is: callers use threads."""

import threading
import time
from base64 import b64decode, b64encode
from itertools import groupby
from typing import Any

from hiero_sdk_python import (
    AccountId,
    AccountUpdateTransaction,
    Client,
    PrivateKey,
    ResponseCode,
    TopicCreateTransaction,
    TopicId,
    TopicMessageSubmitTransaction,
    TransactionId,
)
from hiero_sdk_python.client.network import Network as Nodes
from hiero_sdk_python.exceptions import MaxAttemptsError, PrecheckError, ReceiptStatusError
from hiero_sdk_python.hapi.sdk.transaction_list_pb2 import TransactionList
from hiero_sdk_python.hapi.services.timestamp_pb2 import Timestamp
from hiero_sdk_python.hapi.services.transaction_contents_pb2 import SignedTransaction
from hiero_sdk_python.hapi.services.transaction_pb2 import TransactionBody
from hiero_sdk_python.logger.log_level import LogLevel
from hiero_sdk_python.transaction.transaction import Transaction

from postoffice.bridges.ledger.outcome import Expired, LedgerBusy, LedgerRefused, NeedsOwner
from postoffice.core.errors import BadSetting

_CALL = 20.0  # seconds for one call
_BACK = 6 * 10**9  # nanoseconds before now that a transaction begins: nodes refuse what begins after their own now
_CHUNKS = 20
_BYTES = 1024
_FOR_THE_OWNER = {
    "INSUFFICIENT_PAYER_BALANCE": "the account {payer} cannot pay; send it some hbar",
    "INSUFFICIENT_TX_FEE": "the fee offered is below the price; use a newer version of the SDK",
    "PAYER_ACCOUNT_NOT_FOUND": "there is no account {payer}; check ledger_account",
    "INVALID_SIGNATURE": "the key is not that of the account {payer}; check ledger_key_file",
    "INVALID_TRANSACTION_START": "this machine's clock is ahead of the ledger's; set it right",
}
"""Refusals that no message is to blame for: it waits until its owner has done something."""
_PASSING = {"BUSY", "PLATFORM_NOT_ACTIVE", "PLATFORM_TRANSACTION_NOT_CREATED", "UNKNOWN", "RECEIPT_NOT_FOUND", "THROTTLED_AT_CONSENSUS"}


class LedgerNetwork:
    """One network, spoken to as one operator; other accounts may pay where their keys are known."""

    def __init__(self, network: str, operator: str, keys: dict[str, str]) -> None:
        """The network's name, or its nodes as `host:port=0.0.3,…`; keys by account."""
        self._network = network
        self._operator = AccountId.from_string(operator)
        self._keys = {account: read_key(account, key) for account, key in keys.items()}
        self._client: Client | None = None
        self._lock = threading.Lock()
        self._last = 0

    @property
    def operator(self) -> str:
        """Whose account pays for what names no other."""
        return str(self._operator)

    def pays(self, account: str) -> bool:
        """Whether the key of an account is known here."""
        return account in self._keys

    def mirror_url(self) -> str | None:
        """Where the SDK knows this network's mirror to be."""
        url = Nodes.MIRROR_NODE_URLS.get(self._network)
        return None if url is None else str(url)

    def sign(self, topic_id: str, memo: str, body: str, payer: str | None) -> str:
        """A message as signed bytes, piece by piece: submitted again they are known again."""
        account = AccountId.from_string(payer) if payer is not None and payer in self._keys else self._operator
        data = body.encode()
        if len(data) > _CHUNKS * _BYTES:
            raise LedgerRefused(why=f"it is {len(data)} bytes, more than the {_CHUNKS * _BYTES} the ledger takes; send less, or privately")
        transaction = TopicMessageSubmitTransaction(TopicId.from_string(topic_id), data, chunk_size=_BYTES, max_chunks=_CHUNKS)
        transaction.set_transaction_memo(memo)
        transaction.set_transaction_id(TransactionId(account, self._start(transaction.get_required_chunks())))
        transaction.freeze_with(self._connected())
        transaction.sign(self._keys[str(account)])
        return ",".join(b64encode(piece).decode() for piece in _pieces(transaction.to_bytes()))

    def _start(self, pieces: int) -> Timestamp:
        """A moment that no other message has: two under one would count as one, and the second be lost. Each piece takes the next."""
        with self._lock:
            self._last = max(self._last + 1, time.time_ns() - _BACK)
            at, self._last = self._last, self._last + pieces
        return Timestamp(seconds=at // 10**9, nanos=at % 10**9)

    def submit(self, signed: str) -> None:
        """Put signed bytes on the ledger, and wait for its word on each piece. What is there already is there."""
        for piece in signed.split(","):
            self._execute(Transaction.from_bytes(b64decode(piece)))

    def create_topic(self, memo: str, submit_keys: int = 0) -> str:
        """A topic with this memo, which anybody may write to, or only the operator."""
        transaction = TopicCreateTransaction(memo=memo)
        if submit_keys:
            transaction.set_submit_key(self._keys[str(self._operator)].public_key())
        return str(self._execute(transaction).topic_id)

    def set_account_memo(self, account: str, memo: str) -> None:
        """Say on an account where its profile is."""
        transaction = AccountUpdateTransaction().set_account_id(AccountId.from_string(account)).set_account_memo(memo)
        transaction.freeze_with(self._connected())
        transaction.sign(self._keys[account])
        self._execute(transaction)

    def close(self) -> None:
        """Hang up."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _connected(self) -> Client:
        with self._lock:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def _connect(self) -> Client:
        client: Client
        if "=" in self._network:
            pairs = (entry.strip().rpartition("=") for entry in self._network.split(","))
            client = Client.for_network({address: AccountId.from_string(account) for address, _, account in pairs})
        else:
            client = Client(Nodes(self._network))
        client.set_operator(self._operator, self._keys[str(self._operator)])
        client.set_max_attempts(3).set_grpc_deadline(_CALL / 2).set_request_timeout(_CALL)
        client.logger.set_level(LogLevel.DISABLED)  # it writes to standard output
        return client

    def _execute(self, transaction: Any) -> Any:
        payer = str(transaction.transaction_id.account_id) if transaction.transaction_id is not None else self.operator
        try:
            return transaction.execute(self._connected(), validate_status=True)
        except PrecheckError as error:
            return _judge(ResponseCode(error.status).name, payer, submitted=False)
        except ReceiptStatusError as error:
            return _judge(ResponseCode(error.status).name, payer, submitted=True)
        except MaxAttemptsError as error:
            raise LedgerBusy(why=_name(error.last_error)) from None
        except (RuntimeError, OSError) as error:
            self.close()  # a client that lost its nodes does not look for them again for long
            raise LedgerBusy(why=str(error)) from None


def read_key(account: str, key: str) -> PrivateKey:
    """A private key, in whatever form wallets give it. Nothing of it is in the error."""
    for read in (PrivateKey.from_string_der, PrivateKey.from_string_ecdsa if key.startswith("0x") else PrivateKey.from_string_ed25519):
        try:
            return read(key.strip())
        except Exception:  # noqa: BLE001, S112 - the SDK's own words would show the key
            continue
    raise BadSetting(name="ledger_key", why=f"the key of {account} cannot be read; give it as the wallet exports it (DER in hex)")


def _judge(status: str, payer: str, *, submitted: bool) -> None:
    if status == "DUPLICATE_TRANSACTION":
        return
    if status == "TRANSACTION_EXPIRED":
        raise Expired
    if status in _PASSING:
        raise LedgerBusy(why=status)
    if not submitted and status in _FOR_THE_OWNER:
        raise NeedsOwner(why=_FOR_THE_OWNER[status].format(payer=payer))
    raise LedgerRefused(why=status)


def _name(error: object) -> str:
    status = getattr(error, "status", None)
    return ResponseCode(status).name if status is not None else str(error)


def _pieces(signed: bytes) -> list[bytes]:
    """The bytes of each piece, apart: a message that broke off is finished piece by piece."""
    wires = TransactionList.FromString(signed).transaction_list

    def of(wire: Any) -> bytes:
        body = TransactionBody.FromString(SignedTransaction.FromString(wire.signedTransactionBytes).bodyBytes)
        return bytes(body.transactionID.SerializeToString())

    return [TransactionList(transaction_list=list(same)).SerializeToString() for _, same in groupby(wires, key=of)]

"""The ledger's network through its SDK: sign, submit, create. It blocks, as the SDK does, so callers use threads of their own."""

import threading
import time
from base64 import b64decode, b64encode
from typing import Any

from hiero_sdk_python import (
    AccountId,
    AccountUpdateTransaction,
    Client,
    PrivateKey,
    PublicKey,
    ResponseCode,
    TopicCreateTransaction,
    TopicId,
    TopicMessageSubmitTransaction,
    TransactionGetReceiptQuery,
    TransactionId,
)
from hiero_sdk_python.client.network import Network as Nodes
from hiero_sdk_python.crypto.key_list import KeyList
from hiero_sdk_python.exceptions import MaxAttemptsError, PrecheckError, ReceiptStatusError
from hiero_sdk_python.hapi.services.timestamp_pb2 import Timestamp
from hiero_sdk_python.logger.log_level import LogLevel
from hiero_sdk_python.transaction.transaction import Transaction

from postoffice.bridges.ledger.pieces import PIECE_BYTES, PIECES, pieces
from postoffice.core.errors import BadSetting, Expired, LedgerBusy, LedgerRefused, NeedsOwner, Spent
from postoffice.core.ledger import is_ledger_id

_CALL_SECONDS = 20.0  # for one call
_SIGNED_SECONDS = 180  # how long signed bytes can be submitted; the network allows no more
_BEHIND_NANOSECONDS = 6 * 10**9  # start a little in the past, as this machine's clock may be ahead of the ledger's
_APART_NANOSECONDS = 1000  # between two messages' first pieces, as their other pieces take the nanoseconds after
_ED25519 = "302a300506032b6570032100"
"""The DER prefix of an Ed25519 public key."""
_FOR_THE_OWNER = {
    "INSUFFICIENT_PAYER_BALANCE": "the account {payer} cannot pay; send it some hbar",
    "INSUFFICIENT_TX_FEE": "the fee offered is below the price; use a newer version of the SDK",
    "PAYER_ACCOUNT_NOT_FOUND": "there is no account {payer}; check ledger_account",
    "INVALID_SIGNATURE": "the key is not that of the account {payer}; check ledger_key_file",
    "INVALID_TRANSACTION_START": "this machine's clock is ahead of the ledger's; set it right",
}
"""Refusals that are not the message's fault: it waits until the owner has acted."""
_PASSING = {"BUSY", "PLATFORM_NOT_ACTIVE", "PLATFORM_TRANSACTION_NOT_CREATED", "UNKNOWN", "RECEIPT_NOT_FOUND"}
_FAILED_IN_PASSING = {"THROTTLED_AT_CONSENSUS", "TRANSACTION_EXPIRED", "INSUFFICIENT_PAYER_BALANCE", "BUSY"}


class LedgerNetwork:
    """One network, used as one operator. Other accounts can pay if their keys are known."""

    def __init__(self, network: str, operator: str, keys: dict[str, str]) -> None:
        """The network's name, or its nodes as `host:port=0.0.3,…`; keys by account."""
        self._nodes = read_nodes(network)
        self.name = name_of(network)
        self._network = network
        if not is_ledger_id(operator):
            raise BadSetting(name="ledger_account", why=f"{operator!r} is not an account such as 0.0.12345")
        self._operator = operator
        self._keys = {account: read_key(account, key) for account, key in keys.items()}
        self._client: Client | None = None
        self._lock = threading.Lock()
        self._last_start = 0

    @property
    def operator(self) -> str:
        """The account that pays unless another is named."""
        return self._operator

    def pays(self, account: str) -> bool:
        """Whether the key of an account is known here."""
        return account in self._keys

    def mirror_url(self) -> str | None:
        """The address of this network's mirror, from the SDK."""
        return mirror_of(self._network)

    def sign(self, topic_id: str, memo: str, body: str, payer: str | None) -> str:
        """Sign a message, piece by piece. The network recognises the bytes if they are submitted again."""
        data = body.encode()
        if len(data) > PIECES * PIECE_BYTES:
            raise LedgerRefused(
                why=f"it is {len(data)} bytes, more than the {PIECES * PIECE_BYTES} the ledger takes; send less, or privately"
            )
        transaction = TopicMessageSubmitTransaction(TopicId.from_string(topic_id), data, chunk_size=PIECE_BYTES, max_chunks=PIECES)
        transaction.set_transaction_memo(memo)
        return self._signed(transaction, payer or self._operator)

    def sign_topic(self, memo: str, payer: str | None = None, writers: tuple[str, ...] = ()) -> str:
        """Sign the creation of a topic. Only these may write there (public keys, or accounts whose keys are known here)."""
        transaction = TopicCreateTransaction(memo=memo)
        if writers:
            keys = [self._keys[one].public_key() if one in self._keys else PublicKey.from_string_der(one) for one in writers]
            transaction.set_submit_key(keys[0] if len(keys) == 1 else KeyList(keys, threshold=1))
        return self._signed(transaction, payer or self._operator)

    def submit(self, signed: str) -> str | None:
        """Submit signed bytes and wait for each piece's receipt. Pieces that are there already count as done. Returns the topic they made, if any."""
        made = None
        for piece in signed.split(","):
            receipt = self._execute(Transaction.from_bytes(b64decode(piece)))
            made = None if receipt.topic_id is None else str(receipt.topic_id)
        return made

    def set_account_memo(self, account: str, memo: str) -> None:
        """Set the memo of an account, which says where its profile is."""
        transaction = AccountUpdateTransaction().set_account_id(AccountId.from_string(account)).set_account_memo(memo)
        self.submit(self._signed(transaction, account))

    def close(self) -> None:
        """Hang up."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _signed(self, transaction: Any, payer: str) -> str:
        if payer not in self._keys:
            # Another account could pay, but readers would then take the message for forged.
            raise NeedsOwner(why=f"the key of the account {payer} is not known; put it into ledger_key_file")
        transaction.set_transaction_id(TransactionId(AccountId.from_string(payer), self._start()))
        transaction.set_transaction_valid_duration(_SIGNED_SECONDS)
        transaction.freeze_with(self._connected())
        transaction.sign(self._keys[payer])
        return ",".join(b64encode(piece).decode() for piece in pieces(transaction.to_bytes()))

    def _start(self) -> Timestamp:
        """When the bytes become valid. This time is also their name, so it is never used twice: the network would take the second message for the first."""
        with self._lock:
            now, following = time.time_ns(), self._last_start + _APART_NANOSECONDS
            # A last time in the future was signed before this machine's clock was set right. The network refuses it, and all that would follow it.
            self._last_start = max(now - _BEHIND_NANOSECONDS, following if following <= now else 0)
            return Timestamp(seconds=self._last_start // 10**9, nanos=self._last_start % 10**9)

    def _connected(self) -> Client:
        with self._lock:
            if self._client is None:
                self._client = self._connect()
            return self._client

    def _connect(self) -> Client:
        client: Client
        if self._nodes is None:
            client = Client(Nodes(self._network))
        else:
            client = Client.for_network({address: AccountId.from_string(account) for address, account in self._nodes.items()})
        client.set_operator(AccountId.from_string(self._operator), self._keys[self._operator])
        client.set_max_attempts(3).set_grpc_deadline(_CALL_SECONDS / 2).set_request_timeout(_CALL_SECONDS)
        client.logger.set_level(LogLevel.DISABLED)  # its logger writes to standard output
        return client

    def _execute(self, transaction: Any) -> Any:
        name = transaction.transaction_id
        try:
            return transaction.execute(self._connected(), validate_status=True)
        except PrecheckError as error:
            status = ResponseCode(error.status).name
            if status == "DUPLICATE_TRANSACTION":
                return self._receipt(name)
            raise _refusal(status, str(name.account_id)) from None
        except (ReceiptStatusError, MaxAttemptsError, RuntimeError, OSError) as error:
            raise self._failure(error, str(name.account_id)) from None

    def _receipt(self, name: TransactionId) -> Any:
        """The receipt of bytes that were submitted before: the network may know them although they failed."""
        try:
            receipt = TransactionGetReceiptQuery(name).execute(self._connected())
        except (PrecheckError, ReceiptStatusError, MaxAttemptsError, RuntimeError, OSError) as error:
            raise self._failure(error, str(name.account_id)) from None
        if receipt.status != ResponseCode.SUCCESS:
            raise _failed(ResponseCode(receipt.status).name, str(name.account_id))
        return receipt

    def _failure(self, error: Exception, payer: str) -> Exception:
        if isinstance(error, ReceiptStatusError):
            return _failed(ResponseCode(error.status).name, payer)
        if isinstance(error, PrecheckError):
            return LedgerBusy(why=ResponseCode(error.status).name)
        if isinstance(error, MaxAttemptsError):
            return LedgerBusy(why=_name(error.last_error))
        self.close()  # a client that has lost its nodes takes long to look for them again
        return LedgerBusy(why=str(error))


def read_nodes(network: str) -> dict[str, str] | None:
    """A network's nodes, given as `host:port=0.0.3,…`: accounts by address. None for a name that the SDK knows."""
    if network in Nodes.MIRROR_NODE_URLS:
        return None
    nodes = {}
    for entry in network.split(","):
        address, _, account = entry.strip().rpartition("=")
        host, _, port = address.rpartition(":")
        if not host or not (port.isascii() and port.isdecimal()) or not is_ledger_id(account):
            names = ", ".join(Nodes.MIRROR_NODE_URLS)
            raise BadSetting(name="ledger", why=f"{entry!r} is neither one of {names}, nor a node such as 127.0.0.1:50211=0.0.3")
        nodes[address] = account
    return nodes


def name_of(network: str) -> str:
    """A network's name. A network that the SDK does not know is called by one common name."""
    return network if read_nodes(network) is None else "own"


def mirror_of(network: str) -> str | None:
    """The address of a network's mirror, from the SDK."""
    url = Nodes.MIRROR_NODE_URLS.get(network)
    return None if url is None else str(url)


def read_key(account: str, key: str) -> PrivateKey:
    """A private key in any of the forms that wallets export. The error never contains any of it."""
    for read in (PrivateKey.from_string_der, PrivateKey.from_string_ecdsa if key.startswith("0x") else PrivateKey.from_string_ed25519):
        try:
            return read(key.strip())
        except Exception:  # noqa: BLE001, S112 - the SDK's error would show the key
            continue
    raise BadSetting(name="ledger_key", why=f"the key of {account} cannot be read; give it as the wallet exports it (DER in hex)")


def public_key(key: dict[str, Any] | None) -> str | None:
    """An account's public key from the mirror, if it is of a kind that can be named as a writer."""
    try:
        if key is not None and key.get("_type") == "ED25519":
            return str(PublicKey.from_string_der(_ED25519 + key["key"]).to_string_der())  # the SDK warns of keys without their prefix
        if key is not None and key.get("_type") == "ECDSA_SECP256K1":
            return str(PublicKey.from_string_ecdsa(key["key"]).to_string_der())
    except (ValueError, KeyError, TypeError):
        return None
    return None


def _refusal(status: str, payer: str) -> Exception:
    """The error for a node that refused at once and took nothing."""
    if status == "TRANSACTION_EXPIRED":
        return Expired()
    if status in _PASSING:
        return LedgerBusy(why=status)
    if status in _FOR_THE_OWNER:
        return NeedsOwner(why=_FOR_THE_OWNER[status].format(payer=payer))
    return LedgerRefused(why=status)


def _failed(status: str, payer: str) -> Exception:
    """The error for a bad receipt: the bytes were taken and cannot be used again."""
    if status in _PASSING - {"BUSY"}:
        return LedgerBusy(why=status)
    if status in _FAILED_IN_PASSING:
        return Spent(why=_FOR_THE_OWNER[status].format(payer=payer) if status in _FOR_THE_OWNER else status)
    return LedgerRefused(why=status)


def _name(error: object) -> str:
    status = getattr(error, "status", None)
    return ResponseCode(status).name if status is not None else str(error)

"""The ledger's network through its SDK: sign, submit, create. Synchronous, as the SDK is: callers use threads of their own."""

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

_CALL_SECONDS = 20.0  # seconds for one call
_SIGNED_SECONDS = 180  # seconds that signed bytes can be submitted; more is not allowed
_BEHIND_NANOSECONDS = 6 * 10**9  # nanoseconds; a machine's clock may be ahead of the ledger's
_APART_NANOSECONDS = 1000  # nanoseconds between two messages' first pieces, whose other pieces take the next ones
_ED25519 = "302a300506032b6570032100"
"""What a public key of this kind begins with in DER."""
_FOR_THE_OWNER = {
    "INSUFFICIENT_PAYER_BALANCE": "the account {payer} cannot pay; send it some hbar",
    "INSUFFICIENT_TX_FEE": "the fee offered is below the price; use a newer version of the SDK",
    "PAYER_ACCOUNT_NOT_FOUND": "there is no account {payer}; check ledger_account",
    "INVALID_SIGNATURE": "the key is not that of the account {payer}; check ledger_key_file",
    "INVALID_TRANSACTION_START": "this machine's clock is ahead of the ledger's; set it right",
}
"""Refusals that no message is to blame for: it waits until its owner has done something."""
_PASSING = {"BUSY", "PLATFORM_NOT_ACTIVE", "PLATFORM_TRANSACTION_NOT_CREATED", "UNKNOWN", "RECEIPT_NOT_FOUND"}
_FAILED_IN_PASSING = {"THROTTLED_AT_CONSENSUS", "TRANSACTION_EXPIRED", "INSUFFICIENT_PAYER_BALANCE", "BUSY"}


class LedgerNetwork:
    """One network, spoken to as one operator; other accounts may pay where their keys are known."""

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
        """Whose account pays for what names no other."""
        return self._operator

    def pays(self, account: str) -> bool:
        """Whether the key of an account is known here."""
        return account in self._keys

    def mirror_url(self) -> str | None:
        """Where the SDK knows this network's mirror to be."""
        return mirror_of(self._network)

    def sign(self, topic_id: str, memo: str, body: str, payer: str | None) -> str:
        """A message as signed bytes, piece by piece: submitted again they are known again."""
        data = body.encode()
        if len(data) > PIECES * PIECE_BYTES:
            raise LedgerRefused(
                why=f"it is {len(data)} bytes, more than the {PIECES * PIECE_BYTES} the ledger takes; send less, or privately"
            )
        transaction = TopicMessageSubmitTransaction(TopicId.from_string(topic_id), data, chunk_size=PIECE_BYTES, max_chunks=PIECES)
        transaction.set_transaction_memo(memo)
        return self._signed(transaction, payer or self._operator)

    def sign_topic(self, memo: str, payer: str | None = None, writers: tuple[str, ...] = ()) -> str:
        """A topic to be made, as signed bytes; only these may write there (public keys, or accounts whose keys are known here)."""
        transaction = TopicCreateTransaction(memo=memo)
        if writers:
            keys = [self._keys[one].public_key() if one in self._keys else PublicKey.from_string_der(one) for one in writers]
            transaction.set_submit_key(keys[0] if len(keys) == 1 else KeyList(keys, threshold=1))
        return self._signed(transaction, payer or self._operator)

    def submit(self, signed: str) -> str | None:
        """Put signed bytes on the ledger, and wait for its word on each piece. What is there already is there. Gives the topic they made, if any."""
        made = None
        for piece in signed.split(","):
            receipt = self._execute(Transaction.from_bytes(b64decode(piece)))
            made = None if receipt.topic_id is None else str(receipt.topic_id)
        return made

    def set_account_memo(self, account: str, memo: str) -> None:
        """Say on an account where its profile is."""
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
            # Somebody else could pay, but whoever reads it would take it for forged.
            raise NeedsOwner(why=f"the key of the account {payer} is not known; put it into ledger_key_file")
        transaction.set_transaction_id(TransactionId(AccountId.from_string(payer), self._start()))
        transaction.set_transaction_valid_duration(_SIGNED_SECONDS)
        transaction.freeze_with(self._connected())
        transaction.sign(self._keys[payer])
        return ",".join(b64encode(piece).decode() for piece in pieces(transaction.to_bytes()))

    def _start(self) -> Timestamp:
        """When the bytes become valid, which is also their name: never the same twice, or the second message would be taken for the first."""
        with self._lock:
            now, following = time.time_ns(), self._last_start + _APART_NANOSECONDS
            # Later than now is what was signed before this machine's clock was set right: nobody takes it, nor what would follow it.
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
        client.logger.set_level(LogLevel.DISABLED)  # it writes to standard output
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
        """What became of bytes that were submitted before: being known is not yet having succeeded."""
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
        self.close()  # a client that lost its nodes does not look for them again for long
        return LedgerBusy(why=str(error))


def read_nodes(network: str) -> dict[str, str] | None:
    """A network's nodes and their accounts by address, as `host:port=0.0.3,…`; nothing where the SDK knows it by its name."""
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
    """What a network is called; those that the SDK does not know are all one's own."""
    return network if read_nodes(network) is None else "own"


def mirror_of(network: str) -> str | None:
    """Where the SDK knows a network's mirror to be."""
    url = Nodes.MIRROR_NODE_URLS.get(network)
    return None if url is None else str(url)


def read_key(account: str, key: str) -> PrivateKey:
    """A private key, in whatever form wallets give it. Nothing of it is in the error."""
    for read in (PrivateKey.from_string_der, PrivateKey.from_string_ecdsa if key.startswith("0x") else PrivateKey.from_string_ed25519):
        try:
            return read(key.strip())
        except Exception:  # noqa: BLE001, S112 - the SDK's own words would show the key
            continue
    raise BadSetting(name="ledger_key", why=f"the key of {account} cannot be read; give it as the wallet exports it (DER in hex)")


def public_key(key: dict[str, Any] | None) -> str | None:
    """An account's public key as its mirror tells it, if it is one that can be named as a writer."""
    try:
        if key is not None and key.get("_type") == "ED25519":
            return str(PublicKey.from_string_der(_ED25519 + key["key"]).to_string_der())  # the SDK warns of bare ones
        if key is not None and key.get("_type") == "ECDSA_SECP256K1":
            return str(PublicKey.from_string_ecdsa(key["key"]).to_string_der())
    except (ValueError, KeyError, TypeError):
        return None
    return None


def _refusal(status: str, payer: str) -> Exception:
    """What a node said at once, having taken nothing."""
    if status == "TRANSACTION_EXPIRED":
        return Expired()
    if status in _PASSING:
        return LedgerBusy(why=status)
    if status in _FOR_THE_OWNER:
        return NeedsOwner(why=_FOR_THE_OWNER[status].format(payer=payer))
    return LedgerRefused(why=status)


def _failed(status: str, payer: str) -> Exception:
    """What the receipt says: the bytes were taken, and are of no more use."""
    if status in _PASSING - {"BUSY"}:
        return LedgerBusy(why=status)
    if status in _FAILED_IN_PASSING:
        return Spent(why=_FOR_THE_OWNER[status].format(payer=payer) if status in _FOR_THE_OWNER else status)
    return LedgerRefused(why=status)


def _name(error: object) -> str:
    status = getattr(error, "status", None)
    return ResponseCode(status).name if status is not None else str(error)

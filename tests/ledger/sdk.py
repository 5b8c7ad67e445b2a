"""The unmodified Python SDK against the emulator. It is synchronous: everything that talks runs in a thread."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import Any

from hiero_sdk_python import AccountId, Client, PrivateKey, ResponseCode, TopicId, TopicMessageSubmitTransaction
from hiero_sdk_python.hapi.sdk.transaction_list_pb2 import TransactionList
from hiero_sdk_python.logger.log_level import LogLevel
from hiero_sdk_python.transaction.transaction import Transaction

from tests.ledger.emulator import Account, Emulator, Remote, Topic
from tests.ledger.emulator.transaction import Transaction as Parsed

in_thread = asyncio.to_thread


@contextmanager
def connected(ledger: Emulator | Remote, account: Account | None = None) -> Iterator[Any]:
    """A client whose operator is this account, or the ledger's own."""
    client = Client.for_network({address: AccountId.from_string(node) for address, node in ledger.nodes.items()})
    client.network.mirror_address = ledger.mirror_url.removeprefix("http://")
    key = PrivateKey.from_string_der(account.secret if account else ledger.operator_key)
    client.set_operator(AccountId.from_string(account.id if account else ledger.operator_id), key)
    client.set_min_backoff(0.001).set_max_backoff(0.01)  # 0.25 and 8 seconds of its own accord
    client.logger.set_level(LogLevel.DISABLED)  # it writes to standard output
    try:
        yield client
    finally:
        client.close()


def message(client: Any, topic: Topic | str, text: str | bytes, *keys: Any) -> Any:
    """A message ready to be sent: frozen, and signed by the operator and by these keys."""
    name = TopicId.from_string(topic if isinstance(topic, str) else topic.id)
    transaction = TopicMessageSubmitTransaction(name, text).freeze_with(client)
    for key in keys:
        transaction.sign(key)
    return transaction.sign_with_operator(client)


def status(outcome: Any) -> str:
    """The code of a receipt or an error, by its name."""
    return str(ResponseCode(outcome.status).name)


def restored(signed: bytes) -> Any:
    """What an outbox keeps, as something the SDK can execute."""
    return Transaction.from_bytes(signed)


def chunk_by_chunk(signed: bytes) -> list[bytes]:
    """The bytes of a message of many chunks, apart: each can be submitted, and submitted again, without the others."""
    whole = TransactionList.FromString(signed).transaction_list
    apart = groupby(whole, key=lambda wire: Parsed.parse(wire).name)  # one for each node, node after node
    return [TransactionList(transaction_list=list(wires)).SerializeToString() for _, wires in apart]

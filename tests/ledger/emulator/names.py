"""What accounts, topics and transactions are called: `0.0.7` in a test, a message on the wire, `0.0.7-1700000000-000000001` on the mirror."""

from typing import Any

from hiero_sdk_python.hapi.services.basic_types_pb2 import AccountID, TopicID

from tests.ledger.emulator.clock import SECOND, from_proto


def account_name(value: Any) -> str:
    return f"{value.shardNum}.{value.realmNum}.{value.accountNum}"


def topic_name(value: Any) -> str:
    return f"{value.shardNum}.{value.realmNum}.{value.topicNum}"


def account_proto(name: str) -> Any:
    shard, realm, number = parts(name)
    return AccountID(shardNum=shard, realmNum=realm, accountNum=number)


def topic_proto(name: str) -> Any:
    shard, realm, number = parts(name)
    return TopicID(shardNum=shard, realmNum=realm, topicNum=number)


def transaction_name(value: Any) -> str:
    """The name that is unique: who pays, and from when on the transaction counts."""
    start = from_proto(value.transactionValidStart)
    return f"{account_name(value.accountID)}-{start // SECOND}-{start % SECOND:09}"


def parts(name: str) -> tuple[int, int, int]:
    shard, realm, number = (int(part) for part in name.split("."))
    return shard, realm, number

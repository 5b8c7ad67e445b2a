"""Signed bytes as the outbox keeps them, piece by piece, so that an interrupted message goes on where it stopped."""

from base64 import b64decode
from itertools import groupby
from typing import Any, Final

from hiero_sdk_python.hapi.sdk.transaction_list_pb2 import TransactionList
from hiero_sdk_python.hapi.services.transaction_contents_pb2 import SignedTransaction
from hiero_sdk_python.hapi.services.transaction_pb2 import TransactionBody

PIECES: Final = 20
PIECE_BYTES: Final = 1024


def pieces(signed: bytes) -> list[bytes]:
    """Split signed bytes into pieces. A piece has a transaction for each node, and all of them have the same name."""
    wires = TransactionList.FromString(signed).transaction_list
    return [
        bytes(TransactionList(transaction_list=list(same)).SerializeToString())
        for _, same in groupby(wires, key=lambda wire: bytes(_name(wire).SerializeToString()))
    ]


def mirror_names(signed: str) -> list[str]:
    """The mirror's names for the transactions of a post."""
    names = []
    for piece in signed.split(","):
        name = _name(TransactionList.FromString(b64decode(piece)).transaction_list[0])
        payer, start = name.accountID, name.transactionValidStart
        names.append(f"{payer.shardNum}.{payer.realmNum}.{payer.accountNum}-{start.seconds}-{start.nanos:09}")
    return names


def _name(wire: Any) -> Any:
    return TransactionBody.FromString(SignedTransaction.FromString(wire.signedTransactionBytes).bodyBytes).transactionID

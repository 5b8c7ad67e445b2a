"""The order in which taken transactions get their turn: at once, after a delay, when released, or in an order a test chose."""

import asyncio
import time
from typing import TYPE_CHECKING

from hiero_sdk_python.response_code import ResponseCode

from tests.ledger.emulator import fees
from tests.ledger.emulator.effects import EFFECTS
from tests.ledger.emulator.transaction import Record, Refused

if TYPE_CHECKING:
    from tests.ledger.emulator.ledger import Ledger


class Consensus:
    def __init__(self, ledger: "Ledger") -> None:
        self._ledger = ledger
        self._held: list[Record] | None = None
        self._places: list[int] = []
        self._shuffled: list[Record] = []

    def add(self, record: Record) -> None:
        """Give a transaction that was taken its turn."""
        if self._places and record.transaction.kind == "consensusSubmitMessage":
            self._shuffled.append(record)
            if len(self._shuffled) == len(self._places):
                turn = [self._shuffled[place] for place in self._places]
                self._places, self._shuffled = [], []
                for shuffled in turn:
                    self._queue(shuffled)
        else:
            self._queue(record)

    def reorder(self, *places: int) -> None:
        """Keep the next messages until there are as many as places, then take them in this order: `2, 0, 1` is the third one first."""
        assert sorted(places) == list(range(len(places))), places
        self._places = list(places)

    def hold(self) -> None:
        """Let nothing more reach consensus until `release`; receipts stay unknown."""
        self._held = self._held or []

    def release(self) -> None:
        held, self._held = self._held or [], None
        for record in held:
            self._reach(record)

    def _queue(self, record: Record) -> None:
        if self._held is not None:
            self._held.append(record)
        elif self._ledger.consensus_delay > 0:
            asyncio.get_running_loop().call_later(self._ledger.consensus_delay, self._reach, record)
        else:
            self._reach(record)

    def _reach(self, record: Record) -> None:
        ledger, transaction = self._ledger, record.transaction
        record.moment, record.arrived = ledger.clock.tick(), time.monotonic()
        try:
            self._charge(record)
            EFFECTS[transaction.kind](ledger, record)
            record.receipt.status = ResponseCode.SUCCESS
        except Refused as refused:
            record.receipt.status = refused.code

    def _charge(self, record: Record) -> None:
        """Take the fee, which is lost when the rest fails; one that came too late pays nothing."""
        if record.moment is not None and record.moment >= record.transaction.ends:
            raise Refused(ResponseCode.TRANSACTION_EXPIRED)
        payer, fee = self._ledger.accounts[record.transaction.payer], fees.PRICES[record.transaction.kind]
        if payer.balance < fee:
            raise Refused(ResponseCode.INSUFFICIENT_PAYER_BALANCE)
        payer.balance -= fee
        record.fee = fee
        record.transfers.append((payer.id, -fee))

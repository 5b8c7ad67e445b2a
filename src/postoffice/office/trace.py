"""The shape of a tracer: what happens to each message, told to whoever follows its way."""

from datetime import timedelta
from typing import Protocol

from postoffice.core.delivery import Leased, Settled
from postoffice.core.message import Accepted


class Trace(Protocol):
    """Hears of every message's way. It is told after the fact, and nothing waits for it."""

    def sent(self, sender: str, accepted: Accepted, took: timedelta) -> None: ...
    def taken(self, mailbox: str, leased: Leased, took: timedelta) -> None: ...
    def settled(self, mailbox: str, settled: Settled, took: timedelta) -> None: ...
    def close(self) -> None: ...

"""Messages that went all the way, sent, received and acked, through somebody's client for Python."""

from typing import Protocol

import msgspec

from bench.clients import Sample
from bench.plan import Plan

BATCH = 10


class Broker(Protocol):
    """Something with a client for Python that can send, receive and ack."""

    name: str
    durability: str
    """What is on disk when it answers."""

    def measure(self, concurrency: int, batch: int, plan: Plan) -> Sample:
        """Let so many clients send so many at once, then receive and ack as many; counted are messages."""


class Turnover(msgspec.Struct, frozen=True):
    """One contender in one situation: the medians, and the samples they come from."""

    name: str
    batch: int
    concurrency: int
    durability: str
    median: Sample
    samples: list[Sample]

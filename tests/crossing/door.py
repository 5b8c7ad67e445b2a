"""What a door has to be for the crossing: a way to send, a way to collect, or both. A later door adds one of these."""

from contextlib import AbstractAsyncContextManager
from typing import NamedTuple, Protocol

from tests.doors.served import Served


class Person(NamedTuple):
    """An agent at the crossing; without a key it simply says its name."""

    name: str
    key: str | None = None


class Letter(NamedTuple):
    """A message as a door shows it; None is what that door does not show."""

    sender: str
    content: str
    verified: bool | None = None
    subject: str | None = None
    correlation_id: str | None = None


class Desk(Protocol):
    """A person's place at a door, open for as long as the block lasts."""

    async def send(self, to: str, content: str, *, subject: str, correlation_id: str) -> str:
        """Send, with what of this the door can carry; gives the id by which the sender asks for its status."""

    async def collect(self, count: int) -> list[Letter]:
        """The next so many messages, oldest first, settled if this door settles."""


class Door(Protocol):
    """One way into the office, and out of it."""

    name: str
    sends: bool
    """Mail can be sent here."""
    subjects: bool
    """A subject given here arrives."""
    correlates: bool
    """A correlation id given here arrives, and one that arrives is shown."""
    settles: bool
    """What is collected here is acked."""
    keyed: bool
    """Agents with a key come in here."""

    def open(self, served: Served, person: Person) -> AbstractAsyncContextManager[Desk]:
        """The person's place at this door."""

"""Lets the channel and the tool of one nanobot find each other, by the bus that both get."""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary


@dataclass(slots=True)
class Meeting:
    """What each shares with the other."""

    channel: Any = None
    """The channel, for the tool."""
    events: Any = None
    """The bus on which nanobot 0.2 reports its turns; only tools get it."""
    sessions: Any = None
    """Nanobot's sessions."""


_MEETINGS: WeakKeyDictionary[Any, Meeting] = WeakKeyDictionary()


def meeting(bus: Any) -> Meeting:
    """The meeting for this bus."""
    return _MEETINGS.setdefault(bus, Meeting())

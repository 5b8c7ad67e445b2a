"""Where the channel and the tool of one nanobot find each other: by the bus both are given."""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary


@dataclass(slots=True)
class Meeting:
    """What each leaves for the other."""

    channel: Any = None
    """The channel, for the tool."""
    events: Any = None
    """Where nanobot 0.2 tells of its turns; only tools are shown this."""
    sessions: Any = None
    """Nanobot's sessions."""


_MEETINGS: WeakKeyDictionary[Any, Meeting] = WeakKeyDictionary()


def meeting(bus: Any) -> Meeting:
    """The one of this bus."""
    return _MEETINGS.setdefault(bus, Meeting())

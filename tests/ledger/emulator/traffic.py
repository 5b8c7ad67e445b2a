"""Every call that was made, so that a test can count them."""

import time
from dataclasses import dataclass, field

NODE = "node"
MIRROR = "mirror"


@dataclass(frozen=True)
class Request:
    door: str
    name: str
    """The method at a node (`submitMessage`), the path with its query at the mirror."""
    answer: str
    """A response code's name at a node, an HTTP status at the mirror; `cut` and `silence` where none was given."""
    at: float = field(default_factory=time.monotonic)


class Traffic(list[Request]):
    """All of them in the order of their answers."""

    def at(self, door: str, name: str = "") -> list[Request]:
        """Those at one door whose name begins like this."""
        return [request for request in self if request.door == door and request.name.startswith(name)]

    def busiest(self, door: str, seconds: float = 1.0) -> int:
        """The most that came to a door within so many seconds."""
        times = sorted(request.at for request in self if request.door == door)
        first = most = 0
        for last, time_of in enumerate(times):
            while time_of - times[first] >= seconds:
                first += 1
            most = max(most, last - first + 1)
        return most

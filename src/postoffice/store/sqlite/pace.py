"""Whether the disk is quick: then an act that comes alone, or a short read, is done on the loop's own thread, which saves two changes of thread."""

_STAND_SECONDS = 0.002
"""How long the loop may stand still: a disk that took longer once is not quick."""
_QUICK_TIMES = 8
"""Times in a row, each no longer than that, that show it to be quick."""


class Pace:
    """What the latest commits took, or the latest reads."""

    def __init__(self) -> None:
        self._quick = 0

    @property
    def quick(self) -> bool:
        """Whether the next may be expected to take no time worth mentioning."""
        return self._quick >= _QUICK_TIMES

    def note(self, seconds: float, acts: int) -> None:
        """Note how long a group of so many took. The time of a large group says nothing about the disk."""
        if seconds < _STAND_SECONDS:
            self._quick += 1
        elif acts == 1:
            self._quick = 0

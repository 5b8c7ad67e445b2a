"""Whether the disk is quick: then an act that comes alone is done on the loop's own thread, which saves two changes of thread."""

_STAND_SECONDS = 0.002
"""What the loop may stand still for: a disk that once took longer is not quick."""
_QUICK_COMMITS = 8
"""Commits in a row, each within that time, that show it to be quick."""


class Pace:
    """What the latest commits took."""

    def __init__(self) -> None:
        self._quick = 0

    @property
    def quick(self) -> bool:
        """Whether the next commit may be expected to take no time worth mentioning."""
        return self._quick >= _QUICK_COMMITS

    def note(self, seconds: float, acts: int) -> None:
        """A group was committed. How long a large one took says nothing of the disk."""
        if seconds < _STAND_SECONDS:
            self._quick += 1
        elif acts == 1:
            self._quick = 0

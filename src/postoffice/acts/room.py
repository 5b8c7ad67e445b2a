"""Room for what grows: it is refused in time, so that what is there can still be taken and settled."""

from postoffice.core.errors import DiskFull

_COPIES = 2  # of what is written: in the log, and in its table
_PAGE_BYTES = 8 << 10  # bytes that an act writes besides, of rows and indexes


class Room:
    """How many more bytes may be written; None where nobody knows of a bound."""

    def __init__(self, left: int | None = None, refusal: DiskFull | None = None) -> None:
        self.left = left
        self.taken = False
        self._refusal = refusal

    def go_on(self, size: int) -> None:
        """The next group begins, which may write so much without asking for it."""
        self.taken = False
        if self.left is not None:
            self.left -= size

    def take(self, size: int = 0) -> None:
        """Have room for something of that size, or refuse it. Asked before anything is changed."""
        self.taken = True
        if self.left is None:
            return
        needed = size * _COPIES + _PAGE_BYTES
        if needed > self.left:
            raise self._refusal or DiskFull()
        self.left -= needed

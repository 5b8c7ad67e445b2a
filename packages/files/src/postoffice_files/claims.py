"""Who has a message for now.

A claim is a file `claims/<message>.<number>` that only one can make: whoever makes number n + 1 after number n ran out has the message, and
nobody else can. There is no lock to be left behind, and nothing to repair after a kill: the claim runs out. Claims are removed only after
their message has left the inbox, so an old view of the folder can never make a number that was already used. The last one removed stays as
`claims/.spare`, and the next is made of it: should anybody still be reading the old one, its message has left. They are not synced to disk:
a power cut ends every poller, so a claim it loses held nothing any more.
"""

from dataclasses import dataclass

from postoffice_files import jsontext
from postoffice_files.clock import SECOND, Clock
from postoffice_files.errors import Unreadable
from postoffice_files.folder import Folder

_LONGEST_CLAIM_MICROS = 12 * 3600 * SECOND
"""A claim that says it lasts longer was made by a clock that has been set back since."""
_MAX_BYTES = 4096
_SPARE = ".spare"
_CLAIM_BYTES = 128
"""All are of one length, so that one can be written over another."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim on one message."""

    number: int
    until: int
    """Microseconds since the epoch."""
    attempt: int
    """How often the message has been handed out, this time included."""
    of: str
    """The print of the file that was claimed: another file under the same name is another message."""

    def covers(self, print_: str, now: int) -> bool:
        """Whether the message is somebody's now."""
        return self.of in {print_, ""} and now < self.until <= now + _LONGEST_CLAIM_MICROS

    def tries(self, print_: str) -> int:
        """How often this very file has been handed out."""
        return self.attempt if self.of in {print_, ""} else 0


class Claims:
    """The claims on one inbox."""

    def __init__(self, folder: Folder, clock: Clock, default: float) -> None:
        self._folder = folder
        self._clock = clock
        self._default = int(default * SECOND)

    def numbers(self) -> dict[str, int]:
        """The highest claim on each message."""
        highest: dict[str, int] = {}
        for name in self._folder.names():
            handle, _, number = name.rpartition(".")
            if number.isascii() and number.isdigit() and not handle.startswith("."):
                highest[handle] = max(highest.get(handle, 0), int(number))
        return highest

    def read(self, handle: str, number: int) -> Claim | None:
        """A claim as it stands; None if there is no such claim."""
        name = _name(handle, number)
        try:
            data, _ = self._folder.read(name, _MAX_BYTES)
            match jsontext.decode(data):
                case {"until": int(until), "attempt": int(attempt), "of": str(of)}:
                    return Claim(number, until, attempt, of)
        except FileNotFoundError:
            return None
        except (Unreadable, jsontext.NotJson):
            pass
        # Its maker died, or has not come to writing yet: it lasts as long as any other, from when it was made.
        status = self._folder.lstat(name)
        return None if status is None else Claim(number, status.st_mtime_ns // 1000 + self._default, number, "")

    def take(self, handle: str, number: int, *, attempt: int, of: str, seconds: float) -> Claim | None:
        """Make a claim; None if somebody else was first."""
        claim = Claim(number, self._clock.now() + int(seconds * SECOND), attempt, of)
        try:
            self._folder.recreate(_name(handle, number), _spelt(claim), _SPARE, self._clock.token())
        except FileExistsError:
            return None
        return claim

    def change(self, handle: str, claim: Claim, *, until: int, attempt: int) -> Claim:
        """Make one's own claim longer or shorter."""
        changed = Claim(claim.number, until, attempt, claim.of)
        self._folder.publish(_name(handle, claim.number), _spelt(changed), self._clock.token(), sync=False)
        return changed

    def lost(self, handle: str, claim: Claim) -> bool:
        """Whether somebody has claimed the message since."""
        return self._folder.lstat(_name(handle, claim.number + 1)) is not None

    def clear(self, handle: str, highest: int) -> None:
        """Forget all claims on a message that has left the inbox."""
        # Downward, and no further than they reach: somebody may have left a file with any number there.
        for number in range(highest, 0, -1):
            try:
                self._folder.replace(_name(handle, number), _SPARE)
            except FileNotFoundError:
                return
            except OSError:
                continue  # it holds nothing any more, and is swept again

    def sweep(self, waiting: set[str], numbers: dict[str, int]) -> None:
        """Clear what a killed poller left behind. The numbers must be older than the list of what is waiting."""
        for handle in numbers.keys() - waiting:
            claim = self.read(handle, numbers[handle])
            if claim is not None and not claim.covers(claim.of, self._clock.now()):
                self.clear(handle, numbers[handle])


def _name(handle: str, number: int) -> str:
    return f"{handle}.{number}"


def _spelt(claim: Claim) -> bytes:
    return jsontext.encode({"until": claim.until, "attempt": claim.attempt, "of": claim.of}).ljust(_CLAIM_BYTES)

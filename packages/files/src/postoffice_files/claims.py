"""Who has a message for now.

A claim is a file `claims/<message>.<number>` that only one process can make. The one that makes number n + 1 after number n ran out has the
message. There is no lock to leave behind and nothing to repair after a kill: the claim runs out. Claims are removed only after
their message has left the inbox, so an outdated list of the folder can never lead to a number that was used. The last removed claim stays as
`claims/.spare`, and the next is made from it; the message of the old one has left, even if somebody still reads it. Claims are not synced:
a power cut ends every poller, so a claim lost by it held nothing any more.
"""

from dataclasses import dataclass

from postoffice_files import jsontext
from postoffice_files.clock import SECOND, Clock
from postoffice_files.errors import Unreadable
from postoffice_files.folder import Folder

_LONGEST_CLAIM_MICROS = 12 * 3600 * SECOND
"""The longest claim. One that lasts longer was made before a clock was set back."""
_MAX_BYTES = 4096
_SPARE = ".spare"
_CLAIM_BYTES = 128
"""All claims have one length, so that one can be written over another."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One claim on one message."""

    number: int
    until: int
    """Microseconds since the epoch."""
    attempt: int
    """How often the message has been handed out, including this time."""
    of: str
    """Identifies the claimed file: another file under the same name is another message."""

    def covers(self, print_: str, now: int) -> bool:
        """Whether somebody has the message now."""
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
        """A claim's present content; None if there is no such claim."""
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
        # Its maker died, or has not written yet: it lasts as long as any other, counted from when it was made.
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
        """Make our own claim longer or shorter."""
        changed = Claim(claim.number, until, attempt, claim.of)
        self._folder.publish(_name(handle, claim.number), _spelt(changed), self._clock.token(), sync=False)
        return changed

    def lost(self, handle: str, claim: Claim) -> bool:
        """Whether somebody else has claimed the message since."""
        return self._folder.lstat(_name(handle, claim.number + 1)) is not None

    def clear(self, handle: str, highest: int) -> None:
        """Forget all claims on a message that has left the inbox."""
        # Count down only as far as claims go, as somebody may have left a file with any number there.
        for number in range(highest, 0, -1):
            try:
                self._folder.replace(_name(handle, number), _SPARE)
            except FileNotFoundError:
                return
            except OSError:
                continue  # it holds nothing, and the next sweep tries again

    def sweep(self, waiting: set[str], numbers: dict[str, int]) -> None:
        """Remove the claims a killed poller left. The numbers must have been read before the list of waiting messages."""
        for handle in numbers.keys() - waiting:
            claim = self.read(handle, numbers[handle])
            if claim is not None and not claim.covers(claim.of, self._clock.now()):
                self.clear(handle, numbers[handle])


def _name(handle: str, number: int) -> str:
    return f"{handle}.{number}"


def _spelt(claim: Claim) -> bytes:
    return jsontext.encode({"until": claim.until, "attempt": claim.attempt, "of": claim.of}).ljust(_CLAIM_BYTES)

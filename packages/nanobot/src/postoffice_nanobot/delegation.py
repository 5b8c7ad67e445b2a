"""What this agent has asked of others. It is kept on disk until it is answered, so that the answer gets into the right conversation."""

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from postoffice_files import Clock, FileMailError, disk
from postoffice_nanobot.place import Place

_KEPT_SECONDS = 30 * 24 * 3600
"""In seconds. Delegations without an answer by then are forgotten."""
_MAX_BYTES = 4 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Delegation:
    """One thing asked of another agent."""

    id: str
    """The message's id, and the task's."""
    to: str
    place: Place
    """The conversation that asked."""
    message: dict[str, Any]
    at: int
    """When it was sent, in microseconds. With the id, this makes sending it again harmless."""
    forward_of: str | None = None
    """The file of the mail that it passes on."""
    parent: str | None = None
    """The file of the mail whose answer waits for this one."""
    ttl: int = 0
    """How many more delegations may follow from its answer, one after another."""
    sent: bool = False


class Delegations:
    """Delegations as files in the agent's own folder, which nobody else uses."""

    def __init__(self, folder: Path, clock: Clock) -> None:
        self._folder = folder
        self._clock = clock

    def keep(self, delegation: Delegation) -> None:
        """Write one down before it is sent, so that no answer comes to an unknown delegation."""
        disk.folder(self._folder)
        disk.publish(self._path(delegation.id), json.dumps(asdict(delegation)).encode(), self._clock.token())

    def find(self, *ids: object) -> Delegation | None:
        """The delegation with one of these ids."""
        candidates = (self._read(self._path(id)) for id in ids if isinstance(id, str))
        return next((one for one in candidates if one is not None), None)

    def all(self) -> Iterator[Delegation]:
        """All delegations that are not answered yet."""
        for path in sorted(self._folder.glob("*.json")):
            if (delegation := self._read(path)) is not None:
                yield delegation

    def close(self, id: str) -> None:
        """Delete one that is answered."""
        self._path(id).unlink(missing_ok=True)

    def sweep(self) -> None:
        """Forget those that have waited too long."""
        for path in self._folder.glob("*.json"):
            if time.time() - path.stat().st_mtime > _KEPT_SECONDS:
                path.unlink(missing_ok=True)

    def _path(self, id: str) -> Path:
        return self._folder / f"{hashlib.sha256(id.encode()).hexdigest()[:32]}.json"

    def _read(self, path: Path) -> Delegation | None:
        try:
            fields = json.loads(disk.read(path, _MAX_BYTES)[0])
            return Delegation(**{**fields, "place": Place(**fields["place"])})
        except (FileNotFoundError, FileMailError, ValueError, TypeError, KeyError):
            return None

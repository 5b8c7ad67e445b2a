"""A window: a place where an agent's client is open right now, and the names that windows get by themselves."""

import re
import unicodedata
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

import msgspec
from msgspec import UNSET, UnsetType

from postoffice.core.errors import MailError
from postoffice.core.names import check_free, folded, poses

LEASE: Final = timedelta(seconds=15)
"""A window that is not renewed for so long is closed."""
WINDOWS: Final = "windows:"
"""The hint that windows were opened, closed or changed. No name has a colon in it."""
TRIED_AT_ONCE: Final = 32
"""Names of one folder that are looked at together."""
_NAME_CHARACTERS = 90  # characters of a name that is made here: a number still fits behind it
_FALLBACK = "window"
_OTHER = re.compile(r"[^A-Za-z0-9._-]+", re.ASCII)


class Ring(StrEnum):
    """By which way a window can be woken, as far as others need to know. How that is done is its machine's business."""

    SOCKET = "socket"
    HOOK = "hook"
    QUEUE = "queue"
    PLUGIN = "plugin"
    KEYS = "keys"
    """Keys are pressed for it in its terminal."""
    TURN_END = "turn-end"
    """It hears of mail at the end of its next turn: idle it cannot be woken."""
    NONE = "none"


class WindowState(StrEnum):
    """Whether its agent is at a turn, or a person at its keys."""

    BUSY = "busy"
    IDLE = "idle"


class Place(msgspec.Struct, frozen=True):
    """The process that a window is, told apart from one that had its number before."""

    machine: str
    process: int
    started: str

    @property
    def key(self) -> tuple[str, str]:
        """Under which its name is remembered, beside those of clients' sessions, whose client is never empty."""
        return "", f"{self.machine}/{self.process}/{self.started}"


class PublicWindow(msgspec.Struct, frozen=True, kw_only=True):
    """What everybody may see of an open window."""

    id: str
    agent: str
    client: str
    ring: Ring
    state: WindowState
    state_since: datetime
    since: datetime
    last_sign: datetime
    shared: bool


class Window(PublicWindow, frozen=True, kw_only=True):
    """An open window, and where it stands."""

    session: str | None
    process: int
    started: str
    folder: str
    machine: str


class Opening(msgspec.Struct, frozen=True, kw_only=True):
    """What a window says of itself when it opens."""

    client: str
    place: Place
    folder: str
    session: str | None = None
    agent: str | None = None
    """The name that a person said, where one did."""
    shared: bool = False
    ring: Ring = Ring.NONE


class Opened(msgspec.Struct, frozen=True, kw_only=True):
    """What a window is told when it has opened."""

    id: str
    agent: str
    new: bool
    """Nobody had this name before."""
    resumed: bool
    """The session, or the process, has its own name back."""
    was: str | None
    """The name it had before, where another window has that now."""
    known: bool
    """The window was open already."""
    waiting: int
    """How much mail waits there."""


class Renewed(msgspec.Struct, frozen=True, kw_only=True):
    """What a window is told when it shows that it is still open. Its name may have changed since it was told last."""

    id: str
    agent: str
    ring: Ring
    state: WindowState
    waiting: int
    roles: dict[str, int] | UnsetType = UNSET
    """The roles that its agent is in, if any, and how much waits in each."""


class Ended(msgspec.Struct, frozen=True, kw_only=True):
    """A window that is closed."""

    id: str
    agent: str
    returned: int
    """What it had in hand, which waits again."""


def name_of_folder(folder: str) -> str:
    """A legal name that nobody else means, made of a folder's own."""
    last = re.split(r"[/\\]+", folder.rstrip("/\\"))[-1]
    plain = unicodedata.normalize("NFKD", last).encode("ascii", "ignore").decode()
    name = folded(_OTHER.sub("-", plain).strip("._-"))[:_NAME_CHARACTERS].rstrip("._-") or _FALLBACK
    try:
        return f"{_FALLBACK}-{name}" if poses(name) else check_free(name)
    except MailError:  # a reserved word, a device, an account
        return f"{_FALLBACK}-{name}"


def names_in_turn(base: str, begin: int = 0) -> tuple[str, ...]:
    """Some names made of one, the lowest first: `shop`, `shop-2`, `shop-3`."""
    first = folded(base)[:_NAME_CHARACTERS]
    return tuple(folded(base) if n == 0 else f"{first}-{n + 1}" for n in range(begin, begin + TRIED_AT_ONCE))

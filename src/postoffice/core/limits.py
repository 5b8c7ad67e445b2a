"""The numbers the office goes by, each with its default."""

from collections.abc import Collection
from datetime import timedelta
from typing import Annotated, Any, TypeVar

import msgspec

from postoffice.core.errors import BadLimit, BadSetting

T = TypeVar("T", int, timedelta)
_LARGEST_INTEGER = 2**31 - 1
Count = Annotated[int, msgspec.Meta(ge=1, le=_LARGEST_INTEGER)]
Bytes = Annotated[int, msgspec.Meta(ge=0, le=2**63 - 1)]
CountOrNone = Annotated[int, msgspec.Meta(ge=0, le=_LARGEST_INTEGER)]
LONGEST = timedelta(days=36_525)
"""No duration is longer than a hundred years: what comes after it is still a date."""
MAY_BE_NONE = frozenset({"wait", "wait_most", "key_overlap", "notify_pause"})
"""Durations that may be none at all."""
# What the office's own clients ask for, whatever the settings: a lease of half a minute, and five minutes' rest for what failed.
_LEASE, _REST = timedelta(seconds=30), timedelta(minutes=5)
# A default lies within the bounds of what a caller may ask for.
_WITHIN = {
    "visibility": ("visibility_least", "visibility_most"),
    "wait": (None, "wait_most"),
    "receive": (None, "batch"),
    "page": (None, "page_most"),
    "ttl": (None, "ttl_most"),
}


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """What is allowed and how long things last."""

    visibility: timedelta = timedelta(seconds=30)
    visibility_least: timedelta = timedelta(seconds=1)
    visibility_most: timedelta = timedelta(hours=12)
    max_attempts: Count = 10
    depth: Count = 10_000
    message_bytes: Count = 1 << 20
    mailbox_bytes: Bytes = 256 << 20  # 0: no limit
    subject_chars: Count = 255
    id_chars: Annotated[int, msgspec.Meta(ge=64, le=_LARGEST_INTEGER)] = 255  # no less: the office's own ids and cursors are nearly as long
    recipients: Count = 1_000
    batch: Count = 100
    receive: Count = 10
    wait: timedelta = timedelta(seconds=25)
    wait_most: timedelta = timedelta(seconds=240)
    page: Count = 50
    page_most: Annotated[int, msgspec.Meta(ge=200, le=_LARGEST_INTEGER)] = 200  # no less: the doors themselves ask for as many
    priority: Annotated[int, msgspec.Meta(ge=1, le=5)] = 3
    ttl: CountOrNone = 3
    ttl_most: CountOrNone = 10
    automatic_replies: CountOrNone = 100
    talk_asked: CountOrNone = 40  # letters of models to and fro in a session within an hour, at which the owner is asked; 0: never
    talk_held: CountOrNone = 100  # at which the session is held; 0: never
    notify_pause: timedelta = timedelta(minutes=5)  # between two words to one notify address
    answer_link_life: timedelta = timedelta(days=3)
    heartbeat_timeout: timedelta = timedelta(seconds=60)
    role_stay: timedelta = timedelta(hours=1)  # how long a session of a role stays with whoever took of it last
    code_life: timedelta = timedelta(hours=1)
    pending_requests: CountOrNone = 20
    wrong_codes_in_a_row: Count = 5
    wrong_codes_per_hour: Count = 10
    note_chars: Annotated[int, msgspec.Meta(ge=500, le=_LARGEST_INTEGER)] = 500  # no less: the office's own clients say why in as many
    dedupe_for: timedelta = timedelta(days=30)
    waits: Count = 1_000  # that one agent keeps open: long waits, sockets, pages
    keys: Count = 200
    lists: Count = 100  # that one agent keeps
    list_members: Count = 10_000
    key_overlap: timedelta = timedelta(hours=24)
    retention: timedelta | None = None  # None keeps everything
    sends_per_minute: CountOrNone | None = None  # None: no limit
    registrations_per_hour: CountOrNone | None = None
    sent_bytes_per_minute: Bytes | None = None
    disk_reserve: Bytes = 32 << 20  # of SQLite's disk, for what has to go on when it is full
    attachment_bytes: Bytes = 1 << 30  # of one attachment
    attachments_per_letter: CountOrNone = 100
    attachment_quota: Bytes = 10 << 30  # that one agent keeps: what it uploaded, and what its letters carry; 0: no limit
    upload_life: timedelta = timedelta(days=1)  # without a letter, or without more of it coming
    total_bytes: Bytes = 0  # that all mail may take; 0: as much as the disk has


def agreeing(limits: Limits, chosen: Collection[str]) -> Limits:
    """Limits that do not contradict each other: a default follows the bounds that were chosen, and a chosen number has to fit them."""
    if limits.visibility_least > _LEASE:
        raise BadSetting(name="visibility_least", why=f"it is more than {_LEASE.seconds} seconds, which runners and the SDK ask for")
    if limits.visibility_most < _REST:
        raise BadSetting(name="visibility_most", why=f"it is less than {_REST.seconds} seconds, for which runners put off what failed")
    for name, (lowest, highest) in _WITHIN.items():
        value: Any = getattr(limits, name)
        least = value if lowest is None else getattr(limits, lowest)
        most = getattr(limits, highest)
        bent = min(max(value, least), most)
        if bent != value and name in chosen:
            raise BadSetting(name=name, why=f"it is {'less than ' + str(lowest) if bent > value else 'more than ' + highest}")
        limits = msgspec.structs.replace(limits, **{name: bent})
    return limits


def bounded(what: str, value: T | None, default: T, least: T, most: T) -> T:
    """The value, or the default if none was given. A value out of bounds is refused, and never changed to fit."""
    if value is None:
        return default
    if not least <= value <= most:
        raise BadLimit(what=what, least=_shown(least), most=_shown(most), value=_shown(value))
    return value


def _shown(value: T) -> str:
    """A number as a caller writes it; a duration with its unit, which callers write in seconds."""
    return f"{value.total_seconds():.15g} seconds" if isinstance(value, timedelta) else str(value)

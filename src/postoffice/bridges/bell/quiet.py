"""Quiet hours: when an agent's windows are not rung, because a person said so."""

from contextlib import suppress
from datetime import datetime, time
from functools import cache
from pathlib import Path

import msgspec
from platformdirs import user_config_path

from postoffice.bridges.bell.glance import glance
from postoffice.core.names import folded
from postoffice.core.quiet import within


class Quiet(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One agent's quiet hours."""

    until: datetime | None = None
    """Once, until then."""
    from_hour: time | None = None
    to_hour: time | None = None
    """Each day between these."""

    def holds(self, now: datetime) -> bool:
        """Whether it is quiet now."""
        if self.until is not None and now < self.until:
            return True
        if self.from_hour is None or self.to_hour is None:
            return False
        return within(self.from_hour, self.to_hour, now.astimezone())


def is_quiet(agent: str) -> bool:
    """Whether this agent must not be rung now."""
    return any(quiet.holds(datetime.now().astimezone()) for name, quiet in kept().items() if name in (folded(agent), ""))


def kept() -> dict[str, Quiet]:
    """All quiet hours, by agent; an empty name means everybody."""
    return glance(_path(), _parse) or {}


def keep(agent: str, quiet: Quiet | None) -> None:
    """Set an agent's quiet hours, or end them."""
    wishes = {name: one for name, one in kept().items() if name != folded(agent)}
    if quiet is not None:
        wishes[folded(agent)] = quiet
    _path().parent.mkdir(parents=True, exist_ok=True)
    _path().write_bytes(msgspec.json.format(msgspec.json.encode(wishes)) + b"\n")


def _parse(content: bytes) -> dict[str, Quiet]:
    with suppress(msgspec.DecodeError, msgspec.ValidationError):
        return msgspec.json.decode(content, type=dict[str, Quiet])
    return {}


@cache
def _path() -> Path:
    return user_config_path("postoffice") / "quiet.json"

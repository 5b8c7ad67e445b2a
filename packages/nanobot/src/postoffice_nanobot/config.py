"""The section `channels.mailbox` of nanobot's configuration, in one frozen object."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from postoffice_files import DEFAULT_ROOT

_LONGEST_POLL_SECONDS = 30.0
"""In seconds. Every poll is a heartbeat, and an agent that is silent for a minute counts as offline."""


class BadConfig(ValueError):
    """The section has an impossible value."""

    def __init__(self, *, setting: str, why: str) -> None:
        super().__init__(f"channels.mailbox.{setting}: {why}")


@dataclass(frozen=True, slots=True)
class MailboxConfig:
    """The name and card of this agent, and how it works with others."""

    enabled: bool = False
    agent_id: str = ""
    description: str = ""
    capabilities: tuple[str, ...] = ()
    allow_from: tuple[str, ...] = ("*",)
    max_concurrent_tasks: int = 3
    poll_interval: float = 5.0
    mailboxes_root: str = str(DEFAULT_ROOT)

    def card(self) -> dict[str, Any]:
        """The card for the registry."""
        return {
            "agent_id": self.agent_id,
            "description": self.description,
            "capabilities": list(self.capabilities),
            "allow_from": list(self.allow_from),
            "max_concurrent_tasks": self.max_concurrent_tasks,
        }

    @classmethod
    def model_validate(cls, section: Mapping[str, Any]) -> Self:
        """Read the section. The name is that of a pydantic model's method, as in seed 002."""
        return cls(**_read(section))

    def model_dump(self, *, by_alias: bool = False) -> dict[str, Any]:
        """The section's values. The name is that of a pydantic model's method; `by_alias` gives nanobot's spelling."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        spell = _camel if by_alias else str
        return {spell(name): list(value) if isinstance(value, tuple) else value for name, value in values.items()}


def read_config(section: Mapping[str, Any] | MailboxConfig) -> MailboxConfig:
    """Read the section in camelCase or snake_case. Fields of nanobot itself, such as sendProgress, are ignored."""
    return section if isinstance(section, MailboxConfig) else MailboxConfig.model_validate(section)


def _read(section: Mapping[str, Any]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for field in fields(MailboxConfig):
        for spelling in (_camel(field.name), field.name):
            if section.get(spelling) is not None:
                values[field.name] = _READERS[field.type](spelling, section[spelling])
    if values.get("enabled") and not values.get("agent_id"):
        raise BadConfig(setting="agentId", why="give this agent the name under which others write to it")
    if values.get("max_concurrent_tasks", 0) < 0:
        raise BadConfig(setting="maxConcurrentTasks", why="it must be 0 or more")
    if not 0 < values.get("poll_interval", 1) <= _LONGEST_POLL_SECONDS:
        raise BadConfig(setting="pollInterval", why=f"it must be more than 0 and at most {_LONGEST_POLL_SECONDS:g} seconds")
    return values


def _flag(setting: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise BadConfig(setting=setting, why="it must be true or false")
    return value


def _text(setting: str, value: Any) -> str:
    if not isinstance(value, str):
        raise BadConfig(setting=setting, why="it must be a text")
    return value.strip()


def _texts(setting: str, value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(item, str) for item in value):
        raise BadConfig(setting=setting, why="it must be a list of texts")
    return tuple(value)


def _whole(setting: str, value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise BadConfig(setting=setting, why="it must be a whole number")
    return value


def _number(setting: str, value: Any) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        raise BadConfig(setting=setting, why="it must be a number")
    return float(value)


_READERS: dict[Any, Callable[[str, Any], Any]] = {bool: _flag, str: _text, tuple[str, ...]: _texts, int: _whole, float: _number}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)

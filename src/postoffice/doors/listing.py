"""An agent as others see it: what it can do, and whether it is present."""

from datetime import datetime
from typing import Any

import msgspec

from postoffice.core.agent import Agent, Presence, is_person
from postoffice.core.pause import Pause
from postoffice.core.profile import capability_codes
from postoffice.core.reach import Reach


class Listing(msgspec.Struct, frozen=True, kw_only=True):
    """An agent as others see it."""

    id: str
    name: str
    description: str
    capabilities: tuple[str, ...]
    capability_codes: tuple[int, ...]
    """The same capabilities as HCS-11's numbers."""
    presence: Presence
    current_tasks: int
    max_concurrent_tasks: int
    person: bool
    """Whether it is a person, who answers questions: the owner, or an agent that the owner marked so."""
    display_name: str | None
    model: str | None
    has_key: bool
    created_at: datetime
    last_seen: datetime | None
    reach: Reach | None
    """Whether it can take mail now."""
    paused: Pause | None
    """If its mail is held: since when, until when, by whom, and why in their words."""


def listing(agent: Agent) -> Listing:
    """An agent as the directory shows it."""
    return Listing(**public(agent))


def public(agent: Agent) -> dict[str, Any]:
    """The part of an agent that everybody may see."""
    card = agent.card
    return {
        "id": agent.id,
        "name": agent.name,
        "description": card.description,
        "capabilities": card.capabilities,
        "capability_codes": capability_codes(card),
        "presence": agent.presence,
        "current_tasks": len(agent.current_tasks),
        "max_concurrent_tasks": card.max_concurrent_tasks,
        "person": is_person(agent.name, card),
        "display_name": card.display_name,
        "model": card.model,
        "has_key": agent.has_key,
        "created_at": agent.created_at,
        "last_seen": agent.last_seen,
        "reach": agent.reach,
        "paused": agent.paused,
    }

"""A role: a mailbox that several agents take from. Each letter is taken by one of them."""

from collections.abc import Collection
from datetime import datetime
from typing import Final

import msgspec

from postoffice.core.agent import Card
from postoffice.core.names import ROLE, check_role, folded
from postoffice.core.reach import Reach, Way

ROLES: Final = "roles:"
"""The hint that roles were made, changed or deleted, or who is in them. No name has a colon in it."""
_ABLE: Final = frozenset({Way.WINDOW, Way.PROGRAM})


class Role(msgspec.Struct, frozen=True, kw_only=True):
    """A role as it is shown."""

    name: str
    """Its address, `role:reviewer`."""
    description: str = ""
    made_by: str
    created_at: datetime
    capability: str | None = None
    """Every agent whose card has it is in the role."""
    staff: tuple[str, ...] = ()
    """Who is in it now, by name or by that capability."""
    named: tuple[str, ...] = ()
    """Those of them who are in it by name."""
    allow_from: tuple[str, ...] = ()
    max_in_hand: int | None = None
    in_order: bool = False
    pending: int = 0
    leased: int = 0
    dead: int = 0
    reach: Reach | None = None
    """Whether somebody can take its mail now."""


class RoleHand(msgspec.Struct, frozen=True, kw_only=True):
    """What one agent of a role has in hand."""

    agent: str
    message_id: str


def address_of(name: str) -> str:
    """The address of a role, by it or by the name behind its colon."""
    return check_role(name if ":" in name else ROLE + name)


def has_capability(card: Card, capability: str | None) -> bool:
    """Whether a card has what puts its agent into a role."""
    return capability is not None and folded(capability) in map(folded, card.capabilities)


def reach_of_role(name: str, reaches: Collection[Reach]) -> Reach:
    """Whether somebody in a role can take its mail now, in words of ours alone."""
    if not reaches:
        return Reach(way=Way.OFFLINE, text=f"nobody is in {name}")
    able = [one for one in reaches if one.way in _ABLE]
    if able:
        return Reach(way=able[0].way, text=f"{len(able)} of {len(reaches)} can take it now")
    return Reach(way=Way.ASLEEP, text=f"none of the {len(reaches)} in it can take it now")

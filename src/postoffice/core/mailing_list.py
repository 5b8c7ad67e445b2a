"""A list: a name whose mail goes to its members, and who may write to it and join it."""

from datetime import datetime
from enum import StrEnum
from typing import Final

import msgspec

from postoffice.core.names import LIST_MARK, folded

MOST_DESCRIBED: Final = 500
"""Characters of a description."""
MOST_TOLD: Final = 20
"""Members of whom the answer to a letter tells one by one what became of it; the rest are counted."""
MOST_REFUSED_TOLD: Final = 100
"""Those who did not get it are told of first, and so many of them."""


class MayPost(StrEnum):
    """Who may write to a list, besides whoever keeps it."""

    MEMBERS = "members"
    ANYONE = "anyone"
    NAMED = "named"


class MayJoin(StrEnum):
    """Who may become a member by its own word."""

    ANYONE = "anyone"
    INVITED = "invited"
    OWNER = "owner"
    """Nobody: whoever keeps the list puts members on it."""


class Place(StrEnum):
    """Where an agent stands with a list."""

    MEMBER = "member"
    INVITED = "invited"
    LEFT = "left"


class ListRules(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What whoever keeps a list decides. What is not given stays as it is."""

    description: str | None = None
    who_may_post: MayPost | None = None
    who_may_join: MayJoin | None = None
    history: bool | None = None
    """Whether members who come later read what was said before."""
    posters: tuple[str, ...] | None = None
    """Who may write to it where that is `named`."""


class MailingList(msgspec.Struct, frozen=True, kw_only=True):
    """A list as agents may know it."""

    name: str
    session_id: str
    description: str
    owner: str
    who_may_post: MayPost
    who_may_join: MayJoin
    history: bool
    posters: tuple[str, ...]
    members: int
    letters: int
    created_at: datetime
    last_message_at: datetime | None
    you: Place | None = None
    """Where whoever asks stands with it."""
    unread: int = 0
    """Of whoever asks."""


class ListMember(msgspec.Struct, frozen=True, kw_only=True):
    """One who is on a list, or may come."""

    name: str
    place: Place
    added_by: str
    """Itself, if it joined."""
    since: datetime


class Added(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one who was put on a list, or was taken off it."""

    name: str
    place: Place | None
    detail: str | None = None
    """Why it is not what was asked for."""


class ToMembers(msgspec.Struct, frozen=True, kw_only=True):
    """How a letter went to a list, in numbers."""

    name: str
    session_id: str
    number: int | None
    """Its place in the list's session; nothing until it is delivered."""
    delivered: int
    refused: int


def shown(folded_name: str) -> str:
    """A list's name without its mark, for addresses."""
    return folded(folded_name).removeprefix(LIST_MARK)

"""Rows of lists as the desk holds them. They never leave the acts and the store."""

from typing import NamedTuple

from msgspec import Struct
from msgspec.json import Decoder

from postoffice.acts.rows import Row
from postoffice.core.clock import moment
from postoffice.core.mailing_list import MailingList, MayJoin, MayPost, Place

_names = Decoder(tuple[str, ...]).decode


class ListRow(Struct):
    """A list as stored, with the counts of its session. Names of agents are folded; those who may post are JSON."""

    id: str
    list: str
    name: str
    description: str
    owner: str
    who_may_post: str
    who_may_join: str
    history: bool
    posters: str
    members: int
    counted: int
    replies_left: int
    created_at: int
    last_at: int | None
    ended_at: int | None = None

    @classmethod
    def of(cls, row: Row) -> "ListRow":
        """A list as one query gives it: truths may be numbers."""
        found = cls(*row)
        found.history = bool(found.history)
        return found

    def may_write(self) -> tuple[str, ...]:
        """Who may write to it where that is said by name."""
        return _names(self.posters)


class OnList(NamedTuple):
    """Where a letter stands in a list's session; one that waits for its time has no number yet."""

    list_id: str
    number: int | None


class MemberRow(Struct):
    """One agent's place on a list, and which of its letters it may read besides those it got."""

    list_id: str
    agent: str
    place: str
    added_by: str
    since: int
    floor: int
    """No letter before this one is shown to it."""
    begins: int
    ends: int | None = None
    """The last one, once it has left."""

    @property
    def is_member(self) -> bool:
        """Whether what is written to the list goes to it."""
        return self.place == Place.MEMBER


class ListsOnDesk:
    """The lists that a group of acts works on."""

    def __init__(self) -> None:
        self.named: dict[str, ListRow] = {}
        self.by_id: dict[str, ListRow] = {}
        self.places: dict[tuple[str, str], MemberRow] = {}
        """By a list's id and an agent."""
        self.members: dict[str, dict[str, MemberRow]] = {}
        """All members, of lists that a letter goes to."""
        self.numbers: dict[str, int] = {}
        """Of letters that came to their members before: which place they took."""
        self.expired: set[str] = set()
        """Letters of which their sender was told that nobody took them in time."""

    def lay(self, row: ListRow) -> ListRow:
        """Lay a list on the desk. Loaded twice, it stays one row."""
        kept = self.by_id.setdefault(row.id, row)
        if kept.ended_at is None:
            self.named[kept.list] = kept
        return kept

    def lay_place(self, row: MemberRow) -> MemberRow:
        """The same of an agent's place on one."""
        return self.places.setdefault((row.list_id, row.agent), row)

    def lay_member(self, row: MemberRow) -> None:
        """One of all the members of a list."""
        self.members.setdefault(row.list_id, {})[row.agent] = self.lay_place(row)

    def keep_place(self, row: MemberRow) -> None:
        """An agent's place on a list is another one from now on."""
        self.places[row.list_id, row.agent] = row
        members = self.members.get(row.list_id)
        if members is not None and row.is_member:
            members[row.agent] = row
        elif members is not None:
            members.pop(row.agent, None)


def as_list(row: ListRow, owner: str, posters: tuple[str, ...], place: Place | None = None, unread: int = 0) -> MailingList:
    """A list as it may be shown, its agents by their names as they write them."""
    return MailingList(
        name=row.name,
        session_id=row.id,
        description=row.description,
        owner=owner,
        who_may_post=MayPost(row.who_may_post),
        who_may_join=MayJoin(row.who_may_join),
        history=row.history,
        posters=posters,
        members=row.members,
        letters=row.counted,
        created_at=moment(row.created_at),
        last_message_at=None if row.last_at is None else moment(row.last_at),
        you=place,
        unread=unread,
    )

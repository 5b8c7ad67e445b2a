"""Lists are made, changed and ended by whoever keeps them."""

import msgspec

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.lists.places import list_of, write_list, write_place
from postoffice.acts.lists.rows import ListRow, MemberRow, as_list
from postoffice.acts.needs import Needs
from postoffice.core.errors import ListTaken, NotYourList, TooManyLists
from postoffice.core.event import Kind
from postoffice.core.mailing_list import ListRules, MailingList, MayJoin, MayPost, Place
from postoffice.core.names import OWNER, folded

_encode = msgspec.json.Encoder().encode


class MakeList(Act[MailingList]):
    """Make a list. Whoever makes it keeps it, and is its first member."""

    def __init__(self, agent: str, name: str, rules: ListRules) -> None:
        self.agent = folded(agent)
        self.name = name
        self.rules = rules

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.agent)
        needs.lists.add(folded(self.name))
        needs.extra[self._kept] = (self.agent,)

    @property
    def _kept(self) -> str:
        return f"count_lists:{self.agent}"

    def run(self, desk: Desk) -> MailingList:
        box = desk.boxes[self.agent]
        there = desk.lists.named.get(folded(self.name))
        if there is not None:
            raise ListTaken(name=there.name)
        ((count,),) = desk.extra[self._kept]
        if count >= desk.limits.lists and self.agent != OWNER:
            raise TooManyLists(agent=box.name, count=count, limit=desk.limits.lists)
        desk.room.take()
        row = ListRow(
            id=desk.clock.new_id(),
            list=folded(self.name),
            name=self.name,
            description="",
            owner=self.agent,
            who_may_post=MayPost.MEMBERS,
            who_may_join=MayJoin.INVITED,
            history=False,
            posters="[]",
            members=1,
            counted=0,
            replies_left=desk.limits.automatic_replies,
            created_at=desk.now,
            last_at=None,
        )
        apply(row, self.rules)
        desk.extra[self._kept] = [(count + 1,)]
        desk.lists.lay(row)
        write_list(desk, row)
        write_place(desk, MemberRow(row.id, self.agent, Place.MEMBER, self.agent, desk.now, floor=1, begins=1))
        desk.tell(box, Kind.LIST, row.name, {"change": "made"})
        return as_list(row, box.name, row.may_write(), Place.MEMBER)


class ChangeList(Act[MailingList]):
    """Change what a list is for, or who may write to it or join it. Who is on it hears so, as it may let in others than before."""

    def __init__(self, agent: str, name: str, rules: ListRules) -> None:
        self.agent = folded(agent)
        self.list = folded(name)
        self.rules = rules

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.agent)
        needs.lists.add(self.list)
        needs.crowds.add(self.list)

    def run(self, desk: Desk) -> MailingList:
        row = list_of(desk, self.list)
        check_keeper(desk, row, self.agent, "change it")
        desk.room.take()
        apply(row, self.rules)
        write_list(desk, row)
        for agent in desk.lists.members[row.id]:
            desk.tell(desk.boxes[agent], Kind.LIST, row.name, {"change": "changed", "by": desk.boxes[self.agent].name})
        place = desk.lists.places.get((row.id, self.agent))
        return as_list(row, desk.boxes[row.owner].name, row.may_write(), None if place is None else Place(place.place))


class EndList(Act[MailingList]):
    """End a list. What was written to it stays with those who got it; its name is free."""

    def __init__(self, agent: str, name: str) -> None:
        self.agent = folded(agent)
        self.list = folded(name)

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.agent)
        needs.lists.add(self.list)
        needs.crowds.add(self.list)

    def run(self, desk: Desk) -> MailingList:
        row = list_of(desk, self.list)
        check_keeper(desk, row, self.agent, "delete it")
        for place in list(desk.lists.members[row.id].values()):
            write_place(desk, leaving(place, row, desk.now))
            desk.tell(desk.boxes[place.agent], Kind.LIST, row.name, {"change": "deleted", "by": desk.boxes[self.agent].name})
        row.ended_at, row.members = desk.now, 0
        del desk.lists.named[row.list]
        write_list(desk, row)
        return as_list(row, desk.boxes[row.owner].name, row.may_write())


def check_keeper(desk: Desk, row: ListRow, agent: str, what: str) -> None:
    """Refuse everybody but whoever keeps the list, and the owner of the office."""
    if agent not in (row.owner, OWNER):
        raise NotYourList(name=row.name, owner=desk.boxes[row.owner].name, what=what)


def apply(row: ListRow, rules: ListRules) -> None:
    """What is given is so from now on."""
    for field in ("description", "who_may_post", "who_may_join", "history"):
        if (value := getattr(rules, field)) is not None:
            setattr(row, field, value)
    if rules.posters is not None:
        row.posters = _encode(rules.posters).decode()


def leaving(place: MemberRow, row: ListRow, now: int) -> MemberRow:
    """A member's place once it has left: it keeps what it got, and sees nothing later."""
    return msgspec.structs.replace(place, place=str(Place.LEFT), since=now, ends=row.counted)

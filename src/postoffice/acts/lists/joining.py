"""Agents come to lists and leave them: by their own word, or by that of whoever keeps the list."""

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.lists.keeping import check_keeper, leaving
from postoffice.acts.lists.places import is_on, list_of, write_list, write_place
from postoffice.acts.lists.rows import ListRow, MemberRow
from postoffice.acts.needs import Needs
from postoffice.acts.people.agents import box_of
from postoffice.acts.rows import Box
from postoffice.core.errors import ListFull, MayNotJoin, NotOnList
from postoffice.core.event import Kind
from postoffice.core.mailing_list import Added, MayJoin, Place
from postoffice.core.names import OWNER, folded
from postoffice.core.policy import admitted
from postoffice.core.session import pair


class _AboutOne(Act[Added]):
    """Something about one agent's place on one list."""

    def __init__(self, by: str, name: str, agent: str) -> None:
        self.by = folded(by)
        self.list = folded(name)
        self.agent = folded(agent)

    def ask(self, needs: Needs) -> None:
        needs.boxes.update((self.by, self.agent))
        needs.agents = True
        needs.lists.add(self.list)
        needs.list_places.update((self.list, agent) for agent in (self.by, self.agent))

    def place(self, desk: Desk, row: ListRow) -> MemberRow | None:
        """Where the agent stands with the list."""
        return desk.lists.places.get((row.id, self.agent))


class Join(_AboutOne):
    """Become a member by one's own word. Said again, it stays so."""

    def __init__(self, agent: str, name: str) -> None:
        super().__init__(agent, name, agent)

    def run(self, desk: Desk) -> Added:
        row, box = list_of(desk, self.list), desk.boxes[self.agent]
        place = self.place(desk, row)
        invited = place is not None and place.place == Place.INVITED
        is_member = place is not None and place.is_member
        free = row.who_may_join == MayJoin.ANYONE or self.agent in (OWNER, row.owner) or invited or is_member
        if not free:
            raise MayNotJoin(agent=box.name, name=row.name, owner=desk.boxes[row.owner].name)
        come(desk, row, box, self.agent, place)
        return Added(name=box.name, place=Place.MEMBER)


class Add(_AboutOne):
    """Put an agent on a list. If it lets whoever does so write to it, it is a member; if not, it is invited and has to join itself."""

    def ask_more(self, needs: Needs, desk: Desk) -> None:  # noqa: ARG002 - as every act is asked
        needs.pairs.add(pair(self.by, self.agent))

    def run(self, desk: Desk) -> Added:
        row, box = list_of(desk, self.list), box_of(desk, self.agent)
        if row.who_may_join == MayJoin.OWNER or not is_on(desk, row, self.by):
            check_keeper(desk, row, self.by, "put others on it")
        place = self.place(desk, row)
        if place is not None and place.is_member:
            return Added(name=box.name, place=Place.MEMBER)
        connected = pair(self.by, self.agent) in desk.connected
        if self.by in (OWNER, self.agent) or admitted(self.by, self.agent, box.card.allow_from, connected=connected):
            come(desk, row, box, self.by, place)
            return Added(name=box.name, place=Place.MEMBER)
        desk.room.take()
        if place is None or place.place != Place.INVITED:
            write_place(desk, _placed(desk, row, place, self.agent, Place.INVITED, self.by))
        return Added(
            name=box.name, place=Place.INVITED, detail=f"{box.name} takes no mail from {desk.boxes[self.by].name}: it has to join itself"
        )


class Leave(_AboutOne):
    """Leave a list, or be taken off it. What came before is kept, and nothing later is seen."""

    def run(self, desk: Desk) -> Added:
        row = list_of(desk, self.list)
        if self.by != self.agent:
            check_keeper(desk, row, self.by, "take others off it")
        place, box = self.place(desk, row), desk.boxes.get(self.agent)
        if place is None or box is None or place.place == Place.LEFT:
            raise NotOnList(agent=self.agent if box is None else box.name, name=row.name)
        if place.is_member:
            row.members -= 1
            write_list(desk, row)
        write_place(desk, leaving(place, row, desk.now))
        _tell(desk, row, box, "left", self.by)
        return Added(name=box.name, place=Place.LEFT)


def come(desk: Desk, row: ListRow, box: Box, by: str, place: MemberRow | None) -> None:
    """Be a member from now on. Who joins itself consents to the list, also where another put it there before."""
    if place is not None and place.is_member:
        if by == box.agent and place.added_by != by:
            place.added_by = by
            write_place(desk, place)
        return
    if row.members >= desk.limits.list_members:
        raise ListFull(name=row.name, count=row.members, limit=desk.limits.list_members)
    desk.room.take()
    row.members += 1
    write_list(desk, row)
    readable = (row.last_at or 0) if row.history else 0
    write_place(desk, _placed(desk, row, place, box.agent, Place.MEMBER, by), readable)
    _tell(desk, row, box, "joined", by)


def _placed(desk: Desk, row: ListRow, before: MemberRow | None, agent: str, place: Place, by: str) -> MemberRow:
    """Its place from now on. Whoever comes again still finds what it had got."""
    begins = 1 if row.history else row.counted + 1
    if before is not None and place is Place.INVITED:
        return MemberRow(row.id, agent, str(place), by, desk.now, before.floor, before.begins, before.ends)
    floor = begins if before is None else min(before.floor, begins)
    return MemberRow(row.id, agent, str(place), by, desk.now, floor, begins, 0 if place is Place.INVITED else None)


def _tell(desk: Desk, row: ListRow, box: Box, change: str, by: str) -> None:
    desk.tell(box, Kind.LIST, row.name, {"change": change, "by": desk.boxes[by].name})

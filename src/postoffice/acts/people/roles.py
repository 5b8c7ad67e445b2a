"""Roles are made, staffed, changed and deleted."""

from collections.abc import Collection

import msgspec
from msgspec import UNSET, UnsetType

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.expiry import take_back
from postoffice.acts.mail.moves import bury
from postoffice.acts.needs import Needs
from postoffice.acts.people.agents import box_of
from postoffice.acts.people.rows import RoleRow
from postoffice.acts.rows import MailKey
from postoffice.core.agent import Card
from postoffice.core.delivery import UNREAD, State
from postoffice.core.errors import NoSuchRole, NotAdmitted, NotItsMaker, RoleInUse, RoleTaken
from postoffice.core.names import SYSTEM, folded
from postoffice.core.policy import admitted
from postoffice.core.role import ROLES
from postoffice.core.session import pair

_WHY = "{name} is deleted"


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """How a role is to be. What is not said stays as it is."""

    card: dict[str, object] = {}
    capability: str | UnsetType | None = UNSET
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()


def ask_role(needs: Needs, role: str) -> None:
    """Have a role and who is in it by name."""
    needs.extra[f"role_of:{role}"] = (role,)


def role_row(desk: Desk, role: str) -> RoleRow | None:
    """A role as far as this group has come."""
    if role not in desk.roles:
        rows = desk.extra[f"role_of:{role}"]
        desk.roles[role] = RoleRow.of(role, rows) if rows else None
    return desk.roles[role]


class MakeRole(Act[None]):
    """A role is there from now on. Nobody is put into it whom its maker may not write to."""

    def __init__(self, maker: str, name: str, wanted: Wanted, *, owner: bool) -> None:
        self.maker = folded(maker)
        self.name = name
        self.role = folded(name)
        self.wanted = wanted
        self.owner = owner

    def ask(self, needs: Needs) -> None:
        _ask(needs, self.maker, self.role, self.wanted)

    def run(self, desk: Desk) -> None:
        box = desk.boxes.get(self.role)
        if role_row(desk, self.role) is not None:
            raise RoleTaken(name=self.name)
        _check_staff(desk, self.maker, self.wanted.add, owner=self.owner)
        desk.room.take()
        if box is None:
            box = desk.new_box(self.name, Card())
            desk.boxes[self.role] = box
            desk.new_agents.append(box)
        else:
            desk.remember(box)
        box.card = msgspec.structs.replace(Card(), **self.wanted.card)
        capability = None if self.wanted.capability is UNSET else self.wanted.capability
        row = desk.roles[self.role] = RoleRow(self.role, self.maker, capability, desk.now, set())
        _write(desk, row)
        _staff(desk, row, self.wanted.add)


class ChangeRole(Act[None]):
    """Change a role, and who is in it. Whoever is taken out loses what it has in hand there: that waits again. Anybody may leave."""

    def __init__(self, caller: str, role: str, wanted: Wanted, in_hand: Collection[str] = (), *, owner: bool) -> None:
        self.caller = folded(caller)
        self.name = role
        self.role = folded(role)
        self.wanted = wanted
        self.in_hand: list[MailKey] = [(id, self.role) for id in in_hand]
        """What those who are taken out have in hand."""
        self.owner = owner

    def ask(self, needs: Needs) -> None:
        _ask(needs, self.caller, self.role, self.wanted)
        needs.mail.update(dict.fromkeys(self.in_hand, True))
        needs.takes.update(self.in_hand)

    def run(self, desk: Desk) -> None:
        row = found(desk, self.role, self.name)
        leaves = self.wanted == Wanted(remove=(self.caller,))
        if not leaves:
            check_maker(desk, row, self.caller, "change it", owner=self.owner)
        _check_staff(desk, self.caller, self.wanted.add, owner=self.owner)
        desk.room.take()
        box = desk.boxes[self.role]
        if self.wanted.card:
            box.card = msgspec.structs.replace(box.card, **self.wanted.card)
            desk.changed_agents[self.role] = box
            desk.changed_boxes[self.role] = box
        if self.wanted.capability is not UNSET and self.wanted.capability != row.capability:
            row.capability = self.wanted.capability
            _write(desk, row)
            free_sessions(desk, self.role)
        _staff(desk, row, self.wanted.add)
        for agent in map(folded, self.wanted.remove):
            row.staff.discard(agent)
            desk.writes.get("put_role_staff", {}).pop((self.role, agent), None)
            desk.write("drop_role_staff", (self.role, agent), (self.role, agent))
            free_sessions(desk, self.role, agent)
            desk.hints.add(agent)
        for key in self.in_hand:
            mail = desk.mail.get(key)
            if mail is not None and mail.state == State.LEASED and desk.takes[key].agent not in row.staff:
                take_back(desk, mail)


class DropRole(Act[int | None]):
    """Delete a role. What waits there is dead, and its senders are told. None if more waits than was given."""

    def __init__(self, caller: str, role: str, waiting: Collection[str], *, owner: bool) -> None:
        self.caller = folded(caller)
        self.name = role
        self.role = folded(role)
        self.mail: list[MailKey] = [(id, self.role) for id in waiting]
        self.owner = owner

    def ask(self, needs: Needs) -> None:
        needs.boxes.update((self.caller, self.role, SYSTEM))
        needs.agents = True
        needs.bodies.update(self.mail)
        needs.mail.update(dict.fromkeys(self.mail, True))
        ask_role(needs, self.role)

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        needs.thread_keys.update((*pair(SYSTEM, row.sender), "") for row in desk.mail.values() if row.mailbox == self.role)

    def run(self, desk: Desk) -> int | None:
        row = found(desk, self.role, self.name)
        check_maker(desk, row, self.caller, "delete it", owner=self.owner)
        box = desk.boxes[self.role]
        if box.leased:
            raise RoleInUse(name=box.name, count=box.leased)
        rows = [one for key in self.mail if (one := desk.mail.get(key)) is not None and one.state in UNREAD]
        for one in rows:
            bury(desk, one, _WHY.format(name=box.name))
        if box.depth:
            return None
        box.forgotten = True
        desk.changed_agents[self.role] = box
        desk.roles[self.role] = None
        desk.writes.get("put_role", {}).pop(self.role, None)
        for statement in ("drop_role", "drop_all_role_staff", "free_role_sessions"):
            desk.write(statement, (self.role,), self.role)
        desk.hints.update((ROLES, *row.staff))
        return len(rows)


def found(desk: Desk, role: str, name: str) -> RoleRow:
    """A role that a verb names, which has to be there."""
    row = role_row(desk, role)
    if row is None:
        raise NoSuchRole(name=name)
    return row


def check_maker(desk: Desk, row: RoleRow, caller: str, what: str, *, owner: bool) -> None:
    """Refuse everybody but whoever made the role, and the owner."""
    if not owner and caller != row.made_by:
        raise NotItsMaker(maker=row.made_by, name=desk.boxes[row.agent].name, what=what)


def free_sessions(desk: Desk, role: str, agent: str | None = None) -> None:
    """The sessions of a role, or those that one of its agents has, are anybody's again."""
    for session, taker in list(desk.role_sessions.items()):
        if agent in (None, taker):
            desk.role_sessions.pop(session)
    if agent is None:
        desk.write("free_role_sessions", (role,), role)
    else:
        desk.write("free_sessions_of", (role, agent), (role, agent))


def _ask(needs: Needs, caller: str, role: str, wanted: Wanted) -> None:
    agents = {caller, *map(folded, (*wanted.add, *wanted.remove))}
    needs.boxes.update((role, *agents))
    needs.agents = True
    needs.pairs.update(pair(caller, agent) for agent in map(folded, wanted.add) if agent != caller)
    ask_role(needs, role)


def _check_staff(desk: Desk, caller: str, names: Collection[str], *, owner: bool) -> None:
    """Whoever puts an agent into a role has mail come to it: it has to let that agent's mail in."""
    for agent in map(folded, names):
        box = box_of(desk, agent)
        connected = agent != caller and pair(caller, agent) in desk.connected
        if not owner and not admitted(caller, agent, box.card.allow_from, connected=connected):
            raise NotAdmitted(sender=desk.boxes[caller].name, recipient=box.name)


def _staff(desk: Desk, row: RoleRow, names: Collection[str]) -> None:
    for agent in map(folded, names):
        row.staff.add(agent)
        desk.writes.get("drop_role_staff", {}).pop((row.agent, agent), None)
        desk.write("put_role_staff", (row.agent, agent), (row.agent, agent))
        desk.hints.add(agent)
    desk.hints.update((ROLES, row.agent))


def _write(desk: Desk, row: RoleRow) -> None:
    desk.writes.get("drop_role", {}).pop(row.agent, None)
    desk.write("put_role", (row.agent, row.made_by, row.capability, row.created_at), row.agent)

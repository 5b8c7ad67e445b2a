"""An agent is invited to another machine: a code is made, and used once for a key."""

from datetime import timedelta

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.people.agents import AddKey
from postoffice.acts.rules.naming import OfPerhapsNewName, check_new_name, is_new
from postoffice.core.agent import Card, Key
from postoffice.core.clock import micros
from postoffice.core.errors import BadInvite

INVITE = "invite"


class Invite(OfPerhapsNewName[str]):
    """Keep the hash of a code that gives an agent a key, once. An agent that is not there yet comes to be. Gives the name as its agent writes it."""

    def __init__(self, name: str, card: Card, hash: str, lasts: timedelta) -> None:
        super().__init__(name)
        self.card = card
        self.hash = hash
        self.lasts = lasts

    def run(self, desk: Desk) -> str:
        box = desk.boxes.get(self.agent)
        if is_new(box):
            check_new_name(desk, self.name, owner=True)
            desk.room.take()
        if box is None:
            box = desk.new_box(self.name, self.card)
            desk.boxes[box.agent] = box
            desk.new_agents.append(box)
        elif box.forgotten:
            box.card = self.card
            desk.remember(box)
        desk.write("add_login", (self.hash, self.agent, INVITE, desk.now + micros(self.lasts)))
        return box.name


class AcceptInvite(AddKey):
    """The code is gone, and its agent has a key more."""

    def __init__(self, name: str, code: str, hash: str, prefix: str) -> None:
        super().__init__(name, hash, prefix, None)
        self.code = code

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.extra[f"login:{self.code}"] = (self.code,)

    def run(self, desk: Desk) -> Key:
        logins = desk.extra[f"login:{self.code}"]
        if not any((agent, kind) == (self.agent, INVITE) and expires_at > desk.now for agent, kind, expires_at, _ in logins):
            raise BadInvite
        key = super().run(desk)
        desk.extra[f"login:{self.code}"] = []  # nor for another in this group
        desk.write("delete_login", (self.code,))
        return key

"""Hooks are added and revoked: each is an agent that nobody else can be, and whose mail its recipient takes."""

import msgspec

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.people.agents import Register
from postoffice.core.agent import Card
from postoffice.core.errors import NameTaken, NoSuchAgent, NoSuchHook
from postoffice.core.names import folded
from postoffice.core.policy import ANYONE


class AddHook(Register):
    """An agent writes what is left at its address. A name that was a hook before may be one again, with another address."""

    def __init__(self, name: str, recipient: str, row: tuple[str, str, str | None], hash: str, prefix: str) -> None:
        super().__init__(name, Card(description="a hook"), hash, prefix, owner=True)
        self.recipient = folded(recipient)
        self.row = row
        self.hook = f"hook:{self.agent}"

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.boxes.add(self.recipient)
        needs.extra[self.hook] = (self.agent,)

    def run(self, desk: Desk) -> tuple[str, str]:
        recipient, box, earlier = desk.boxes.get(self.recipient), desk.boxes.get(self.agent), desk.extra[self.hook]
        if recipient is None:
            raise NoSuchAgent(name=self.recipient, hint="a hook writes to an agent that is there")
        if any(hash is not None for (hash,) in earlier) or (box is not None and not earlier):
            raise NameTaken(name=self.name)
        made = (box.id, box.name) if box is not None else super().run(desk)
        if not {ANYONE, self.agent} & {folded(name) for name in recipient.card.allow_from}:
            recipient.card = msgspec.structs.replace(recipient.card, allow_from=(*recipient.card.allow_from, self.name))
            desk.changed_agents[recipient.agent] = recipient
            desk.hints.add(recipient.agent)
        hash, proof, secret = self.row
        desk.extra[self.hook] = [(hash,)]
        desk.write("put_hook", (self.agent, hash, self.recipient, proof, secret, desk.now), self.agent)
        return made


class RevokeHook(Act[None]):
    """Nothing is left there any more."""

    def __init__(self, name: str) -> None:
        self.agent = folded(name)
        self.hook = f"hook:{self.agent}"

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.agent)
        needs.extra[self.hook] = (self.agent,)

    def run(self, desk: Desk) -> None:
        if not any(hash is not None for (hash,) in desk.extra[self.hook]):
            raise NoSuchHook
        desk.extra[self.hook] = [(None,)]
        desk.write("revoke_hook", (self.agent,), self.agent)

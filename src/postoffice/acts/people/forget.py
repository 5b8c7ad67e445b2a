"""Forget: the owner removes a name that nobody ever used, mostly a slip in a letter."""

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import bury
from postoffice.acts.needs import Needs
from postoffice.acts.rows import MailKey
from postoffice.core.agent import Forgotten
from postoffice.core.delivery import UNREAD
from postoffice.core.errors import NoSuchAgent, NotForgotten
from postoffice.core.names import SYSTEM, folded
from postoffice.core.session import pair

_WHY = "the owner has forgotten {name}, whom nobody ever was"


class Forget(Act[Forgotten | None]):
    """End what waits there, tell its senders, and take the name out of every list. None if more waits than was given."""

    def __init__(self, name: str, waiting: tuple[str, ...]) -> None:
        self.name = name
        self.agent = folded(name)
        self.mail: list[MailKey] = [(id, self.agent) for id in waiting]

    def ask(self, needs: Needs) -> None:
        needs.boxes.update((self.agent, SYSTEM))  # whoever uses an invitation holds the office's own mailbox
        needs.agents = True
        needs.bodies.update(self.mail)
        needs.mail.update(dict.fromkeys(self.mail, True))

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        needs.thread_keys.update((*pair(SYSTEM, row.sender), "") for row in desk.mail.values() if row.mailbox == self.agent)

    def run(self, desk: Desk) -> Forgotten | None:
        box = desk.boxes.get(self.agent)
        if box is None or box.forgotten:
            raise NoSuchAgent(name=self.name, hint="check the name")
        if box.has_key or box.acted:
            raise NotForgotten(name=box.name, why="has a key" if box.has_key else "has acted")
        rows = [row for key in self.mail if (row := desk.mail.get(key)) is not None and row.state in UNREAD]
        for row in rows:
            bury(desk, row, _WHY.format(name=box.name))
        if box.depth:
            return None
        desk.end_logins(self.agent, desk.now)
        box.forgotten = True
        desk.changed_agents[self.agent] = box
        desk.hints.add(self.agent)
        return Forgotten(name=box.name, dead=len(rows))

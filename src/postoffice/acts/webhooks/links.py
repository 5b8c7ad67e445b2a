"""Links by which a question is answered: kept as hashes, and taken back."""

from datetime import timedelta

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.upkeep.housekeeping import Housekeeping
from postoffice.core.clock import micros
from postoffice.core.errors import NoSuchAnswerLink
from postoffice.core.notify import NewLink


class KeepLinks(Housekeeping[None]):
    """From now on, and for so long, these open a question each."""

    def __init__(self, webhook: str, links: tuple[NewLink, ...], lasts: timedelta) -> None:
        self.webhook = webhook
        self.links = links
        self.lasts = lasts

    def run(self, desk: Desk) -> None:
        desk.room.take()
        for link in self.links:
            row = (link.hash, link.id, link.question, self.webhook, desk.now, desk.now + micros(self.lasts))
            desk.write("add_answer_link", row, link.hash)


class RevokeLink(Housekeeping[None]):
    """It opens nothing any more."""

    def __init__(self, id: str) -> None:
        self.id = id
        self.key = f"answer_link:{id}"

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.extra[self.key] = (self.id,)

    def run(self, desk: Desk) -> None:
        if not desk.extra[self.key]:
            raise NoSuchAnswerLink(id=self.id)
        desk.extra[self.key] = []
        desk.write("delete_answer_link", (self.id,), self.id)

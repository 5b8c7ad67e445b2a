"""Acts about agents of other software: they are met on the ledger, and each has a topic with whoever of ours it talks to."""

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.ledger.outbox import ask_for_topics, known_accounts, put_post
from postoffice.acts.ledger.topics import WatchTopic
from postoffice.acts.needs import Needs
from postoffice.core.agent import Card
from postoffice.core.envelope import write_created
from postoffice.core.errors import Conflict
from postoffice.core.ledger import ASKED, CONNECTION, CREATED_MEMO, Account, Opening
from postoffice.core.names import SYSTEM, folded


class Meet(Act[None]):
    """Remember an agent of other software by its account. If one of our agents asked it, listen for its answer."""

    def __init__(self, account_id: str, inbound_topic_id: str, asked_by: str | None = None) -> None:
        """`asked_by` one of ours, who says which topic it has; by nobody, where it asks itself and the ledger has told that."""
        self.account_id = account_id
        self.inbound_topic_id = inbound_topic_id
        self.asked = asked_by is not None
        self.watch = WatchTopic(inbound_topic_id, ASKED, asked_by, account_id)

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.account_id)
        self.watch.ask(needs)

    def run(self, desk: Desk) -> None:
        account = known_accounts(desk).get(self.account_id)
        elsewhere = account is not None and account.inbound_topic_id != self.inbound_topic_id
        if elsewhere and self.asked:
            raise Conflict(why=f"{self.account_id} is known by another inbound topic, and only a request of its own changes that")
        self.watch.check(desk)
        if account is None or elsewhere:
            self._keep(desk)
        if self.asked:
            self.watch.run(desk)

    def _keep(self, desk: Desk) -> None:
        if self.account_id not in desk.boxes:
            box = desk.new_box(self.account_id, Card(description="An agent of other software, reached over the ledger."), acted=True)
            desk.boxes[box.agent] = box
            desk.new_agents.append(box)
        row = (self.account_id, self.account_id, self.inbound_topic_id, None, None, desk.now)
        desk.extra["ledger_accounts"] = [*(r for r in desk.extra["ledger_accounts"] if r[0] != self.account_id), row[:4]]
        desk.write("put_ledger_account", row, self.account_id)


class Opened(Act[None]):
    """The topic on which the two meet exists now. Watch it and tell the other agent: both, or neither."""

    def __init__(self, post_id: str, opening: Opening, topic_id: str) -> None:
        self.post_id = post_id
        self.opening = opening
        self.topic_id = topic_id

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(SYSTEM)
        ask_for_topics(needs)

    def run(self, desk: Desk) -> None:
        opening, agent = self.opening, folded(self.opening.agent)
        owner: Account | None = known_accounts(desk).get(agent)
        if owner is not None:
            desk.write("put_ledger_topic", (self.topic_id, CONNECTION, agent, opening.peer, desk.now), self.topic_id)
            answer = write_created(owner, opening, self.topic_id)
            put_post(desk, opening.inbound_topic_id, answer, payer=owner.account_id, memo=CREATED_MEMO, id=f"{self.post_id}:answer")
        desk.write("settle_post", (self.post_id, "confirmed", desk.now, None), self.post_id)

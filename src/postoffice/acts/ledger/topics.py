"""Who owns a topic. Naming a topic takes over neither another agent's nor one that is watched for another reason."""

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.ledger.outbox import ask_for_topics, known_accounts
from postoffice.acts.needs import Needs
from postoffice.core.errors import TopicTaken, TopicWatched
from postoffice.core.ledger import ASKED, CONNECTION
from postoffice.core.names import SYSTEM, folded


class WatchTopic(Act[None]):
    """A topic is listened to from now on."""

    def __init__(self, topic_id: str, kind: str, agent: str | None, about: str) -> None:
        self.row = (topic_id, kind, None if agent is None else folded(agent), about)
        self.name = f"watched_topic:{topic_id}"

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(SYSTEM)
        needs.extra[self.name] = self.row[:1]
        ask_for_topics(needs)

    def check(self, desk: Desk) -> None:
        """Refuse what is another's already."""
        topic_id, kind, agent, about = self.row
        for one in known_accounts(desk).values():
            theirs_to_ask_on = kind == ASKED and one.foreign and one.agent == about
            if topic_id in (one.inbound_topic_id, one.outbound_topic_id) and not theirs_to_ask_on:
                raise TopicTaken(topic=topic_id, agent=one.agent)
        for watched_as, *two in desk.extra[self.name]:
            if watched_as != kind or (kind == CONNECTION and two != [agent, about]):
                raise TopicWatched(topic=topic_id, kind=watched_as)

    def run(self, desk: Desk) -> None:
        self.check(desk)
        desk.extra[self.name] = [self.row[1:]]
        desk.write("put_ledger_topic", (*self.row, desk.now), self.row[0])

"""A letter to a list: one message, and a delivery for each member as it is accepted."""

from typing import Any

from postoffice.acts.desk import Desk
from postoffice.acts.ledger.outbox import check_reachable
from postoffice.acts.lists.places import is_on, list_of, next_number, write_list
from postoffice.acts.lists.rows import ListRow, OnList
from postoffice.acts.mail.addressees import refusal_of
from postoffice.acts.mail.answering import Answered
from postoffice.acts.mail.moves import notify, post
from postoffice.acts.mail.reach_signs import known_of
from postoffice.acts.mail.send import Send
from postoffice.acts.needs import Needs
from postoffice.acts.rows import Box, ThreadRow
from postoffice.acts.rules.depth import check_depth
from postoffice.acts.rules.endless import check_list_talk, count_list_talk, refresh_talk
from postoffice.acts.rules.notices import budget_spent
from postoffice.core.agent import is_person
from postoffice.core.draft import Draft
from postoffice.core.endless import MEMBERS_THAT_HEAR
from postoffice.core.errors import BudgetSpent, MailError, MayNotPost, NoSuchAgent, NoSuchSession, NotAdmitted, OutOfReach
from postoffice.core.event import Kind
from postoffice.core.loops import budget_after, check_trace
from postoffice.core.mailing_list import MOST_REFUSED_TOLD, MOST_TOLD, MayPost, ToMembers
from postoffice.core.message import Message, Posted
from postoffice.core.names import OWNER, SYSTEM, folded, is_account, is_list
from postoffice.core.policy import admitted
from postoffice.core.session import pair


class SendToList(Send):
    """One message accepted for whoever is a member now. What a member cannot get is told of that member, and harms no other."""

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        assert isinstance(self.draft.to, str)
        needs.lists.add(folded(self.draft.to))
        needs.crowds.add(folded(self.draft.to))

    def _ask_for_threads(self, needs: Needs, desk: Desk, recipients: list[str]) -> None:
        row = self._list(desk)
        if row is None:
            return
        for agent in recipients:
            place, box = desk.lists.places[row.id, agent], desk.boxes.get(agent)
            if box is None or place.added_by in (agent, OWNER):
                continue
            vouchers = (place.added_by, self.sender)
            # What a card says now may be changed by another act of the group.
            if needs.agents or not any(admitted(one, agent, box.card.allow_from, connected=False) for one in vouchers):
                needs.pairs.update(pair(one, agent) for one in vouchers)
        needs.thread_keys.update((*pair(SYSTEM, one), "") for one in (self.sender, row.owner))
        if self._counts:
            needs.memories.update((self.sender, row.list))
        if self._by_person(desk) or (self._counts and len(recipients) <= MEMBERS_THAT_HEAR):
            needs.memories.update((row.list, *recipients))

    @property
    def _counts(self) -> bool:
        """Whether it may be one letter of a talk without end."""
        return (self.draft.by_model or self.draft.automatic) and not self.draft.settled

    def _by_person(self, desk: Desk) -> bool:
        box = desk.boxes.get(self.sender)
        return not self._counts and box is not None and is_person(self.sender, box.card)

    def _list(self, desk: Desk) -> ListRow | None:
        assert isinstance(self.draft.to, str)
        return desk.lists.named.get(folded(self.draft.to))

    def _recipients(self, desk: Desk) -> list[str]:
        row = self._list(desk)
        return [] if row is None else sorted(agent for agent in desk.lists.members[row.id] if agent != self.sender)

    def _open_boxes(self, desk: Desk) -> tuple[list[Box], list[Box]]:
        assert isinstance(self.draft.to, str)
        row = list_of(desk, folded(self.draft.to))
        self._check_sender(desk, row)
        return [desk.boxes[agent] for agent in self._recipients(desk)], []

    def _check_sender(self, desk: Desk, row: ListRow) -> None:
        """Refuse what its sender may not write there, before any member is asked."""
        sender, owner = desk.boxes[self.sender].name, desk.boxes[row.owner].name
        if self.draft.session_id not in (None, row.id):
            raise NoSuchSession(session=self.draft.session_id)
        if self.sender not in (OWNER, row.owner):
            if row.who_may_post == MayPost.MEMBERS and not is_on(desk, row, self.sender):
                raise MayNotPost(name=row.name, who="its members", sender=sender, instead=f"join it, or write to {owner}, who keeps it")
            if row.who_may_post == MayPost.NAMED and self.sender not in map(folded, row.may_write()):
                raise MayNotPost(name=row.name, who="those it names", sender=sender, instead=f"write to {owner}, who keeps it")
        if self._counts:
            check_list_talk(desk, row)
        full = desk.limits.automatic_replies
        if budget_after(row.replies_left, automatic=self.draft.automatic, full=1) is None:
            raise BudgetSpent(session=row.id, limit=full)

    def _check(self, desk: Desk, sender: Box, box: Box, original: Message | None, answered: Answered) -> ThreadRow | None:  # noqa: ARG002 - as for others
        if box.forgotten:
            raise NoSuchAgent(name=box.name, hint="the owner has forgotten the name; take it off the list")
        if not self._consents(desk, box):
            raise NotAdmitted(sender=sender.name, recipient=box.name)
        if self.draft.ledger is not None:
            check_reachable(desk, sender, box)
        elif is_account(box.agent):
            raise OutOfReach(recipient=box.name, sender=sender.name)
        check_trace(self.draft.trace, box.name)
        check_depth(desk, box)
        return None

    def _consents(self, desk: Desk, box: Box) -> bool:
        """Whether a member wants the list's mail: it joined, or whoever put it there may write to it, or the sender may."""
        row = self._list(desk)
        assert row is not None  # its members were asked for
        added_by = desk.lists.places[row.id, box.agent].added_by
        return added_by in (box.agent, OWNER) or any(
            admitted(one, box.agent, box.card.allow_from, connected=pair(one, box.agent) in desk.connected)
            for one in (added_by, self.sender)
        )

    def _post_all(
        self,
        desk: Desk,
        message: Message,
        body: str,
        boxes: list[Box],
        threads: dict[str, ThreadRow | None],  # noqa: ARG002 - all have the list's session
        refused: dict[str, MailError],
        unseen: list[Box],  # noqa: ARG002 - members have been there
    ) -> list[Posted]:
        row = self._list(desk)
        assert row is not None  # it was found before
        place = OnList(row.id, None if message.deliver_at is not None else next_number(desk, row, message.id, self.sender))
        ways: dict[str, str | None] = {}
        for box in boxes:
            if box.agent not in refused:
                way = ways[box.agent] = self._way(desk, message, box)
                post(desk, message, body, self.sender, box, place, self._state(message, way))
        self._spend(desk, row)
        if self._counts:
            count_list_talk(desk, row, desk.boxes[self.sender], list(ways))
        elif self._by_person(desk):
            refresh_talk(desk, *(agent for agent in (row.list, *ways) if agent in desk.memories))
        write_list(desk, row)
        self.to_list = ToMembers(name=row.name, session_id=row.id, number=place.number, delivered=len(ways), refused=len(refused))
        told = [refusal_of(desk.boxes[agent], refusal) for agent, refusal in list(refused.items())[:MOST_REFUSED_TOLD]]
        for agent, way in list(ways.items())[: max(0, MOST_TOLD - len(told))]:
            box = desk.boxes[agent]
            told.append(Posted(recipient=box.name, session_id=row.id, ledger=way, known=known_of(desk, box)))
        return told

    def _spend(self, desk: Desk, row: ListRow) -> None:
        """Count it against the budget of automatic replies, which is the list's."""
        full, automatic = desk.limits.automatic_replies, self.draft.automatic
        row.replies_left = budget_after(row.replies_left, automatic=automatic, full=full) or 0
        if automatic and row.replies_left == 0:
            for agent in dict.fromkeys((self.sender, row.owner)):
                notify(desk, desk.boxes[agent], budget_spent(row.id, row.name, full))
                desk.tell(desk.boxes[agent], Kind.BUDGET_SPENT, row.id)


def sending(sender: str, draft: Draft, **how: Any) -> Send:
    """The act that accepts a draft, whomever it is to."""
    return (SendToList if is_list(draft.to) else Send)(sender, draft, **how)

"""Accept a message: to one agent, to many, to ALL, as a note, or forwarded."""

from collections.abc import Mapping

import msgspec
from msgspec import UNSET

from postoffice.acts.act import Act
from postoffice.acts.attachments.carrying import Carrying
from postoffice.acts.desk import Desk
from postoffice.acts.ledger.outbox import ask_for_topics, put_log, put_message, put_note
from postoffice.acts.mail.addressees import everyone_but, open_boxes, refusal_of
from postoffice.acts.mail.answering import Answered, Answering
from postoffice.acts.mail.compose import compose
from postoffice.acts.mail.forwarding import Forwarding
from postoffice.acts.mail.joining import is_invited, named_thread
from postoffice.acts.mail.moves import keep, keep_note, post
from postoffice.acts.mail.reach_signs import known_of, with_signs, without_signs
from postoffice.acts.needs import Needs
from postoffice.acts.questions.opening import check_question, open_question
from postoffice.acts.rows import Box, ThreadRow
from postoffice.acts.rules.admission import check_admission
from postoffice.acts.rules.budget import check_budget, spend
from postoffice.acts.rules.codes import ask_codes
from postoffice.acts.rules.depth import check_depth
from postoffice.acts.rules.endless import ask_talk, check_talk, count_talk, may_count, refresh_talk
from postoffice.acts.rules.idempotency import Exchange, Once
from postoffice.acts.rules.naming import ask_lookalikes
from postoffice.acts.rules.rates import ask_rate, count_sent
from postoffice.acts.tasks.links import Links
from postoffice.acts.tasks.steps import open_task
from postoffice.core.agent import is_person
from postoffice.core.clock import is_id
from postoffice.core.delivery import State
from postoffice.core.draft import Draft, addressee, with_whole_ids
from postoffice.core.errors import MailError
from postoffice.core.event import Kind
from postoffice.core.ledger import AWAITING, DIRECT, URGENT
from postoffice.core.mailing_list import ToMembers
from postoffice.core.message import TASK, Accepted, Message, Posted, check_size, is_note
from postoffice.core.names import EVERYONE, SYSTEM, folded, is_list
from postoffice.core.policy import admitted
from postoffice.core.session import pair, subject_key

_ROW_BYTES = 500  # bytes that a recipient takes besides what is said
_BRIEF_CHARACTERS = 16_384
_encode = msgspec.json.Encoder().encode
_accepted = msgspec.json.Decoder(Accepted).decode


class Send(Act[Accepted]):
    """One message accepted, with a delivery for each recipient."""

    def __init__(
        self,
        sender: str,
        draft: Draft,
        *,
        verified: bool,
        strangers: bool,
        rated: bool = True,
        doer: str | None = None,
        looks: bool = False,
        whole: Mapping[str, str] | None = None,
        roles: tuple[str, ...] | None = None,
    ) -> None:
        self.sender = folded(sender)
        self.doer = folded(doer or sender)
        """The agent that has it sent. Its ids and its rate count."""
        self.draft = draft
        self.verified = verified
        self.strangers = strangers
        self.rated = rated and not draft.settled
        """Whether it counts against a rate."""
        self.room_taken = not rated
        """Whether whoever sends it has taken the room for it."""
        self.to_all = draft.to == EVERYONE
        self.to_list: ToMembers | None = None
        self.names: tuple[str, ...] = () if self.to_all or is_list(draft.to) else (draft.to,) if isinstance(draft.to, str) else draft.to
        self.agents = [folded(name) for name in self.names]
        self.brief = len(self.agents) == 1 and len(draft.content or "") < _BRIEF_CHARACTERS and not draft.parts and draft.payload is UNSET
        self.note = is_note(draft.type)
        self.to_and_fro = not self.note and may_count(draft, self.agents)
        """Whether it may be one letter of a talk without end."""
        said = draft
        if whole:  # retries are the same message, whichever ids they name others by
            draft = self.draft = with_whole_ids(draft, whole)
        self.answering = Answering(self.sender, draft, self.agents, roles)
        self.forwarding = Forwarding(self.sender, draft, self.agents)
        self.carrying = Carrying(self.doer, draft.attachments)
        self.links = Links(self.sender, draft.task if draft.type == TASK else None)
        self.once = self.exchange = None
        if draft.client_id is not None:
            # However the address is spelled, it is the same message.
            to = addressee(draft.to)
            self.once = Once.of(self.doer, to, draft.client_id, msgspec.structs.replace(said, to=to))
            if self.agents and isinstance(draft.to, str) and self.doer == self.sender:
                self.exchange = Exchange(self.sender, to, draft.client_id, looks=looks)

    def ask(self, needs: Needs) -> None:
        draft = self.draft
        needs.boxes.update((self.sender, self.doer))
        needs.boxes.update(self.agents)
        needs.everyone |= self.to_all
        if draft.session_id is not None and is_id(draft.session_id):
            needs.threads.add(draft.session_id)
        self.answering.ask(needs)
        self.forwarding.ask(needs)
        self.links.ask(needs)
        self.carrying.ask(needs, forwards=draft.forward_of is not None)
        if self.once is not None:
            needs.dedupe.add(self.once.key)
        if self.exchange is not None:
            self.exchange.ask(needs)
        if draft.ledger is not None:
            ask_for_topics(needs)
        if self.note and draft.ref_id is not None:
            needs.entities.add(draft.ref_id)
            needs.boxes.add(SYSTEM)  # no agent owns an entity: counting its notes locks the office's own mailbox

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        ask_rate(needs, desk, self.doer)
        self.answering.ask_more(needs, desk)
        self.forwarding.ask_more(needs, desk)
        self.carrying.ask_more(needs, self.forwarding.original(desk))
        recipients = self._recipients(desk)
        ask_codes(needs, self.draft, recipients)
        if self.to_and_fro:
            ask_talk(needs, self.sender, recipients)
        if self.draft.forward_of is not None:
            needs.requests.update(recipients)  # what it says is yet to be read
        if self.strangers:
            for name in self.names:
                ask_lookalikes(needs, desk, name)
        self._ask_for_threads(needs, desk, recipients)

    def _ask_for_threads(self, needs: Needs, desk: Desk, recipients: list[str]) -> None:
        """Have the sender's sessions with them, and their consent where their cards do not give it."""
        subject = self._subject_key(self.forwarding.original(desk)) if self.draft.session_id is None else ""
        for agent in recipients:
            if agent == self.sender:
                continue
            box = desk.boxes.get(agent)
            members = pair(self.sender, agent)
            # What a card says now may be changed by another act of the group.
            if box is not None and (needs.agents or not admitted(self.sender, agent, box.card.allow_from, connected=False)):
                needs.pairs.add(members)
            if self.draft.session_id is None or self.draft.reply_to is not None:
                needs.thread_keys.add((*members, subject))
            if self.draft.automatic:
                needs.thread_keys.update((*pair(SYSTEM, one), "") for one in (self.sender, agent))

    def run(self, desk: Desk) -> Accepted:
        draft = self.draft
        if self.once is not None and (earlier := self.once.earlier(desk, self.exchange)) is not None:
            return with_signs(desk, msgspec.structs.replace(_accepted(earlier), duplicate=True))
        sender = desk.boxes[self.sender]
        boxes, unseen = self._open_boxes(desk)
        original = self.forwarding.find(desk)
        answered = self.answering.find(desk)
        refused: dict[str, MailError] = {}
        threads: dict[str, ThreadRow | None] = {}
        for box in boxes:
            try:
                threads[box.agent] = self._check(desk, sender, box, original, answered)
            except MailError as error:
                if self.names:
                    raise
                refused[box.agent] = error
        joined = draft.session_id is not None or (isinstance(draft.to, str) and answered.thread is not None)
        named = threads[boxes[0].agent] if joined and len(boxes) == 1 else None
        linked = self.links.resolved(desk, answered.carried(draft))
        carried = self.carrying.find(desk, original)
        message = compose(desk, linked, sender, boxes, named, original, carried, verified=self.verified)
        encoded = _encode(message)
        check_size(len(encoded), desk.limits)
        body = encoded.decode()
        if not self.room_taken:
            desk.room.take(len(encoded) + _ROW_BYTES * len(boxes))
        if self.rated:
            count_sent(desk, self.doer, len(encoded))
        # From here on nothing is refused.
        desk.new_agents += [box for box in unseen if not box.forgotten]
        desk.boxes |= {box.agent: box for box in unseen}
        answered.settle(desk, automatic=draft.automatic)
        keep(desk, message, self.sender, body)
        self.forwarding.remember(desk, original, message)
        self.carrying.keep(desk, message)
        posted = self._post_all(desk, message, body, boxes, threads, refused, unseen)
        if draft.ledger is not None and draft.ledger.log:
            put_log(desk, message, self.sender)
        way = None
        if self.note:
            keep_note(desk, message)
            way = None if draft.ledger is None else put_note(desk, message, self.sender)
            desk.tell(sender, Kind.NOTE, message.id, {"entity": message.ref_id})
        answer = Accepted(
            message_id=message.id,
            created_at=message.created_at,
            subject=message.subject,
            client_id=draft.client_id,
            posted=tuple(posted),
            to_list=self.to_list,
            deliver_at=message.deliver_at,
            expires_at=message.expires_at,
            ledger=way,
        )
        if self.once is not None:
            self.once.remember(desk, without_signs(answer))
        return answer

    def _recipients(self, desk: Desk) -> list[str]:
        return everyone_but(desk, self.sender) if self.to_all else self.agents

    def _open_boxes(self, desk: Desk) -> tuple[list[Box], list[Box]]:
        """The recipients' mailboxes, and those among them that are new."""
        if self.to_all:
            return [desk.boxes[agent] for agent in self._recipients(desk)], []
        return open_boxes(desk, self.sender, self.names, strangers=self.strangers)

    def _subject_key(self, original: Message | None) -> str:
        """The subject of its session where it names none. A forward keeps the subject it had."""
        subject = self.draft.subject
        if subject is None and original is not None:
            subject = original.subject
        return subject_key(subject) if subject else ""

    def _check(self, desk: Desk, sender: Box, box: Box, original: Message | None, answered: Answered) -> ThreadRow | None:
        """The session it would go to, if it may be sent and there is one already."""
        if self.draft.settled:  # too late to refuse it
            return self._thread(desk, box, original, answered)
        invited = is_invited(desk, self.draft.session_id, self.sender, box, answered)
        check_admission(desk, self.draft, sender, box, original, invited=invited)
        check_question(desk, self.draft, self.sender, box)
        thread = self._thread(desk, box, original, answered)
        if self.to_and_fro:
            check_talk(desk, thread)
        if not self.note and box.agent != self.sender:
            check_budget(desk, thread, box, automatic=self.draft.automatic)
        check_depth(desk, box)
        return thread

    def _thread(self, desk: Desk, box: Box, original: Message | None, answered: Answered) -> ThreadRow | None:
        if box.agent == self.sender or self.note:
            return None
        members = pair(self.sender, box.agent)
        if self.draft.session_id is None or answered.on_list(desk, self.draft.session_id):
            return answered.joined(desk, members) or desk.thread_keys.get((*members, self._subject_key(original)))
        return named_thread(desk, self.draft.session_id, self.sender, box, answered)

    def _post_all(
        self,
        desk: Desk,
        message: Message,
        body: str,
        boxes: list[Box],
        threads: dict[str, ThreadRow | None],
        refused: dict[str, MailError],
        unseen: list[Box],
    ) -> list[Posted]:
        """What became of it with each recipient."""
        return [
            refusal_of(box, refused[box.agent])
            if box.agent in refused
            else self._post(desk, message, body, box, threads[box.agent], unseen=box in unseen)
            for box in boxes
        ]

    def _post(self, desk: Desk, message: Message, body: str, box: Box, thread: ThreadRow | None, *, unseen: bool) -> Posted:
        if thread is None and not self.note:
            thread = desk.thread_of(self.sender, box.agent, message.subject)
        way = self._way(desk, message, box)
        state = self._state(message, way)
        post(desk, message, body, self.sender, box, thread, state)
        session_id = None if thread is None else thread.id
        if message.type == TASK:
            open_task(desk, message, self.sender, box.agent, session_id)
        if message.ask is not None:
            open_question(desk, message, self.sender, box, session_id)
        if thread is not None:
            spend(desk, thread, desk.boxes[self.sender], box, automatic=message.automatic)
            if self.to_and_fro:
                count_talk(desk, thread, desk.boxes[self.sender], box)
            elif is_person(self.sender, desk.boxes[self.sender].card):
                refresh_talk(desk, box.agent)
        return Posted(recipient=box.name, session_id=session_id, unseen=unseen, ledger=way, known=known_of(desk, box))

    def _state(self, message: Message, way: str | None) -> State:
        waits = self.draft.hold or message.deliver_at is not None or (way == AWAITING and message.priority > URGENT)
        return State.ACKED if self.draft.settled else State.HELD if waits else State.PENDING

    def _way(self, desk: Desk, message: Message, box: Box) -> str | None:
        """How it goes where the ledger was asked for. Notes reach everyone they name at once."""
        if self.draft.ledger is None:
            return None
        return DIRECT if self.note else put_message(desk, message, self.sender, box.agent, self.draft.ledger)

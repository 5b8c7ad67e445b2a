"""A question ends, once: by the first answer, at its deadline, or because its asker takes it back."""

from datetime import datetime

import msgspec

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import keep, move, post, settle
from postoffice.acts.needs import Needs
from postoffice.acts.questions.opening import write_question
from postoffice.acts.rows import QuestionRow
from postoffice.acts.rules.endless import refresh_talk
from postoffice.acts.rules.idempotency import Once
from postoffice.core.clock import moment
from postoffice.core.delivery import WAITING, State
from postoffice.core.errors import AnsweredFirst, NoSuchQuestion, QuestionClosed
from postoffice.core.event import Kind
from postoffice.core.message import ANSWER, Message
from postoffice.core.names import SYSTEM, folded
from postoffice.core.question import DEFAULT, Answer, Question, QuestionState, read_default

_encode = msgspec.json.Encoder().encode
_question = msgspec.json.Decoder(Question).decode


class CloseQuestion(Act[Question]):
    """Something that ends a question, which nobody has ended before."""

    def __init__(self, question: Question) -> None:
        self.question = question
        self.person = folded(question.person)
        self.asker = folded(question.asker)

    def ask(self, needs: Needs) -> None:
        needs.boxes.update((self.asker, self.person))
        needs.questions.add(self.question.id)
        needs.mail[self.question.id, self.person] = True
        if self.question.session_id is not None:
            needs.threads.add(self.question.session_id)

    def find(self, desk: Desk) -> QuestionRow:
        """The question, if it is still open."""
        row = desk.questions.get(self.question.id)
        if row is None:
            raise NoSuchQuestion(ref=self.question.id, name=self.question.person)
        if row.state == QuestionState.ANSWERED:
            answer_text = " / ".join(part for part in (row.choice, row.text) if part)
            raise AnsweredFirst(by=row.by, at=_instant(row.closed_at), said=repr(answer_text))
        if row.state != QuestionState.OPEN:
            raise QuestionClosed(state=row.state, at=_instant(row.closed_at))
        return row

    def close(self, desk: Desk, row: QuestionRow, answer: Answer, *, verified: bool) -> Question:
        """End it, and tell both."""
        row.state = answer.state
        row.by, row.choice, row.text = answer.by, answer.choice, answer.text
        row.closed_at = desk.now
        if row.state != QuestionState.WITHDRAWN and self.asker != SYSTEM:
            row.answer_id = self._tell_asker(desk, row, answer, verified=verified)
        write_question(desk, row)
        for agent in {self.asker, self.person} - {SYSTEM}:
            desk.tell(desk.boxes[agent], Kind.QUESTION, row.message_id, {"state": row.state} | ({"by": row.by} if row.by else {}))
        return as_question(self.question, row)

    def _tell_asker(self, desk: Desk, row: QuestionRow, answer: Answer, *, verified: bool) -> str:
        """The answer's letter, past admission and depth: it was asked for."""
        person, asker = desk.boxes[self.person], desk.boxes[self.asker]
        said = answer.state is QuestionState.ANSWERED and answer.by != DEFAULT
        message = Message(
            id=desk.clock.new_id(),
            sender=person.name if said else SYSTEM,
            to=asker.name,
            created_at=desk.at,
            from_verified=verified,
            type=ANSWER,
            subject=self.question.subject,
            content=answer.in_words,
            answer=answer,
            correlation_id=self.question.correlation_id or row.message_id,  # whoever asked may be waiting for this mark
            reply_to=row.message_id,
            priority=self.question.priority,
            ttl=desk.limits.ttl,
            trace=(person.name if said else SYSTEM,),
        )
        body = _encode(message).decode()
        sender = self.person if said else SYSTEM
        keep(desk, message, sender, body)
        thread = desk.threads.get(row.session_id or "")
        post(desk, message, body, sender, asker, thread)
        if thread is not None and said:
            thread.replies_left = desk.limits.automatic_replies
        if said:
            refresh_talk(desk, self.asker)
        return message.id


class AnswerQuestion(CloseQuestion):
    """A person answers. The first answer counts; whoever comes later is told of it."""

    def __init__(self, question: Question, answer: Answer, doer: str, client_id: str | None, via: str | None, *, verified: bool) -> None:
        super().__init__(question)
        self.answer = answer
        self.via = via
        self.verified = verified
        self.once = Once.of(folded(doer), f"question:{question.id}", client_id, (answer.choice, answer.text))

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        if self.once is not None:
            needs.boxes.add(self.once.key[0])
            needs.dedupe.add(self.once.key)

    def run(self, desk: Desk) -> Question:
        if self.once is not None and (earlier := self.once.earlier(desk)) is not None:
            return _question(earlier)
        row = self.find(desk)
        desk.room.take()
        row.via = self.via
        mail = desk.mail.get((row.message_id, row.person))
        if mail is not None and mail.state in WAITING and not mail.hidden:
            settle(desk, mail)
        closed = self.close(desk, row, self.answer, verified=self.verified)
        if self.once is not None:
            self.once.remember(desk, closed)
        return closed


class WithdrawQuestion(CloseQuestion):
    """Its asker no longer needs to know."""

    def run(self, desk: Desk) -> Question:
        row = self.find(desk)
        mail = desk.mail.get((row.message_id, row.person))
        if mail is not None and mail.state in WAITING:
            move(desk, mail, State.ACKED, reason="withdrawn by its sender")
        return self.close(desk, row, Answer(question=row.message_id, state=QuestionState.WITHDRAWN), verified=True)


class EndQuestion(CloseQuestion):
    """Its deadline has passed: the default counts, or it expires. The letter stays in the mailbox as any other."""

    def run(self, desk: Desk) -> Question | None:  # type: ignore[override]  # nothing if that is no longer so
        row = desk.questions.get(self.question.id)
        if row is None or row.state != QuestionState.OPEN or row.deadline is None or row.deadline > desk.now:
            return None
        answer = Answer(question=row.message_id, state=QuestionState.EXPIRED)
        if self.question.default is not None:
            choice, text = read_default(self.question.ask)
            answer = Answer(question=row.message_id, state=QuestionState.ANSWERED, by=DEFAULT, choice=choice, text=text)
        return self.close(desk, row, answer, verified=True)


def as_question(question: Question, row: QuestionRow) -> Question:
    """A question as its row has it now."""
    return msgspec.structs.replace(
        question,
        state=QuestionState(row.state),
        by=row.by,
        choice=row.choice,
        answer=row.text,
        answer_id=row.answer_id,
        via=row.via,
        closed_at=None if row.closed_at is None else moment(row.closed_at),
    )


def _instant(at: int | None) -> str:
    closed: datetime | None = None if at is None else moment(at)
    return "" if closed is None else closed.isoformat(timespec="seconds")

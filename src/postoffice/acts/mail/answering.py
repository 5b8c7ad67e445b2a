"""What a message answers: which mail it names, which conversation it joins, and what it settles."""

from typing import NamedTuple

import msgspec

from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import settle
from postoffice.acts.needs import Needs
from postoffice.acts.rows import DeliveryRow, Row, ThreadRow
from postoffice.acts.rules.finding import find_mail, mail_under
from postoffice.core.clock import is_id
from postoffice.core.delivery import WAITING, State
from postoffice.core.draft import Draft
from postoffice.core.errors import AlreadyAnswered, AmbiguousId, NothingToAnswer
from postoffice.core.message import TASK

ANSWERED = "answered"
"""What a sender is told of a message that its recipient has answered by hand."""


class Answered(NamedTuple):
    """The message that is answered, as far as it is known."""

    thread: ThreadRow | None = None
    correlation_id: str | None = None
    got: DeliveryRow | None = None
    """The delivery, where it was to whoever answers."""

    def joined(self, members: tuple[str, str]) -> ThreadRow | None:
        """Its session, if these two have it together."""
        thread = self.thread
        return thread if thread is not None and (thread.low, thread.high) == members else None

    def carried(self, draft: Draft) -> Draft:
        """The draft with the mark of what it answers."""
        return (
            draft
            if draft.correlation_id or self.correlation_id is None
            else msgspec.structs.replace(draft, correlation_id=self.correlation_id)
        )

    def settle(self, desk: Desk, *, automatic: bool) -> None:
        """Settle what was answered. Updates do that for tasks, and lent mail is settled where it is kept."""
        row = self.got
        if row is None or row.type == TASK or row.lent or row.state == State.DEAD:
            return
        if row.state in WAITING:
            row.holder = row.mailbox
            settle(desk, row)
        if not automatic:
            row.reason = ANSWERED
            desk.changed_mail[row.message_id, row.mailbox] = row


class Answering:
    """What one sender answers."""

    def __init__(self, sender: str, draft: Draft, agents: list[str]) -> None:
        self._sender = sender
        self._draft = draft
        self._agents = agents
        self._ref = draft.reply_to or ""

    def ask(self, needs: Needs) -> None:
        """Have what the sender got under that id."""
        if self._ref:
            key = (self._ref, self._sender)
            needs.mail[key] = needs.mail.get(key, False)

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        """Have its session, or what the sender sent under that id."""
        if not self._ref:
            return
        rows = mail_under(desk, self._ref, self._sender)
        needs.threads.update(row.session_id for row in rows if row.session_id is not None)
        if not rows:
            needs.extra[self._sent] = (self._ref, self._sender, self._agents[0] if len(self._agents) == 1 else "")

    def find(self, desk: Desk) -> Answered:
        """What is answered; refused if the sender neither sent nor got it, unless it may be known elsewhere only."""
        if not self._ref:
            return Answered()
        row = find_mail(desk, self._ref, self._sender, lambda one: one.sender in self._agents and one.state in WAITING)
        if row is not None:
            if self._draft.automatic and row.reason == ANSWERED:
                raise AlreadyAnswered(ref=self._ref, name=desk.boxes[self._sender].name)
            return Answered(desk.threads.get(row.session_id or ""), row.correlation_id, row)
        sent = desk.extra.get(self._sent, [])
        to_it = [row for row in sent if row[0] is not None]
        if len(to_it) > 1:
            raise AmbiguousId(ref=self._ref, name=desk.boxes[self._sender].name)
        if to_it:
            return _sent(desk, to_it[0])
        if sent or self._draft.answers_elsewhere:
            return Answered()
        raise NothingToAnswer(ref=self._ref, name=desk.boxes[self._sender].name)

    @property
    def _sent(self) -> str:
        query = "sent_mail" if is_id(self._ref) else "sent_mail_by_client_id"
        return f"{query}:{self._ref}:{self._sender}:{','.join(self._agents)}"


def _sent(desk: Desk, row: Row) -> Answered:
    """A message of the sender's own, to the same agent. Its session lies on the desk already where another act of the group has it."""
    _, correlation_id, *session = row
    if session[0] is None:
        return Answered(None, correlation_id)
    thread = desk.threads.get(session[0])
    if thread is None:
        thread = ThreadRow(*session)
        desk.threads[thread.id] = desk.thread_keys[thread.low, thread.high, thread.subject_key] = thread
    return Answered(thread, correlation_id)

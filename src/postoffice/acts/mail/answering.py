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
from postoffice.core.names import is_role
from postoffice.core.session import pair

ANSWERED = "answered"
"""What a sender is told of a message that its recipient has answered by hand."""


class Answered(NamedTuple):
    """The message that is answered, as far as it is known."""

    thread: ThreadRow | None = None
    correlation_id: str | None = None
    got: DeliveryRow | None = None
    """The delivery, where it was to whoever answers, or to a role for which that agent took it."""
    by: str = ""
    """Who answers."""

    @property
    def for_role(self) -> str | None:
        """The role that is answered for: whoever wrote to it lets the answer in."""
        return None if self.got is None or self.got.mailbox == self.by else self.got.mailbox

    def joined(self, desk: Desk, members: tuple[str, str]) -> ThreadRow | None:
        """Its session, if these two have it together, or one of them for a role."""
        thread = self.thread
        if thread is None or (thread.low, thread.high) == members:
            return thread
        if self.for_role is not None:
            members = pair(self.for_role, *(one for one in members if one != self.by))
            return thread if (thread.low, thread.high) == members else None
        return thread if beside_role(desk, thread, members) else None

    def answers(self, agent: str) -> bool:
        """Whether it is this agent that is answered."""
        return self.got is not None and self.got.sender == agent

    def on_list(self, desk: Desk, session_id: str) -> bool:
        """Whether this is the session of a list by which it came: what answers its author alone is no part of that."""
        return self.got is not None and self.got.session_id == session_id and session_id not in desk.threads

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
        if row.state in WAITING and (self.for_role is None or row.holder is not None):
            row.holder = self.by
            settle(desk, row)
        if not automatic:
            row.reason = ANSWERED
            desk.changed_mail[row.message_id, row.mailbox] = row


def beside_role(desk: Desk, thread: ThreadRow, members: tuple[str, str]) -> bool:
    """Whether it is a role's session, and these two are who wrote to the role and the one of its agents who has the session."""
    taker = desk.role_sessions.get(thread.id)
    return taker is not None and members == pair(taker, thread.low if is_role(thread.high) else thread.high)


class Answering:
    """What one sender answers."""

    def __init__(self, sender: str, draft: Draft, agents: list[str], roles: tuple[str, ...] | None) -> None:
        self._sender = sender
        self._roles = roles
        """The roles that the sender is in; nothing where the office has none."""
        self._draft = draft
        self._agents = agents
        self._ref = draft.reply_to or ""

    def ask(self, needs: Needs) -> None:
        """Have what the sender got under that id, itself or for a role."""
        if self._roles is not None and self._draft.session_id is not None and is_id(self._draft.session_id):
            needs.role_sessions.add(self._draft.session_id)
        if self._ref:
            key = (self._ref, self._sender)
            needs.mail[key] = needs.mail.get(key, False)
            for role in self._roles or ():
                needs.mail[self._ref, role] = True

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        """Have its session, or what the sender sent under that id."""
        if not self._ref:
            return
        rows = mail_under(desk, self._ref, self._sender)
        needs.threads.update(row.session_id for row in rows if row.session_id is not None)
        if self._roles is not None:
            needs.role_sessions.update(row.session_id for row in rows if row.session_id is not None)
        for row in (row for role in self._roles or () for row in mail_under(desk, self._ref, role)):
            needs.takes.add((row.message_id, row.mailbox))
            needs.threads.update(() if row.session_id is None else (row.session_id,))
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
            return Answered(desk.threads.get(row.session_id or ""), row.correlation_id, row, self._sender)
        for role in self._roles or ():
            row = find_mail(desk, self._ref, role, lambda one: self._took(desk, one))
            if row is not None and self._took(desk, row):
                return Answered(desk.threads.get(row.session_id or ""), row.correlation_id, row, self._sender)
        sent = desk.extra.get(self._sent, [])
        to_it = [row for row in sent if row[0] is not None]
        if len(to_it) > 1:
            raise AmbiguousId(ref=self._ref, name=desk.boxes[self._sender].name)
        if to_it:
            return _sent(desk, to_it[0])
        if sent or self._draft.answers_elsewhere:
            return Answered()
        raise NothingToAnswer(ref=self._ref, name=desk.boxes[self._sender].name)

    def _took(self, desk: Desk, row: DeliveryRow) -> bool:
        """Whether it went to a role, and whoever answers took it last."""
        take = desk.takes.get((row.message_id, row.mailbox))
        return take is not None and take.agent == self._sender

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

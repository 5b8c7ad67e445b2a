"""Which session a message joins that names one, and whom that session lets in."""

from postoffice.acts.desk import Desk
from postoffice.acts.mail.answering import Answered, beside_role
from postoffice.acts.rows import Box, ThreadRow
from postoffice.core.errors import NoSuchSession, NotParticipant
from postoffice.core.session import pair


def named_thread(desk: Desk, session_id: str, sender: str, box: Box, answered: Answered) -> ThreadRow:
    """The session that a message names: of these two, or of a role that one of them wrote to and the other answers for."""
    members = pair(sender, box.agent)
    thread = desk.threads.get(session_id)
    if thread is not None and (beside_role(desk, thread, members) or answered.joined(desk, members) is thread):
        return thread
    if thread is None or sender not in (thread.low, thread.high):  # one answer: a stranger does not learn that there is one
        raise NoSuchSession(session=session_id)
    if (thread.low, thread.high) != members:
        raise NotParticipant(name=box.name, session=thread.id)
    return thread


def is_invited(desk: Desk, session_id: str | None, sender: str, box: Box, answered: Answered) -> bool:
    """Whether the recipient wrote to a role, and the sender answers for it."""
    if answered.for_role is not None:
        return answered.answers(box.agent)
    thread = desk.threads.get(session_id or "")
    return thread is not None and sender == desk.role_sessions.get(thread.id) and beside_role(desk, thread, pair(sender, box.agent))

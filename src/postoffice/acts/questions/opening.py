"""A letter asks a person something: the question stays open until it is answered, expires or is withdrawn."""

from msgspec.structs import astuple

from postoffice.acts.desk import Desk
from postoffice.acts.rows import Box, QuestionRow
from postoffice.core.agent import is_person
from postoffice.core.clock import micros
from postoffice.core.draft import Draft
from postoffice.core.errors import BadMessage, NoPerson
from postoffice.core.event import Kind
from postoffice.core.message import Message
from postoffice.core.question import QuestionState


def check_question(desk: Desk, draft: Draft, sender: str, box: Box) -> None:
    """Refuse a question that nobody could answer."""
    if draft.ask is None:
        return
    if not is_person(box.agent, box.card):
        raise NoPerson(name=box.name)
    if box.agent == sender:
        raise BadMessage(field="ask", why="nobody asks themselves")
    if draft.ask.deadline is not None and micros(draft.ask.deadline) <= desk.now:
        raise BadMessage(field="ask", why="its deadline has passed")


def open_question(desk: Desk, message: Message, asker: str, person: Box, session_id: str | None) -> None:
    """Keep the question that a message asks."""
    assert message.ask is not None
    deadline = message.ask.deadline
    row = QuestionRow(
        message_id=message.id,
        asker=asker,
        person=person.agent,
        session_id=session_id,
        state=QuestionState.OPEN,
        deadline=None if deadline is None else micros(deadline),
        created_at=desk.now,
    )
    write_question(desk, row)
    desk.tell(person, Kind.QUESTION, message.id, {"state": QuestionState.OPEN})


def write_question(desk: Desk, row: QuestionRow) -> None:
    """Keep a question as it is now."""
    desk.questions[row.message_id] = row
    desk.write("put_question", astuple(row), row.message_id)

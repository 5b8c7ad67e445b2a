"""What a store can be asked about questions to people."""

import msgspec

from postoffice.acts.questions.closing import as_question
from postoffice.acts.rows import QuestionRow, Row
from postoffice.core.clock import is_id, moment
from postoffice.core.letter import text_of
from postoffice.core.message import Message
from postoffice.core.names import folded
from postoffice.core.question import Ask, Question, QuestionState
from postoffice.core.views import Page
from postoffice.store.engine import Engine
from postoffice.store.reads.pages import id_cursor, page_of

_message = msgspec.json.Decoder(Message).decode


class QuestionReads:
    """Questions."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def named(self, id: str) -> Question | None:
        """One question, by its message's id."""
        rows = await self._engine.fetch("question", id=id) if is_id(id) else ()
        return as_read(rows[0]) if rows else None

    async def page(
        self, *, person: str | None = None, asker: str | None = None, state: QuestionState | None, cursor: str | None, limit: int
    ) -> Page[Question]:
        """Those to a person, by an asker, or all; newest first."""
        agent = person or asker
        opened = person is not None and state is QuestionState.OPEN
        query = (
            "open_questions" if opened else "questions_to" if person is not None else "questions_by" if asker is not None else "questions"
        )
        wanted = {"state": state, "before": id_cursor(cursor), "limit": limit + 1}
        rows = await self._engine.fetch(query, **wanted, **({} if agent is None else {"agent": folded(agent)}))
        return page_of([as_read(row) for row in rows[:limit]], rows, limit, lambda row: row[0])

    async def overdue(self, limit: int) -> list[Question]:
        """Those whose deadline has passed, the oldest first."""
        return [as_read(row) for row in await self._engine.fetch("overdue_questions", limit=limit)]


def as_read(columns: Row) -> Question:
    """A question from its row, its message, and the names of the two."""
    *values, body, asker, person = columns
    row, message = QuestionRow(*values), _message(body)
    ask = message.ask or Ask()
    question = Question(
        id=row.message_id,
        asker=asker,
        person=person,
        subject=message.subject,
        content=text_of(message),
        choices=ask.choices,
        text=ask.text,
        default=ask.default,
        deadline=ask.deadline,
        priority=message.priority,
        state=QuestionState(row.state),
        created_at=moment(row.created_at),
        session_id=row.session_id,
        correlation_id=message.correlation_id,
    )
    return as_question(question, row)

"""What a store can be asked about talk without end."""

from postoffice.acts.questions.go_on import LongTalk
from postoffice.core.clock import is_id
from postoffice.store.engine import Engine


class EndlessReads:
    """Sessions whose agents write to each other without end."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def unasked(self) -> LongTalk | None:
        """One that the owner should be asked about."""
        rows = await self._engine.fetch("unasked_long_talks")
        return LongTalk(*rows[0]) if rows else None

    async def of_question(self, id: str) -> LongTalk | None:
        """What a question of the office's is about."""
        rows = await self._engine.fetch("talk_of_question", id=id)
        return LongTalk(*rows[0]) if rows else None

    async def of_session(self, id: str) -> LongTalk | None:
        """The session, if its agents write to each other without end."""
        rows = await self._engine.fetch("long_talk", id=id) if is_id(id) else ()
        return LongTalk(*rows[0]) if rows else None

    async def asked_beside(self, talk: LongTalk) -> str | None:
        """The id of the open question whose answer is about these two as well."""
        rows = await self._engine.fetch("asked_beside", low=talk.low, high=talk.high)
        return str(rows[0][0]) if rows else None

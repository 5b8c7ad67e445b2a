"""What a store can be asked about talk without end."""

from postoffice.acts.questions.go_on import LongTalk
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

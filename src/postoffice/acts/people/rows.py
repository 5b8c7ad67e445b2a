"""Rows of roles as acts have them."""

from msgspec import Struct

from postoffice.acts.rows import Row
from postoffice.core.agent import Card
from postoffice.core.role import has_capability


class RoleRow(Struct):
    """A role as it stands while a group of acts changes it."""

    agent: str
    made_by: str
    capability: str | None
    created_at: int
    staff: set[str]

    @classmethod
    def of(cls, role: str, rows: list[Row]) -> "RoleRow":
        """A role as one query gives it, with a row for each agent that is in it by name."""
        made_by, capability, created_at, _ = rows[0]
        return cls(role, made_by, capability, created_at, {agent for *_, agent in rows if agent is not None})

    def has(self, agent: str, card: Card) -> bool:
        """Whether an agent is in it, by name or by its card."""
        return agent in self.staff or has_capability(card, self.capability)


class TakeRow(Struct):
    """Who took a letter of a role last, and when."""

    message_id: str
    mailbox: str
    agent: str
    at: int

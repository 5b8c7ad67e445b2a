"""How many automatic replies a session has left. Any message that is not automatic refills it."""

from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import notify
from postoffice.acts.rows import Box, ThreadRow
from postoffice.acts.rules.notices import budget_spent
from postoffice.core.errors import BudgetSpent
from postoffice.core.event import Kind
from postoffice.core.loops import budget_after


def check_budget(desk: Desk, thread: ThreadRow | None, other: Box, *, automatic: bool) -> None:
    """Refuse an automatic reply to a session that has none left."""
    full = desk.limits.automatic_replies
    if budget_after(full if thread is None else thread.replies_left, automatic=automatic, full=1) is None:
        raise BudgetSpent(session=f"(none yet, with {other.name})" if thread is None else thread.id, limit=full)


def spend(desk: Desk, thread: ThreadRow, one: Box, other: Box, *, automatic: bool) -> None:
    """Count a message against its session's budget."""
    full = desk.limits.automatic_replies
    thread.replies_left = budget_after(thread.replies_left, automatic=automatic, full=full) or 0
    if automatic and thread.replies_left == 0:
        # Both are told when the last one goes: so they are told once, and a later refusal changes nothing.
        for reader, partner in ((one, other), (other, one)):
            notify(desk, reader, budget_spent(thread.id, partner.name, full))
            desk.tell(reader, Kind.BUDGET_SPENT, thread.id)

"""A turn of one agent at a role's mailbox: of all who are in it, one takes each letter, and whoever began a session keeps it."""

from postoffice.acts.desk import Desk
from postoffice.acts.mail.take_and_settle import TakeAndSettle
from postoffice.acts.needs import Needs
from postoffice.acts.people.roles import ask_role, role_row
from postoffice.acts.people.rows import TakeRow
from postoffice.acts.rows import DeliveryRow
from postoffice.acts.rules.finding import mail_under
from postoffice.core.delivery import Leased, Settlement, Wish
from postoffice.core.names import folded


class TakeFromRole(TakeAndSettle):
    """Settle what this agent has of a role's mail, then take of it. Only who is in the role takes; who has something may settle it."""

    def __init__(
        self, role: str, taker: str, settlements: tuple[Settlement, ...] = (), wish: Wish | None = None, window: str | None = None
    ) -> None:
        super().__init__(role, settlements, wish, window)
        self.taker = folded(taker)
        self.brief = False

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.boxes.add(self.taker)
        ask_role(needs, self.mailbox)

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        super().ask_more(needs, desk)
        waiting = desk.pools.get(self.mailbox, {}).values()
        returned = (row for row in desk.due if row.mailbox == self.mailbox)
        needs.role_sessions.update(row.session_id for row in (*waiting, *returned) if row.session_id is not None)
        named = [row for one in self.settlements for row in mail_under(desk, one.ref, self.mailbox)]
        needs.takes.update((row.message_id, row.mailbox) for row in named)
        needs.role_sessions.update(row.session_id for row in named if row.session_id is not None)

    def undo(self, outcome: object) -> "TakeFromRole | None":
        back = super().undo(outcome)
        return None if back is None else TakeFromRole(self.mailbox, self.taker, back.settlements)

    def _same(self, desk: Desk, row: DeliveryRow, token: str | None) -> bool:
        """Without a token it is the agent's that took it last, and none of its colleagues'."""
        take = desk.takes.get((row.message_id, row.mailbox))
        return super()._same(desk, row, token) and (token is not None or (take is not None and take.agent == self.taker))

    def _take(self, desk: Desk, wish: Wish) -> tuple[Leased, ...]:
        if not self._is_in_it(desk) or desk.boxes[self.taker].is_paused(desk.now):
            return ()
        return super()._take(desk, wish)

    def _is_in_it(self, desk: Desk) -> bool:
        role = role_row(desk, self.mailbox)
        return role is not None and role.has(self.taker, desk.boxes[self.taker].card)

    def _may_have_again(self, desk: Desk, row: DeliveryRow) -> bool:
        return self._is_in_it(desk) and self._may_take(desk, row) and super()._may_have_again(desk, row)

    def _may_take(self, desk: Desk, row: DeliveryRow) -> bool:
        """Whether its session is nobody's, or this agent's."""
        return desk.role_sessions.get(row.session_id or "") in (None, self.taker)

    def _taken(self, desk: Desk, row: DeliveryRow) -> None:
        key = (row.message_id, row.mailbox)
        desk.takes[key] = TakeRow(*key, self.taker, desk.now)
        desk.write("put_role_take", (*key, self.taker, desk.now), key)
        if row.session_id is not None:
            desk.role_sessions[row.session_id] = self.taker
            desk.writes.get("drop_role_session", {}).pop(row.session_id, None)
            desk.write("put_role_session", (row.session_id, row.mailbox, self.taker, desk.now), row.session_id)

"""Read a list's session: what was shown to a member is settled, as in any session."""

from collections.abc import Sequence

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import settle
from postoffice.acts.mail.session import settled_by
from postoffice.acts.needs import Needs
from postoffice.core.names import folded


class SettleShown(Act[tuple[str, ...]]):
    """Settle what its reader was shown and nobody has in hand. Gives what it settled."""

    def __init__(self, reader: str, shown: Sequence[str]) -> None:
        self.reader = folded(reader)
        self.shown = tuple(shown)

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.reader)
        needs.mail.update(((id, self.reader), True) for id in self.shown)

    def run(self, desk: Desk) -> tuple[str, ...]:
        settled = []
        if desk.boxes[self.reader].card.person:  # what a person opens is seen, and not done with
            return ()
        for id in self.shown:
            row = desk.mail.get((id, self.reader))
            if row is not None and settled_by(self.reader, row) and not row.is_expired(desk.now):
                settle(desk, row)
                settled.append(id)
        return tuple(settled)

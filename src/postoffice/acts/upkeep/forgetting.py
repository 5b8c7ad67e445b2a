"""What is forgotten: old mail, old news, and records that have outlived their use."""

from datetime import timedelta

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.upkeep.housekeeping import Housekeeping
from postoffice.core.clock import micros
from postoffice.core.delivery import WAITING, State
from postoffice.core.message import is_note
from postoffice.core.task import FINAL

_SESSIONS_REMEMBERED = timedelta(days=400)
"""How long a client's session that is resumed gets its own name back."""


class Purge(Act[int]):
    """Forget messages that every recipient is done with, leaving a tombstone."""

    def __init__(self, mail: tuple[tuple[str, str], ...], older_than: timedelta) -> None:
        self.mail = mail
        self.older_than = older_than

    def ask(self, needs: Needs) -> None:
        needs.mail.update((key, True) for key in self.mail)

    def run(self, desk: Desk) -> int:
        cutoff = desk.now - micros(self.older_than)
        messages: dict[str, list[str]] = {}
        for id, mailbox in self.mail:
            messages.setdefault(id, []).append(mailbox)
        purged = 0
        for id, mailboxes in messages.items():
            task = desk.tasks.get(id)
            if task is not None and (task.state not in FINAL or task.updated_at > cutoff):
                continue
            rows = [row for mailbox in mailboxes if (row := desk.mail.get((id, mailbox))) is not None]
            if not rows or any(row.state in WAITING or is_note(row.type) or (row.settled_at or 0) > cutoff for row in rows):
                continue
            for row in rows:
                if row.state == State.DEAD and row.deliver_at is None:
                    box = desk.boxes[row.mailbox]
                    box.dead -= 1
                    desk.changed_boxes[box.agent] = box
            _purge(desk, id, rows[0].sender)
            for row in rows:  # gone for the acts after this one too
                desk.take_away(row)
            purged += 1
        return purged


class PurgeUnreached(Housekeeping[int]):
    """Forget messages that were old when they were looked for, and had reached nobody: that does not change."""

    def __init__(self, ids: tuple[str, ...]) -> None:
        self.ids = ids

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.extra |= {f"sender_of:{id}": (id,) for id in self.ids}

    def run(self, desk: Desk) -> int:
        purged = 0
        for id in self.ids:
            senders, desk.extra[f"sender_of:{id}"] = desk.extra[f"sender_of:{id}"], []
            for (sender,) in senders:
                _purge(desk, id, sender)
                purged += 1
        return purged


def _purge(desk: Desk, id: str, sender: str) -> None:
    desk.write("add_tombstone", (id, sender, desk.now), id)
    for statement in (
        "delete_search",
        "delete_deliveries",
        "delete_task",
        "delete_task_links",
        "delete_question",
        "delete_rings",
        "delete_attachments",
        "delete_role_takes",
        "delete_list_letter",
        "delete_message",
    ):
        desk.write(statement, (id,), id)
    # What is taken out and put in by one statement of PostgreSQL stays in.
    desk.writes.get("add_search", {}).pop(id, None)


class ForgetEvents(Housekeeping[int]):
    """Drop news that has grown old."""

    def __init__(self, events: tuple[tuple[str, int], ...]) -> None:
        self.events = events

    def run(self, desk: Desk) -> int:
        for event in self.events:
            desk.write("forget_event", event, event)
        return len(self.events)


class Forget(Housekeeping[int]):
    """Drop what has outlived its use: these records of ids, logins, spent counters."""

    def __init__(self, dedupe: tuple[tuple[str, str, str, int], ...]) -> None:
        self.dedupe = dedupe

    def run(self, desk: Desk) -> int:
        for record in self.dedupe:
            desk.write("forget_dedupe", record, record)
        desk.write("forget_logins", (desk.now,))
        desk.write("forget_answer_links", (desk.now,))
        desk.write("forget_window_sessions", (desk.now - micros(_SESSIONS_REMEMBERED),))
        desk.write("forget_limits", (desk.now - micros(timedelta(days=1)),))
        return len(self.dedupe)

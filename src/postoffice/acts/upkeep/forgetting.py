"""The office's own housekeeping: who does it, the search index, and what is forgotten."""

from datetime import timedelta

import msgspec

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.core.clock import micros
from postoffice.core.delivery import WAITING, State
from postoffice.core.errors import DiskFull
from postoffice.core.message import Message, is_note
from postoffice.core.names import SYSTEM
from postoffice.core.task import FINAL
from postoffice.core.text import render

_INDEXED = 400_000  # bytes of a text that are indexed: PostgreSQL keeps at most a megabyte of words, which takes up to twice its text
_message = msgspec.json.Decoder(Message).decode


class Upkeep(Act[int]):
    """Housekeeping takes the office's own mailbox, so that no two processes do it at once."""

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(SYSTEM)


class HoldRole(Upkeep):
    """Take or keep a role for a while. 1 if it is the holder's now."""

    def __init__(self, role: str, holder: str, lasts: timedelta) -> None:
        self.role = role
        self.holder = holder
        self.lasts = lasts

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.extra[f"role:{self.role}"] = (self.role,)

    def run(self, desk: Desk) -> int:
        for holder, until in desk.extra[f"role:{self.role}"]:
            # One that lasts longer than any was given before the clock stepped back: its holder asks again in a moment, if there is one.
            if holder != self.holder and desk.now < until <= desk.now + micros(self.lasts):
                return 0
        until = desk.now + micros(self.lasts)
        desk.extra[f"role:{self.role}"] = [(self.holder, until)]
        desk.write("put_role", (self.role, self.holder, until), self.role)
        return 1


class IndexSearch(Upkeep):
    """Index what was said since the last time, following the log of events. Gives how much of the log it read."""

    def __init__(self, limit: int) -> None:
        self.limit = limit

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        (known,) = needs.extra.get("unindexed", (0,))
        needs.extra["unindexed"] = (max(known, self.limit),)

    def run(self, desk: Desk) -> int:
        # Acts of one group share what was loaded: each tells of all of it, so that whoever catches up knows whether there is more.
        rows = desk.extra["unindexed"]
        try:
            desk.room.take(sum(len(body or "") for _, body in rows))
        except DiskFull:  # what is there is searched all the same
            return 0
        purged = desk.writes.get("delete_search", {})
        for _, body in rows:
            if body is not None and (message := _message(body)).id not in purged:
                payload = None if message.payload is msgspec.UNSET else message.payload
                text = f"{message.subject}\n{render(message.content, message.parts, payload)}"
                text = text.encode()[:_INDEXED].decode(errors="ignore")
                desk.write("add_search", (message.id, text), message.id)
        if rows:
            desk.write("put_cursor", ("search", rows[-1][0]), "search")
        return len(rows)


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
                if row.state == State.DEAD:
                    box = desk.boxes[row.mailbox]
                    box.dead -= 1
                    desk.changed_boxes[box.agent] = box
            _purge(desk, id, rows[0].sender)
            for row in rows:  # gone for the acts after this one too
                desk.take_away(row)
            purged += 1
        return purged


class PurgeUnreached(Upkeep):
    """Forget messages that were old when they were looked for, and had reached nobody: that does not change."""

    def __init__(self, ids: tuple[str, ...]) -> None:
        self.ids = ids

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.extra |= {f"sender_of:{id}": (id,) for id in self.ids}

    def run(self, desk: Desk) -> int:
        purged = 0
        for id in self.ids:
            found, desk.extra[f"sender_of:{id}"] = desk.extra[f"sender_of:{id}"], []
            for (sender,) in found:
                _purge(desk, id, sender)
                purged += 1
        return purged


def _purge(desk: Desk, id: str, sender: str) -> None:
    desk.write("add_tombstone", (id, sender, desk.now), id)
    for statement in ("delete_search", "delete_deliveries", "delete_task", "delete_message"):
        desk.write(statement, (id,), id)
    # What is taken out and put in by one statement of PostgreSQL stays in.
    desk.writes.get("add_search", {}).pop(id, None)


class ForgetEvents(Upkeep):
    """Drop news that has grown old."""

    def __init__(self, events: tuple[tuple[str, int], ...]) -> None:
        self.events = events

    def run(self, desk: Desk) -> int:
        for event in self.events:
            desk.write("forget_event", event, event)
        return len(self.events)


class Forget(Upkeep):
    """Drop what has outlived its use: these records of ids, visits, spent counters."""

    def __init__(self, dedupe: tuple[tuple[str, str, str, int], ...]) -> None:
        self.dedupe = dedupe

    def run(self, desk: Desk) -> int:
        for record in self.dedupe:
            desk.write("forget_dedupe", record, record)
        desk.write("forget_visits", (desk.now,))
        desk.write("forget_limits", (desk.now - micros(timedelta(days=1)),))
        return len(self.dedupe)

"""The desk: the rows a group of acts works on, and the changes they make, until all is written at once.

Acts of one group see each other's changes here. Whatever an act refuses, it refuses before it changes anything.
"""

from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from typing import Any

import msgspec
from msgspec.structs import astuple

from postoffice.acts.lists.rows import ListsOnDesk
from postoffice.acts.needs import LinesKey
from postoffice.acts.people.rows import RoleRow, TakeRow
from postoffice.acts.room import Room
from postoffice.acts.rows import (
    Box,
    Boxes,
    ConnectionRow,
    DeliveryRow,
    KeyRow,
    MailKey,
    MemoryRow,
    QuestionRow,
    RingRow,
    Row,
    TaskRow,
    ThreadKey,
    ThreadRow,
    Version,
    WindowRow,
)
from postoffice.acts.work.rows import BidRow, ReservationRow
from postoffice.core.agent import KEYS_OF, Card
from postoffice.core.clock import Clock, moment
from postoffice.core.event import Kind
from postoffice.core.limits import Limits
from postoffice.core.names import folded
from postoffice.core.seal import Seal
from postoffice.core.session import pair, subject_key

_encode = msgspec.json.Encoder().encode


class Desk:
    """One group's working set."""

    def __init__(
        self,
        clock: Clock,
        limits: Limits,
        new_delivery_id: Callable[[], object],
        boxes: Boxes,
        threads: dict[str, ThreadRow],
        thread_keys: dict[ThreadKey, ThreadRow],
        room: Room,
        seal: Seal,
    ) -> None:
        self.room = room
        self._seal = seal
        self.new_delivery_id = new_delivery_id
        self.clock = clock
        self.limits = limits
        self.now = 0
        self.boxes = boxes
        self.versions: dict[str, Version] = {}  # of the mailboxes loaded for this group
        self.threads = threads
        self.thread_keys = thread_keys
        self.mail: dict[tuple[str, str], DeliveryRow] = {}  # by (message id, mailbox)
        self.mail_named: dict[tuple[str, str], list[DeliveryRow]] = {}  # by (sender's id, mailbox)
        self.lines: dict[LinesKey, list[DeliveryRow]] = {}
        self.pools: dict[str, dict[str, DeliveryRow]] = {}  # by mailbox: what may be leased, by message id
        self.heads: set[str] = set()  # messages that are the first of their session, with none of it in hand
        self.busy: set[tuple[str, str]] = set()  # (mailbox, session) of which this group leased something
        self.due: list[DeliveryRow] = []
        self.connected: dict[tuple[str, str], str | None] = {}  # by pair: the assurance of their consent
        self.dedupe: dict[tuple[str, str, str], tuple[bytes, str, int]] = {}
        self.tasks: dict[str, TaskRow] = {}  # by message id
        self.under_way: dict[str, int] = {}
        self.linked: list[tuple[str, tuple[str, ...]]] = []  # tasks that got a part in this group, and what that waits for
        self.memories: dict[str, MemoryRow] = {}
        self.questions: dict[str, QuestionRow] = {}  # by message id
        self.connections: dict[str, ConnectionRow] = {}
        self.keys: dict[str, KeyRow] = {}
        self.counters: dict[str, tuple[int, int]] = {}
        self.entities: dict[str, tuple[str, int, int]] = {}
        self.windows: dict[str, WindowRow] = {}
        self.window_names: dict[str, tuple[bool, str | None]] = {}  # by agent: whether a person chose it, and which machine's it is
        self.rings: dict[MailKey, RingRow] = {}
        self.window_sessions: dict[tuple[str, str], str] = {}  # by client and session: its agent
        self.holders: dict[str, str] = {}  # by open window: its agent
        self.roles: dict[str, RoleRow | None] = {}  # by address, once an act has looked
        self.role_sessions: dict[str, str] = {}  # whose they are who are there
        self.takes: dict[MailKey, TakeRow] = {}  # of letters to roles
        self.reservations: dict[str, ReservationRow] | None = None  # by id, once an act has looked
        self.bids: dict[str, BidRow] | None = None
        self.lists = ListsOnDesk()
        self.extra: dict[str, list[Row]] = {}
        # What the acts changed, by the statement that writes it.
        self.new_agents: list[Box] = []
        self.changed_agents: dict[str, Box] = {}
        self.changed_boxes: dict[str, Box] = {}
        self.new_threads: dict[str, ThreadRow] = {}
        self.changed_threads: dict[str, ThreadRow] = {}
        self.posted: list[DeliveryRow] = []
        self.changed_mail: dict[MailKey, DeliveryRow] = {}
        self.writes: dict[str, dict[object, Row]] = {}
        self.hints: set[str] = set()

    @cached_property
    def at(self) -> datetime:
        """Now, as people write it."""
        return moment(self.now)

    def write(self, statement: str, row: Row, key: object = None) -> None:
        """Write this row with the named statement when the group closes. If several rows share a key, the last one counts."""
        rows = self.writes.setdefault(statement, {})
        rows[len(rows) if key is None else key] = row

    def write_connection(self, row: ConnectionRow) -> None:
        """Keep a request or connection as it is now."""
        row.updated_at = self.now
        self.write("put_connection", astuple(msgspec.structs.replace(row, code=self._seal.close(row.code))), row.id)

    def lay_connection(self, row: Row) -> ConnectionRow:
        """Lay a request or connection on the desk, with its code as people pass it on."""
        connection = ConnectionRow(*row)
        connection.code = self._seal.open(connection.code)
        return self.connections.setdefault(connection.id, connection)

    def kept_codes(self, codes: set[str]) -> set[str]:
        """These codes as the store has them: sealed, or plain where they are older than the seal."""
        return codes | {self._seal.close(code) for code in codes}

    def write_key(self, row: KeyRow) -> None:
        """Keep a key as it is now; whoever remembers what was true before must forget it."""
        self.write("put_key", astuple(row), row.hash)
        self.hints.update((row.agent, KEYS_OF + row.agent))

    def write_window(self, row: WindowRow) -> None:
        """Keep a window as it is now."""
        self.windows[row.id] = row
        # One that had ended and opens again in one act is not ended after it is written.
        self.writes.get("delete_window", {}).pop(row.id, None)
        self.write("put_window", astuple(row), row.id)

    def delete_window(self, row: WindowRow) -> None:
        """A window is closed."""
        del self.windows[row.id]
        self.writes.get("put_window", {}).pop(row.id, None)
        self.write("delete_window", (row.id,), row.id)

    def end_logins(self, agent: str, at: int) -> None:
        """No login of an agent lasts longer than a key of its own."""
        _, earlier = self.writes.get("end_logins_of", {}).get(agent, (agent, at))
        self.write("end_logins_of", (agent, min(at, earlier)), agent)

    def lay(self, row: DeliveryRow) -> DeliveryRow:
        """Lay a delivery on the desk. Loaded twice, it stays one row, which acts may already hold."""
        delivery = self.mail.setdefault((row.message_id, row.mailbox), row)
        delivery.body = delivery.body or row.body
        if row.client_id is not None and (delivery is row or delivery.client_id is None):
            delivery.client_id = row.client_id
            self.mail_named.setdefault((row.client_id, row.mailbox), []).append(delivery)
        return delivery

    def take_away(self, row: DeliveryRow) -> None:
        """A delivery that is gone: no later act of the group finds it."""
        del self.mail[row.message_id, row.mailbox]
        if row.client_id is not None:
            self.mail_named[row.client_id, row.mailbox].remove(row)

    def new_box(self, name: str, card: Card, *, acted: bool = False) -> Box:
        """An agent that is not there yet, with an empty mailbox."""
        return Box(
            agent=folded(name),
            name=name,
            id=self.clock.new_id(),
            card=card,
            has_key=False,
            acted=acted,
            created_at=self.now,
            last_seen=self.now if acted else None,
        )

    def remember(self, box: Box) -> None:
        """Have an agent in the directory again that the owner has forgotten."""
        box.forgotten = False
        self.changed_agents[box.agent] = box

    # Mail

    def number(self, box: Box) -> int:
        """The mailbox's next number; the box's row is locked, so no commit can overtake it."""
        box.counted += 1
        self.changed_boxes[box.agent] = box
        return box.counted

    def tell(self, box: Box, kind: Kind, ref: str, data: dict[str, Any] | None = None, number: int | None = None) -> None:
        """Put news into an agent's log."""
        taken = self.number(box) if number is None else number
        text = "{}" if data is None else _encode(data).decode()
        self.write("add_event", (box.agent, taken, str(kind), ref, text, self.now))
        self.hints.add(box.agent)

    def thread_of(self, one: str, other: str, subject: str) -> ThreadRow | None:
        """The two agents' session of that subject, or a new one; None for mail to oneself."""
        if one == other:
            return None
        low, high = pair(one, other)
        key = (low, high, subject_key(subject))
        thread = self.thread_keys.get(key)
        if thread is None:
            thread = ThreadRow(
                id=self.clock.new_id(),
                low=low,
                high=high,
                subject=subject,
                subject_key=key[2],
                counted=0,
                unread_low=0,
                unread_high=0,
                replies_left=self.limits.automatic_replies,
                created_at=self.now,
                last_at=self.now,
            )
            self.threads[thread.id] = self.thread_keys[key] = self.new_threads[thread.id] = thread
        return thread

"""The desk: the rows a group of acts works on, and the changes they make, until all is written at once.

Acts of one group see each other's changes here. Whatever an act refuses, it refuses before it changes anything.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

import msgspec
from msgspec.structs import astuple

from postoffice.acts.room import Room
from postoffice.acts.rows import Box, Boxes, ConnectionRow, DeliveryRow, KeyRow, MailKey, Row, TaskRow, ThreadKey, ThreadRow, Version
from postoffice.core.agent import KEYS_OF, Card
from postoffice.core.clock import Clock, micros, moment
from postoffice.core.delivery import UNREAD, WAITING, State, Wish
from postoffice.core.errors import RateLimited
from postoffice.core.event import Kind
from postoffice.core.limits import Limits
from postoffice.core.message import NOTICE, Message
from postoffice.core.names import SYSTEM, folded
from postoffice.core.session import pair, subject_key
from postoffice.core.task import FINAL, UNDELIVERED, Step, TaskState, recorded

_encode = msgspec.json.Encoder().encode
_steps = msgspec.json.Decoder(tuple[Step, ...])


LinesKey = tuple[str, int, int, str]
"""A session, before which number, how many, and who reads them."""


class Needs:
    """What must lie on the desk before a group's acts can run."""

    def __init__(self) -> None:
        # (message id or sender's id, mailbox), to be settled; False where it will only be acked
        self.mail: dict[tuple[str, str], bool] = {}
        self.bodies: set[tuple[str, str]] = set()  # of these, what was said is needed too
        self.wishes: list[tuple[str, Wish]] = []
        self.due = 0
        self.lines: set[LinesKey] = set()
        self.boxes: set[str] = set()
        self.agents = False  # whether what is known of the agents themselves decides or changes, and not only their mailboxes
        self.everyone = False
        self.threads: set[str] = set()
        self.thread_keys: set[ThreadKey] = set()
        self.pairs: set[tuple[str, str]] = set()
        self.dedupe: set[tuple[str, str, str]] = set()
        self.tasks: set[str] = set()
        self.connections: set[str] = set()
        self.codes: set[str] = set()
        self.requests: set[str] = set()  # agents whose pending requests count
        self.burning: set[str] = set()  # agents whose pending requests may have to go, their requesters with them
        self.keys: set[str] = set()
        self.limits: set[str] = set()
        self.entities: set[str] = set()
        self.extra: dict[str, Row] = {}  # named queries an act needs for itself alone


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
    ) -> None:
        self.room = room
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
        self.dedupe: dict[tuple[str, str, str], tuple[bytes, str]] = {}
        self.tasks: dict[str, TaskRow] = {}  # by message id
        self.under_way: dict[str, int] = {}
        self.connections: dict[str, ConnectionRow] = {}
        self.keys: dict[str, KeyRow] = {}
        self.counters: dict[str, tuple[int, int]] = {}
        self.entities: dict[str, tuple[str, int, int]] = {}
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
        """Have this row written by the named statement when the group closes. Of rows with one key the last counts."""
        rows = self.writes.setdefault(statement, {})
        rows[len(rows) if key is None else key] = row

    def write_connection(self, row: ConnectionRow) -> None:
        """Keep a request or connection as it is now."""
        row.updated_at = self.now
        self.write("put_connection", astuple(row), row.id)

    def write_key(self, row: KeyRow) -> None:
        """Keep a key as it is now; whoever remembers what was true before must forget it."""
        self.write("put_key", astuple(row), row.hash)
        self.hints.update((row.agent, KEYS_OF + row.agent))

    def end_visits(self, agent: str, at: int) -> None:
        """No visit of an agent lasts longer than a key of its own."""
        _, earlier = self.writes.get("end_visits_of", {}).get(agent, (agent, at))
        self.write("end_visits_of", (agent, min(at, earlier)), agent)

    def write_task(self, row: TaskRow) -> None:
        """Keep where a task stands now."""
        self.write("update_task", (row.message_id, row.state, row.overdue, row.steps, row.updated_at), row.message_id)

    def lay(self, row: DeliveryRow) -> DeliveryRow:
        """Lay a delivery on the desk; one loaded twice stays the one row acts may have in hand."""
        known = self.mail.setdefault((row.message_id, row.mailbox), row)
        known.body = known.body or row.body
        if row.client_id is not None and (known is row or known.client_id is None):
            known.client_id = row.client_id
            self.mail_named.setdefault((row.client_id, row.mailbox), []).append(known)
        return known

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

    def count(self, bucket: str, limit: int, window: timedelta) -> None:
        """Count one more of something, unless that is more than is allowed in the window."""
        self.check_count(bucket, limit, window)
        self.add_count(bucket, 1, window)

    def add_count(self, bucket: str, by: int, window: timedelta) -> None:
        """Count so many more of something."""
        begun_at, count = self.counted(bucket, window)
        self.put_count(bucket, count + by, begun_at)

    def check_count(self, bucket: str, limit: int, window: timedelta, refusal: type[RateLimited] = RateLimited) -> None:
        """Refuse what has been done as often as it may be in the window."""
        begun_at, count = self.counted(bucket, window)
        if count >= limit:
            wait = -(-(begun_at + micros(window) - self.now) // 1_000_000)
            who = bucket.partition(":")[2]
            raise refusal(who=who, limit=limit, seconds=int(window.total_seconds()), retry_after=wait)

    def counted(self, bucket: str, window: timedelta) -> tuple[int, int]:
        """When the bucket's present window began, and how often something was done in it."""
        begun_at, count = self.counters.get(bucket, (self.now, 0))
        # One that begins more than its length from now was counted before the clock stepped back.
        return (self.now, 0) if abs(self.now - begun_at) >= micros(window) else (begun_at, count)

    def put_count(self, bucket: str, count: int, begun_at: int) -> None:
        """Keep a count."""
        self.counters[bucket] = (begun_at, count)
        self.write("put_limit", (bucket, begun_at, count), bucket)

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

    def post(self, message: Message, body: str, sender: str, box: Box, thread: ThreadRow | None, state: State = State.PENDING) -> None:
        """Put a message into one mailbox."""
        number = self.number(box)
        session_id = session_number = None
        if thread is not None:
            thread.counted += 1
            thread.last_at = self.now
            session_id, session_number = thread.id, thread.counted
            self._unread(thread, box.agent, int(state in UNREAD))
        size = len(body) if body.isascii() else len(body.encode())
        self._count(box, state, 1, size)
        row = DeliveryRow(
            id=self.new_delivery_id(),
            message_id=message.id,
            mailbox=box.agent,
            number=number,
            priority=message.priority,
            state=str(state),
            sender=sender,
            type=message.type,
            session_id=session_id,
            session_number=session_number,
            correlation_id=message.correlation_id,
            attempts=0,
            token=None,
            tokenless=False,
            due_at=None,
            created_at=self.now,
            leased_at=None,
            settled_at=self.now if state is State.ACKED else None,
            reason=None,
            size=size,
            client_id=message.client_id,
            body=body,
            message=message,
        )
        self.posted.append(row)
        if not row.hidden:
            self.tell(box, Kind.NEW_MESSAGE, message.id, number=number)

    def keep(self, message: Message, sender: str, body: str) -> None:
        """Keep a message itself, once, however many it goes to."""
        self.write("add_message", (message.id, sender, message.client_id, message.type, message.ref_id, self.now, body))

    def move(self, row: DeliveryRow, state: State, *, reason: str | None = None, due_in: timedelta | None = None) -> None:
        """Move a delivery to another state and keep every count true."""
        box = self.boxes[row.mailbox]
        self._count(box, row.state, -1, row.size)
        self._count(box, state, 1, row.size)
        if row.session_id is not None and (by := (state in UNREAD) - (row.state in UNREAD)):
            self._unread(self.threads[row.session_id], row.mailbox, by)
        row.reason = reason if reason is not None or row.lent else row.reason
        row.state = str(state)
        row.due_at = None if due_in is None else self.now + micros(due_in)
        if state in (State.ACKED, State.DEAD):
            row.settled_at = self.now
        self.changed_mail[row.message_id, row.mailbox] = row

    def let_through(self, row: DeliveryRow) -> None:
        """What was held since it was sent is its recipient's now, who hears of it now."""
        self.move(row, State.PENDING)
        self.tell(self.boxes[row.mailbox], Kind.NEW_MESSAGE, row.message_id)

    def settle(self, row: DeliveryRow) -> None:
        """Ack a delivery and tell its sender."""
        self.move(row, State.ACKED)
        # Whoever takes one message of a session at a time could not take the next before: where something waits, it looks again.
        if row.session_id is not None and self.boxes[row.mailbox].pending:
            self.hints.add(row.mailbox)
        if row.sender not in (SYSTEM, row.mailbox):
            self.tell(self.boxes[row.sender], Kind.RECEIPT, row.message_id, {"by": self.boxes[row.mailbox].name})

    def bury(self, row: DeliveryRow, reason: str, *, said: bool = False) -> None:
        """Declare a delivery dead, tell its sender, and fail the task it carried. What the recipient said of it is told as its words."""
        self.move(row, State.DEAD, reason=reason)
        box = self.boxes[row.mailbox]
        self.tell(box, Kind.DEAD_LETTER, row.message_id, {"reason": reason})
        task = self.tasks.get(row.message_id)
        if task is not None and task.state not in FINAL:
            self.step(task, TaskState.FAILED, f"{UNDELIVERED}{reason}")
        # Notices never cause notices.
        if row.sender != SYSTEM:
            self.notice(
                self.boxes[row.sender],
                f"Your message to {box.name} could not be delivered"
                + (f". {box.name} said of it: {_encode(reason).decode()}" if said else f": {reason}."),
                {"kind": "dead_letter", "message_id": row.message_id, "to": box.name, "reason": reason, "attempts": row.attempts},
                reply_to=row.message_id,
                correlation_id=row.correlation_id,
            )

    def notice(self, box: Box, text: str, payload: dict[str, Any], **fields: Any) -> None:
        """Mail from the office itself: past admission and depth, in the agent's standing session with it."""
        message = Message(
            id=self.clock.new_id(),
            sender=SYSTEM,
            to=box.name,
            created_at=self.at,
            from_verified=True,
            type=NOTICE,
            content=text,
            payload=payload,
            trace=(SYSTEM,),
            **fields,
        )
        body = _encode(message).decode()
        self.keep(message, SYSTEM, body)
        self.post(message, body, SYSTEM, box, self.thread_of(SYSTEM, box.agent, ""))

    def step(self, task: TaskRow, state: TaskState, text: str | None = None, implied: tuple[TaskState, ...] = ()) -> None:
        """Move a task, with the steps it implies, and tell both sides."""
        added = (*(Step(skipped, self.at, implied=True) for skipped in implied), Step(state, self.at, text))
        if task.state != state:
            before = task.state in (TaskState.ACCEPTED, TaskState.WORKING)
            after = state in (TaskState.ACCEPTED, TaskState.WORKING)
            self.under_way[task.assignee] = self.under_way.get(task.assignee, 0) + after - before
        task.steps = _encode(recorded((*_steps.decode(task.steps), *added))).decode()
        task.state = state
        task.updated_at = self.now
        self.write_task(task)
        for agent in {task.requester, task.assignee}:
            self.tell(self.boxes[agent], Kind.TASK, task.id, {"state": state})

    def _count(self, box: Box, state: str, by: int, size: int) -> None:
        self.changed_boxes[box.agent] = box
        if state == State.PENDING:
            box.pending += by
        elif state == State.LEASED:
            box.leased += by
        elif state == State.HELD:
            box.held += by
        elif state == State.DEAD:
            box.dead += by
        # Where nothing waits there are no bytes, whatever an older program has left uncounted.
        box.waiting_bytes = box.waiting_bytes + by * size * (state in WAITING) if box.depth else 0

    def _unread(self, thread: ThreadRow, agent: str, by: int) -> None:
        self.changed_threads[thread.id] = thread
        if agent == thread.low:
            thread.unread_low += by
        else:
            thread.unread_high += by

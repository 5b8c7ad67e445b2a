"""A delivery moves from state to state: every count stays true, and those concerned hear of it."""

from datetime import timedelta

import msgspec

from postoffice.acts.desk import Desk
from postoffice.acts.lists.places import come_last, count_unread
from postoffice.acts.lists.rows import OnList
from postoffice.acts.rows import Box, DeliveryRow, ThreadRow
from postoffice.acts.rules.codes import mark_codes
from postoffice.acts.rules.notices import Notice, dead_letter
from postoffice.acts.tasks.steps import step
from postoffice.core.clock import micros
from postoffice.core.delivery import EXPIRED, UNREAD, WAITING, State
from postoffice.core.event import Kind
from postoffice.core.message import NOTICE, Message
from postoffice.core.names import SYSTEM, is_role
from postoffice.core.task import FINAL, UNDELIVERED, TaskState

_encode = msgspec.json.Encoder().encode


def keep(desk: Desk, message: Message, sender: str, body: str) -> None:
    """Keep a message itself, once, however many it goes to."""
    desk.write("add_message", (message.id, sender, message.client_id, message.type, message.ref_id, desk.now, body))


def keep_note(desk: Desk, message: Message) -> None:
    """Count a note with the entity it is about."""
    assert message.ref_id is not None  # check_draft asks it of every note
    type, notes, created_at = desk.entities.get(message.ref_id, (message.ref_type or "", 0, desk.now))
    desk.entities[message.ref_id] = (type, notes + 1, created_at)
    desk.write("put_entity", (message.ref_id, type, notes + 1, created_at, desk.now), message.ref_id)


def post(
    desk: Desk, message: Message, body: str, sender: str, box: Box, thread: ThreadRow | OnList | None, state: State = State.PENDING
) -> None:
    """Put a message into one mailbox."""
    if box.forgotten:
        desk.remember(box)
    number = desk.number(box)
    session_id = session_number = None
    if isinstance(thread, OnList):
        session_id, session_number = thread
        count_unread(desk, session_id, box.agent, int(state in UNREAD), 0 if state is State.HELD else desk.now)
    elif thread is not None:
        thread.counted += 1
        thread.last_at = desk.now
        session_id, session_number = thread.id, thread.counted
        _count_unread(desk, thread, box.agent, int(state in UNREAD))
        if box.agent not in (thread.low, thread.high):  # one of a role's agents; whoever remembers the session must look again
            desk.changed_boxes[sender] = desk.boxes[sender]
    size = len(body) if body.isascii() else len(body.encode())
    _count(desk, box, state, 1, size)
    row = DeliveryRow(
        id=desk.new_delivery_id(),
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
        holder=None,
        due_at=None,
        created_at=desk.now,
        leased_at=None,
        settled_at=desk.now if state is State.ACKED else None,
        reason=None,
        size=size,
        deliver_at=None if message.deliver_at is None or state is not State.HELD else micros(message.deliver_at),
        expires_at=None if message.expires_at is None else micros(message.expires_at),
        client_id=message.client_id,
        body=body,
        message=message,
    )
    desk.posted.append(row)
    if desk.connections:
        mark_codes(desk, message, box.agent)
    if not row.hidden:
        desk.tell(box, Kind.NEW_MESSAGE, message.id, number=number)


def move(desk: Desk, row: DeliveryRow, state: State, *, reason: str | None = None, due_in: timedelta | None = None) -> None:
    """Move a delivery to another state and keep every count true."""
    box = desk.boxes[row.mailbox]
    came = row.deliver_at is None
    _count(desk, box, row.state, -1, row.size, came=came)
    _count(desk, box, state, 1, row.size, came=came)
    unread = row.unread
    if row.state == State.LEASED != state:
        _let_go(desk, row, box, state)
    row.reason = reason if reason is not None or row.lent else row.reason
    row.state = str(state)
    _recount_unread(desk, row, before=unread)
    row.due_at = None if due_in is None else desk.now + micros(due_in)
    if state in (State.ACKED, State.DEAD):
        row.settled_at = desk.now
    desk.changed_mail[row.message_id, row.mailbox] = row


def _let_go(desk: Desk, row: DeliveryRow, box: Box, state: State) -> None:
    """It is in hand no more. Whoever waits for its hand to be free looks again; if it comes back to a role, its session is anybody's."""
    if box.pending and (box.card.max_in_hand is not None or box.card.in_order):
        desk.hints.add(box.agent)
    if state != State.ACKED and row.session_id is not None and is_role(row.mailbox):
        desk.role_sessions.pop(row.session_id, None)
        desk.writes.get("put_role_session", {}).pop(row.session_id, None)
        desk.write("drop_role_session", (row.session_id,), row.session_id)


def mark_seen(desk: Desk, row: DeliveryRow, at: int | None) -> None:
    """A person has opened what waits, or keeps it unread."""
    unread = row.unread
    row.seen_at = at
    _recount_unread(desk, row, before=unread)
    desk.changed_boxes[row.mailbox] = desk.boxes[row.mailbox]  # whoever remembers its mail must look again
    desk.changed_mail[row.message_id, row.mailbox] = row


def let_through(desk: Desk, row: DeliveryRow) -> None:
    """Mail that was held since it was sent reaches its recipient now, who hears of it."""
    box = desk.boxes[row.mailbox]
    if row.deliver_at is None:
        if row.session_id is not None and row.session_id not in desk.threads:
            count_unread(desk, row.session_id, row.mailbox, 0, desk.now)
        desk.tell(box, Kind.NEW_MESSAGE, row.message_id)
    else:
        row.number, row.created_at, row.deliver_at = desk.number(box), desk.now, None
        _come_last(desk, row)
        write_place(desk, row)
        desk.tell(box, Kind.NEW_MESSAGE, row.message_id, number=row.number)
    move(desk, row, State.PENDING)


def _come_last(desk: Desk, row: DeliveryRow) -> None:
    """What has waited for its time comes after all that was said in its session meanwhile."""
    if row.session_id is None:
        return
    thread = desk.threads.get(row.session_id)
    if thread is None:
        come_last(desk, row, row.session_id)
        return
    if row.session_number != thread.counted:
        thread.counted += 1
        row.session_number = thread.counted
        desk.write("count_gap", (thread.id,))  # the number it had is nobody's now
    thread.last_at = desk.now
    desk.changed_threads[thread.id] = thread


def write_place(desk: Desk, row: DeliveryRow) -> None:
    """Keep where a delivery stands in its mailbox and session, and its times."""
    place = (row.number, row.session_number, row.created_at, row.deliver_at, row.expires_at)
    desk.write("place_delivery", (row.id, *place), (row.message_id, row.mailbox))


def end_expired(desk: Desk, row: DeliveryRow) -> None:
    """Nobody has taken it in time: it is dead, and its sender is told."""
    row.token = row.holder = None
    if row.deliver_at is not None:  # its time came and went while nobody looked
        row.deliver_at = None
        write_place(desk, row)
    bury(desk, row, EXPIRED)


def settle(desk: Desk, row: DeliveryRow) -> None:
    """Ack a delivery and tell its sender."""
    move(desk, row, State.ACKED)
    # Whoever takes one message a session could not take the next one until now: if something waits, it looks again.
    if row.session_id is not None and desk.boxes[row.mailbox].pending:
        desk.hints.add(row.mailbox)
    if row.sender not in (SYSTEM, row.mailbox):
        desk.tell(desk.boxes[row.sender], Kind.RECEIPT, row.message_id, {"by": desk.boxes[row.mailbox].name})


def bury(desk: Desk, row: DeliveryRow, reason: str, *, said: bool = False, refused: bool = False) -> None:
    """Declare a delivery dead, tell its sender, and fail the task it carried. `said`: the reason is in the recipient's words."""
    move(desk, row, State.DEAD, reason=reason)
    box = desk.boxes[row.mailbox]
    if row.deliver_at is None:  # its recipient may know of it
        desk.tell(box, Kind.DEAD_LETTER, row.message_id, {"reason": reason})
    task = desk.tasks.get(row.message_id)
    if task is not None and task.state not in FINAL:
        step(desk, task, TaskState.FAILED, f"{UNDELIVERED}{reason}")
    if row.sender != SYSTEM and not _told_of_all(desk, row, reason):  # notices never cause notices
        notify(
            desk,
            desk.boxes[row.sender],
            dead_letter(row, _subject(desk, row), box.name, reason, said=said, refused=refused),
            correlation_id=row.correlation_id,
        )


def _told_of_all(desk: Desk, row: DeliveryRow, reason: str) -> bool:
    """Whether its sender knows already: a letter to a list expires with all its members at once."""
    if reason != EXPIRED or row.session_id is None or row.session_id in desk.threads:
        return False
    told = row.message_id in desk.lists.expired
    desk.lists.expired.add(row.message_id)
    return told


def _subject(desk: Desk, row: DeliveryRow) -> str:
    """What a delivery is about: its message's subject, or its session's where only that lies on the desk."""
    if row.message is not None or row.body:
        return row.read().subject
    thread = desk.threads.get(row.session_id or "")
    return "" if thread is None else thread.subject


def notify(desk: Desk, box: Box, notice: Notice, correlation_id: str | None = None) -> None:
    """Mail from the office itself: past admission and depth, in the agent's standing session with it."""
    message = Message(
        id=desk.clock.new_id(),
        sender=SYSTEM,
        to=box.name,
        created_at=desk.at,
        from_verified=True,
        type=NOTICE,
        content=notice.text,
        payload=notice.payload,
        trace=(SYSTEM,),
        reply_to=notice.reply_to,
        priority=notice.priority,
        correlation_id=correlation_id,
    )
    body = _encode(message).decode()
    keep(desk, message, SYSTEM, body)
    post(desk, message, body, SYSTEM, box, desk.thread_of(SYSTEM, box.agent, ""))


def _count(desk: Desk, box: Box, state: str, by: int, size: int, *, came: bool = True) -> None:
    """Count what is in a state. What died before it came is nobody's dead letter: its recipient never learns of it."""
    desk.changed_boxes[box.agent] = box
    if state == State.PENDING:
        box.pending += by
    elif state == State.LEASED:
        box.leased += by
    elif state == State.HELD:
        box.held += by
    elif state == State.DEAD and came:
        box.dead += by
    # Where nothing waits there are no bytes, whatever an older program has left uncounted.
    box.waiting_bytes = box.waiting_bytes + by * size * (state in WAITING) if box.depth else 0


def _recount_unread(desk: Desk, row: DeliveryRow, *, before: bool) -> None:
    if row.session_id is None or not (by := row.unread - before):
        return
    thread = desk.threads.get(row.session_id)
    if thread is None:  # what is no session of two is a list's
        count_unread(desk, row.session_id, row.mailbox, by)
    else:
        _count_unread(desk, thread, row.mailbox, by)


def _count_unread(desk: Desk, thread: ThreadRow, agent: str, by: int) -> None:
    desk.changed_threads[thread.id] = thread
    if agent == thread.low:
        thread.unread_low += by
    elif agent == thread.high:  # and not one of a role's agents, to whom somebody writes in the role's session
        thread.unread_high += by

"""Ask for consent, give it, refuse it, end it."""

from datetime import timedelta

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.mail.moves import notify
from postoffice.acts.needs import Needs
from postoffice.acts.rows import Box, ConnectionRow
from postoffice.acts.rules.counting import check_count, count, put_count
from postoffice.acts.rules.notices import code_was_mailed
from postoffice.acts.rules.rates import ask_rate, count_sent
from postoffice.core.clock import is_id, micros, moment
from postoffice.core.connection import Assurance, Connection, Handshake, Status, new_code
from postoffice.core.errors import (
    AlreadyConnected,
    AlreadyRequested,
    CodeWasMailed,
    MailError,
    NoSuchAgent,
    NoSuchCode,
    NoSuchConnection,
    NotTarget,
    TooManyRequests,
)
from postoffice.core.event import Kind
from postoffice.core.names import SYSTEM, folded
from postoffice.core.session import pair

_HOUR = timedelta(hours=1)


class Request(Act[Connection]):
    """Ask another agent for a connection."""

    def __init__(self, requester: str, target: str, note: str | None, *, rated: bool = False) -> None:
        self.rated = rated  # against the requester's rate
        self.requester = folded(requester)
        self.target = folded(target)
        self.target_name = target
        self.note = note

    def ask(self, needs: Needs) -> None:
        needs.boxes.update((self.requester, self.target))
        needs.pairs.add(pair(self.requester, self.target))
        needs.requests.update((self.requester, self.target))

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        ask_rate(needs, desk, self.requester)

    def run(self, desk: Desk) -> Connection:
        requester, target = desk.boxes[self.requester], desk.boxes.get(self.target)
        if target is None or target.forgotten:
            raise NoSuchAgent(name=self.target_name, hint="check the name")
        if pair(self.requester, self.target) in desk.connected:
            raise AlreadyConnected(requester=requester.name, target=target.name)
        pending = [row for row in desk.connections.values() if row.status == Status.PENDING]
        mine = [row for row in pending if (row.requester, row.target) == (self.requester, self.target)]
        if any(row.expires_at > desk.now for row in mine):
            raise AlreadyRequested(requester=requester.name, target=target.name)
        self._check_count(desk, requester, [r for r in pending if r.requester == self.requester])
        self._check_count(desk, target, [r for r in pending if r.target == self.target])
        # The target hears of each request: one taken back and asked again and again must not be heard without end.
        desk.room.take()
        if self.rated:
            count_sent(desk, self.requester)
        # An expired request never blocks a new one.
        for row in mine:
            expire(desk, row)
        row = ConnectionRow(
            id=desk.clock.new_id(),
            requester=self.requester,
            target=self.target,
            status=Status.PENDING,
            code=new_code(),  # one in use fails the act, and the store tries again with another
            note=self.note,
            assurance=None,
            created_at=desk.now,
            updated_at=desk.now,
            expires_at=desk.now + micros(desk.limits.code_life),
        )
        desk.connections[row.id] = row
        desk.write_connection(row)
        desk.tell(target, Kind.CONNECTION_REQUEST, row.id)
        return as_connection(row, desk)

    def _check_count(self, desk: Desk, box: Box, pending: list[ConnectionRow]) -> None:
        count = sum(row.expires_at > desk.now for row in pending)
        if count >= desk.limits.pending_requests:
            raise TooManyRequests(name=box.name, count=count)


class Approve(Act[Connection]):
    """Give consent by the code that people passed on. A wrong code is counted, so its refusal is returned and not raised."""

    def __init__(self, approver: str, code: str, handshake: Handshake, *, owner: bool) -> None:
        self.approver = folded(approver)
        self.code = code
        self.handshake = handshake
        self.owner = owner

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.approver)
        needs.codes.add(self.code)
        needs.burning.add(self.approver)
        needs.limits.update((self._tries, self._misses))

    @property
    def _tries(self) -> str:
        return f"codes:{self.approver}"

    @property
    def _misses(self) -> str:
        return f"codes in a row:{self.approver}"

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        rows = [row for row in desk.connections.values() if row.code == self.code]
        _ask_pair(needs, rows)
        needs.thread_keys.update((*pair(SYSTEM, row.requester), "") for row in rows)

    def run(self, desk: Desk) -> Connection | MailError:
        requests = [row for row in desk.connections.values() if row.code == self.code and row.expires_at > desk.now]
        mine = [row for row in requests if row.target == self.approver or self.owner]
        pending = [row for row in requests if row.status == Status.PENDING]
        aimed = [row for row in mine if row.status == Status.PENDING]
        if not aimed and (done := [row for row in mine if row.status == Status.ACTIVE]):
            return as_connection(done[0], desk)  # whoever missed the answer asks again, and hears the same
        if not self.owner:
            check_count(desk, self._tries, desk.limits.wrong_codes_per_hour, _HOUR)
        if not aimed:
            # In `human` mode a code aimed at another agent is as unknown as any: guessing tells nothing.
            visible = pending and self.handshake is Handshake.VISIBLE
            refusal = NotTarget(name=desk.boxes[self.approver].name) if visible else NoSuchCode()
            if not self.owner:
                self._count_miss(desk)
            return refusal
        row = aimed[0]
        if self.handshake is Handshake.HUMAN and row.assurance == Assurance.IN_BAND and not self.owner:
            return self._renew(desk, row)
        if pair(row.requester, row.target) not in desk.connected:
            row.assurance = _assurance(self.handshake, owner=self.owner)
        if self._misses in desk.counters:
            put_count(desk, self._misses, 0, desk.now)
        return _conclude(desk, row, Status.ACTIVE, Kind.CONNECTION_APPROVED, [row.requester])

    def _renew(self, desk: Desk, row: ConnectionRow) -> CodeWasMailed:
        """A code that stood in a letter proves no person's consent. The request goes on with another, so that letters full of codes block nobody."""
        row.code, row.assurance = new_code(), None
        desk.write_connection(row)
        requester, target = desk.boxes[row.requester], desk.boxes[row.target]
        notify(desk, requester, code_was_mailed(row.id, target.name))
        return CodeWasMailed(name=target.name, requester=requester.name)

    def _count_miss(self, desk: Desk) -> None:
        count(desk, self._tries, desk.limits.wrong_codes_per_hour, _HOUR)
        _, misses = desk.counters.get(self._misses, (0, 0))
        if misses + 1 >= desk.limits.wrong_codes_in_a_row:
            misses = -1
            # Whoever guesses so often may be near: what could be guessed is taken away.
            for row in desk.connections.values():
                if row.target == self.approver and row.status == Status.PENDING:
                    expire(desk, row, "too many wrong codes")
        put_count(desk, self._misses, misses + 1, desk.now)


class Conclude(Act[Connection]):
    """Reject a request, end a connection, or approve by id as the owner."""

    def __init__(self, caller: str, id: str, status: Status, *, owner: bool) -> None:
        self.caller = folded(caller)
        self.id = id
        self.status = status
        self.owner = owner

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.caller)
        if is_id(self.id):
            needs.connections.add(self.id)

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        _ask_pair(needs, [row for row in desk.connections.values() if row.id == self.id])

    def run(self, desk: Desk) -> Connection:
        row = desk.connections.get(self.id)
        before = Status.ACTIVE if self.status is Status.ENDED else Status.PENDING
        parties = () if row is None else (row.requester, row.target)
        expired = row is not None and before is Status.PENDING and row.expires_at <= desk.now
        if row is None or row.status != before or expired or not (self.owner or self.caller in parties):
            raise NoSuchConnection(status=before.lower(), ref=self.id, name=desk.boxes[self.caller].name)
        if self.status is Status.ACTIVE and pair(*parties) not in desk.connected:
            row.assurance = Assurance.OWNER
        kind = {
            Status.ACTIVE: Kind.CONNECTION_APPROVED,
            Status.REJECTED: Kind.CONNECTION_REJECTED,
            Status.ENDED: Kind.CONNECTION_ENDED,
        }[self.status]
        return _conclude(desk, row, self.status, kind, [agent for agent in parties if agent != self.caller])


def expire(desk: Desk, row: ConnectionRow, reason: str = "nobody answered in time") -> None:
    """A request has lost its chance."""
    row.status = Status.EXPIRED
    desk.write_connection(row)
    for agent in (row.requester, row.target):
        desk.tell(desk.boxes[agent], Kind.CONNECTION_EXPIRED, row.id, {"reason": reason})


def _assurance(handshake: Handshake, *, owner: bool) -> Assurance:
    if owner:
        return Assurance.OWNER
    return Assurance.HUMAN if handshake is Handshake.HUMAN else Assurance.IN_BAND


def _ask_pair(needs: Needs, rows: list[ConnectionRow]) -> None:
    """Whether the two are connected already, and what else they have asked of each other."""
    for row in rows:
        needs.pairs.add(pair(row.requester, row.target))
        needs.requests.update((row.requester, row.target))


def _conclude(desk: Desk, row: ConnectionRow, status: Status, kind: Kind, listeners: list[str]) -> Connection:
    members = pair(row.requester, row.target)
    if status is Status.ACTIVE:
        if members in desk.connected:
            raise AlreadyConnected(requester=desk.boxes[row.requester].name, target=desk.boxes[row.target].name)
        desk.connected[members] = row.assurance
        # Two requests that crossed ask for the same thing: this one answers both.
        for other in desk.connections.values():
            if other is not row and other.status == Status.PENDING and pair(other.requester, other.target) == members:
                expire(desk, other, "the two are connected")
    elif row.status == Status.ACTIVE:
        desk.connected.pop(members, None)
    row.status = status
    desk.write_connection(row)
    for agent in listeners:
        desk.tell(desk.boxes[agent], kind, row.id)
    return as_connection(row, desk)


def as_connection(row: ConnectionRow, desk: Desk) -> Connection:
    """A connection with its agents' names as they write them."""
    return connection_of(row, desk.boxes[row.requester].name, desk.boxes[row.target].name)


def connection_of(row: ConnectionRow, requester: str, target: str) -> Connection:
    """A connection as a value."""
    return Connection(
        id=row.id,
        requester=requester,
        target=target,
        status=Status(row.status),
        code=row.code,
        note=row.note,
        created_at=moment(row.created_at),
        updated_at=moment(row.updated_at),
        expires_at=moment(row.expires_at),
        assurance=None if row.assurance is None else Assurance(row.assurance),
    )

"""An ideal office, played step by step: whatever it writes is a valid history, with all that clients may leave unknown."""

from dataclasses import dataclass, field

from tests.chaos.history import FOREVER, Call, Item, Op, Outcome
from tests.chaos.lease import LOST, SECOND

WALL = 1_700_000_000 * SECOND
"""What the wall clock shows when the monotonic one shows nothing."""


@dataclass
class Letter:
    """A message in the ideal office."""

    message: str
    send: Call
    number: int
    attempts: int = 0
    state: str = "pending"
    token: str = ""
    due: int = 0


@dataclass
class Grip:
    """A lease whose holder knows of it."""

    letter: Letter
    take: Call
    token: str
    acked: bool = False


@dataclass
class Ideal:
    """Mailboxes whose every act happens at one instant, somewhere between its call's beginning and its end."""

    now: int = SECOND
    calls: list[Call] = field(default_factory=list)
    letters: list[Letter] = field(default_factory=list)
    grips: list[Grip] = field(default_factory=list)

    def pass_time(self, nanoseconds: int) -> None:
        self.now += nanoseconds
        for letter in self.letters:
            if letter.state not in {"acked", "pending"} and letter.due <= self.now:
                letter.state, letter.token = "pending", ""

    def send(
        self,
        sender: str,
        to: str,
        priority: int = 3,
        *,
        outcome: Outcome = Outcome.ANSWERED,
        stored: bool = True,
        lead: int = 1,
        lag: int = 1,
    ) -> Call:
        client_id = f"id-{len(self.calls)}"
        call = self._call(
            Op.SEND, sender, outcome, lead, lag, to=to, client_id=client_id, content=f"This is {client_id}.", priority=priority
        )
        return self._post(call) if stored else self._write(call)

    def send_again(self, before: Call, *, lead: int = 1, lag: int = 1) -> Call:
        said = {"to": before.to, "client_id": before.client_id, "content": before.content, "priority": before.priority}
        return self._post(self._call(Op.SEND, before.agent, Outcome.ANSWERED, lead, lag, **said))

    def take(
        self, mailbox: str, limit: int = 1, visible_for: int = 10, *, outcome: Outcome = Outcome.ANSWERED, lead: int = 1, lag: int = 1
    ) -> Call:
        """Lease. What an unknown one takes is held by nobody until the lease runs out."""
        call = self._call(Op.TAKE, mailbox, outcome, lead, lag, visible_for=float(visible_for))
        items: list[Item] = []
        for letter in self._pending(mailbox)[:limit]:
            letter.attempts += 1
            letter.state, letter.due = "leased", self.now + visible_for * SECOND
            letter.token = f"token-{len(self.calls)}-{letter.number}"
            items.append(self._item(letter))
        if outcome is not Outcome.ANSWERED:
            return self._write(call)
        written = self._write(call, items=tuple(items))
        by_message = {letter.message: letter for letter in self.letters}
        self.grips += [Grip(by_message[item.message], written, item.token) for item in items]
        return written

    def take_and_give_back(self, mailbox: str, limit: int, *, lead: int = 1) -> None:
        """A taker that hung up: what was taken for it goes back within half a second, and was no attempt."""
        self._write(self._call(Op.TAKE, mailbox, Outcome.UNKNOWN, lead, 1, visible_for=10.0))
        for letter in self._pending(mailbox)[:limit]:
            letter.state, letter.due = "with nobody", self.now + SECOND // 2

    def settle(
        self, op: Op, grip: Grip, *, outcome: Outcome = Outcome.ANSWERED, done: bool = True, lead: int = 1, lag: int = 1
    ) -> Call | None:
        """Settle as a holder would; None where it does not know yet that it holds anything."""
        if grip.take.ended >= self.now:
            return None
        lead = min(lead, self.now - grip.take.ended)
        letter = grip.letter
        asked = {"message": letter.message, "token": grip.token, "visible_for": 10.0 if op is Op.EXTEND else 0.0}
        holds = letter.state == "leased" and letter.token == grip.token
        repeats = op is Op.ACK and grip.acked
        if outcome is Outcome.ANSWERED and not (holds or repeats):
            return self._write(self._call(op, grip.take.agent, Outcome.REFUSED, lead, lag, code=LOST, **asked))
        if holds and done:
            if op is Op.EXTEND:
                letter.due = self.now + 10 * SECOND
            else:
                letter.state, grip.acked = ("acked", True) if op is Op.ACK else ("pending", False)
        return self._write(self._call(op, grip.take.agent, outcome, lead, lag, **asked))

    def drain(self) -> None:
        """The final reader: when every lease has run out it takes and acks all that is left."""
        self.pass_time(3600 * SECOND)
        for mailbox in sorted({letter.send.to for letter in self.letters}):
            while self._pending(mailbox):
                before = len(self.grips)
                self.take(mailbox, 3)
                self.pass_time(10)
                for grip in self.grips[before:]:
                    self.settle(Op.ACK, grip)
                    self.pass_time(10)

    def _pending(self, mailbox: str) -> list[Letter]:
        waiting = [letter for letter in self.letters if letter.send.to == mailbox and letter.state == "pending"]
        return sorted(waiting, key=lambda letter: (letter.send.priority, letter.number))

    def _post(self, call: Call) -> Call:
        for letter in self.letters:
            if (letter.send.agent, letter.send.to, letter.send.client_id) == (call.agent, call.to, call.client_id):
                return self._write(call, message=letter.message if call.answered else "")
        letter = Letter(f"message-{len(self.letters)}", call, len(self.letters) + 1)
        self.letters.append(letter)
        return self._write(call, message=letter.message if call.answered else "")

    def _item(self, letter: Letter) -> Item:
        send = letter.send
        return Item(
            message=letter.message,
            sender=send.agent,
            client_id=send.client_id,
            content=send.content,
            priority=send.priority,
            number=letter.number,
            attempt=letter.attempts,
            token=letter.token,
            until=WALL + letter.due,
        )

    def _call(self, op: Op, agent: str, outcome: Outcome, lead: int, lag: int, **asked: object) -> Call:
        begun, ended = max(self.now - lead, 0), self.now + lag
        known = outcome is not Outcome.UNKNOWN
        times = {"begun": begun, "begun_wall": WALL + begun, "ended_wall": WALL + ended}
        times |= {"ended": ended} if known else {"gave_up": ended, "ended": FOREVER}
        id = f"call-{len(self.calls)}"
        return Call(id=id, client=f"client-{id}", op=op, agent=agent, outcome=outcome, **times, **asked)  # type: ignore[arg-type]

    def _write(self, call: Call, **told: object) -> Call:
        written = Call(**{name: getattr(call, name) for name in call.__struct_fields__} | told)
        self.calls.append(written)
        return written

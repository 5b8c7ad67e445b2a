"""The mail as it should be: a few dozen lines of plain Python that the real office is held against.

Time is counted in whole units, so long that a test never lasts one: a lease for two units taken at 5 has run out at 7,
whatever the real clock did in between.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta

from postoffice.core.delivery import MOVES, UNREAD, WAITING, Leased, State
from postoffice.core.message import TASK, Message
from postoffice.core.task import FINAL, TaskState

UNIT = timedelta(minutes=10)
SYSTEM = "system"
SessionKey = tuple[str, str, str]


@dataclass(eq=False, kw_only=True)
class Letter:
    """One message with one recipient."""

    id: str
    mailbox: str
    sender: str
    content: str | None
    type: str
    priority: int
    number: int
    session: SessionKey | None
    state: State
    attempts: int = 0
    due: int | None = None
    token: str | None = None
    """Of the lease it is under, or was until that ran out: it is good for as long as nobody else has taken or settled the letter."""
    unsure: bool = False
    """Whether somebody may have taken it meanwhile, and given it back before anybody saw."""
    lent: bool = False
    """Leased without an end: then only the token settles it."""
    acked_with: str | None = None
    nacked_with: str | None = None
    lost: list[str] = field(default_factory=list)
    """Tokens that are good for nothing any more."""
    receipts: int = 0
    comes: int | None = None
    """When it comes to its recipient, as long as it has not."""
    ends: int | None = None
    """From when on it is given out no more."""
    seen: bool = False
    """Its person has opened it."""
    put_off: bool = False
    """Its holder has said, by name, that it comes again later, and nobody has taken it since: so that one may still end it."""
    task: TaskState | None = None
    """How far the task is that it asks for."""
    undelivered: bool = False
    """Whether that failed because the letter died."""
    canceled: bool = False

    @property
    def place(self) -> tuple[int, int]:
        return self.priority, self.number

    def shown_to(self, reader: str) -> bool:
        """What is held since it was sent is its sender's alone."""
        return reader != self.mailbox or (self.comes is None and (self.state is not State.HELD or self.due is not None))


class Model:
    """Every letter there is, and what time it is."""

    def __init__(self, names: Iterable[str], max_attempts: int, persons: Iterable[str] = ()) -> None:
        self.names = tuple(names)
        self.persons = frozenset(persons)
        self.max_attempts = max_attempts
        self.now = 0
        self.letters: dict[tuple[str, str], Letter] = {}
        self.paused: dict[str, int | None] = {}
        """Whose mail is held, and until when; nothing where it is until somebody resumes it."""
        self.tokens: set[str] = set()
        self.owed: Counter[tuple[str, str, str]] = Counter()
        """Notices that must come: (sender, message, the mailbox it died in)."""

    # What is

    def of(self, mailbox: str, *states: State) -> list[Letter]:
        """A mailbox's letters in these states, in the order they are given out."""
        found = [letter for letter in self.letters.values() if letter.mailbox == mailbox and letter.state in states]
        return sorted(found, key=lambda letter: letter.place)

    def within(self, *states: State) -> list[Letter]:
        """All letters in these states, in an order that does not depend on ids."""
        return [letter for name in self.names for letter in self.of(name, *states)]

    def counts(self, mailbox: str) -> dict[str, int]:
        return {state.value: len(self.of(mailbox, state)) for state in (State.HELD, State.PENDING, State.LEASED, State.DEAD)}

    def depth(self, mailbox: str) -> int:
        return len(self.of(mailbox, *WAITING))

    def last_number(self, mailbox: str) -> int:
        return max((letter.number for letter in self.letters.values() if letter.mailbox == mailbox), default=0)

    def threads(self, agent: str) -> dict[SessionKey, int]:
        """The agent's sessions, each with how much of it the agent has not read."""
        unread: Counter[SessionKey] = Counter()
        for letter in self.letters.values():
            if letter.session is not None and agent in letter.session[:2] and letter.shown_to(agent):
                unread[letter.session] += letter.mailbox == agent and letter.state is State.PENDING and not letter.seen
        return dict(unread)

    def lines(self, session: SessionKey, reader: str) -> list[Letter]:
        return [letter for letter in self.letters.values() if letter.session == session and letter.shown_to(reader)]

    def is_paused(self, mailbox: str) -> bool:
        until = self.paused.get(mailbox, self.now)
        return until is None or until > self.now

    def is_due(self, letter: Letter) -> bool:
        return letter.due is not None and letter.due <= self.now

    def is_over(self, letter: Letter) -> bool:
        return letter.ends is not None and letter.ends <= self.now

    def waiting(self, mailbox: str) -> list[Letter]:
        """What may be given out."""
        return [letter for letter in self.of(mailbox, State.PENDING) if not self.is_over(letter)]

    def lost_tokens(self) -> list[tuple[Letter, str]]:
        """Tokens that settle nothing any more."""
        return [(letter, token) for letter in self.within(*State) for token in letter.lost]

    def held(self) -> list[Letter]:
        """What somebody has in hand, or had until the lease ran out."""
        return [letter for letter in self.within(State.LEASED, State.PENDING) if letter.token and not letter.unsure]

    def takeable(self, mailbox: str, limit: int, session: SessionKey | None = None, *, one_per_session: bool = False) -> list[Letter]:
        """What a taker must be given."""
        if self.is_paused(mailbox):
            return []
        taken: list[Letter] = []
        busy = {letter.session for letter in self.of(mailbox, State.LEASED)}
        for letter in self.waiting(mailbox):
            if session is not None and letter.session != session:
                continue
            if one_per_session and letter.session is not None:
                if letter.session in busy:
                    continue
                busy.add(letter.session)
            taken.append(letter)
        return taken[:limit]

    # What happens

    def post(
        self,
        message: Message,
        mailbox: str,
        number: int,
        *,
        subject: str = "",
        held: bool = False,
        comes: int | None = None,
        ends: int | None = None,
    ) -> None:
        sender = message.sender.lower()
        assert (message.id, mailbox) not in self.letters
        pair = sorted((sender, mailbox))
        self.letters[message.id, mailbox] = Letter(
            id=message.id,
            mailbox=mailbox,
            sender=sender,
            content=message.content,
            type=message.type,
            priority=message.priority,
            number=number,
            session=None if sender == mailbox else (pair[0], pair[1], subject.lower()),
            state=State.HELD if held or comes is not None else State.PENDING,
            comes=comes,
            ends=ends,
            task=TaskState.PENDING if message.type == TASK else None,
        )

    def pop(self, letter: Letter) -> None:
        letter.attempts += 1
        self.lose(letter)
        self.ack(letter)

    def extend(self, letter: Letter, due: int) -> None:
        """Also what was given back when the lease ran out."""
        self.move(letter, State.LEASED, due)
        letter.lent = False

    def move(self, letter: Letter, state: State, due: int | None = None) -> None:
        assert state is letter.state or state in MOVES[letter.state]
        letter.state, letter.due = state, due

    def lease(self, letter: Letter, leased: Leased, units: int | None) -> None:
        assert leased.token not in self.tokens, "a token was given twice"
        self.tokens.add(leased.token)
        assert letter.state is State.PENDING, f"leased while {letter.state}"
        assert (leased.message.id, leased.message.content) == (letter.id, letter.content)
        assert (leased.attempt, leased.number) == (letter.attempts + 1, letter.number)
        self.move(letter, State.LEASED, None if units is None else self.now + units)
        letter.attempts += 1
        self.lose(letter)
        letter.token, letter.lent = leased.token, units is None
        letter.acked_with = letter.nacked_with = None

    def ack(self, letter: Letter, *, receipt: bool = True) -> None:
        self.move(letter, State.ACKED)
        letter.acked_with, letter.token = None if letter.unsure else letter.token, None
        letter.receipts += receipt and letter.sender not in (SYSTEM, letter.mailbox)

    def nack(self, letter: Letter, delay: int, *, untried: bool = False, by_name: bool = False) -> None:
        letter.attempts -= untried and not letter.put_off
        if by_name and delay and letter.attempts < self.max_attempts:
            self.lose(letter)
            letter.put_off = True
        else:
            letter.nacked_with, letter.token, letter.put_off = letter.token, None, False
        if letter.attempts >= self.max_attempts:
            self.die(letter)
        elif delay:
            self.move(letter, State.HELD, self.now + delay)
        else:
            self.move(letter, State.PENDING)

    def give_back(self, letter: Letter) -> None:
        letter.attempts -= 1
        self.lose(letter)
        self.move(letter, State.PENDING)

    def lose(self, letter: Letter) -> None:
        """Whoever held it has nothing to say any more."""
        if letter.token is not None:
            letter.lost.append(letter.token)
        letter.token, letter.unsure, letter.put_off = None, False, False

    def die(self, letter: Letter) -> None:
        self.move(letter, State.DEAD)
        if letter.task is not None and letter.task not in FINAL:
            letter.task, letter.undelivered = TaskState.FAILED, True
        if letter.sender != SYSTEM:
            self.owed[letter.sender, letter.id, letter.mailbox] += 1

    def requeue(self, letter: Letter) -> None:
        letter.attempts, letter.nacked_with, letter.put_off, letter.ends = 0, None, False, None
        if letter.undelivered:
            letter.task, letter.undelivered = TaskState.PENDING, False
        self.move(letter, State.PENDING)

    def cancel(self, letter: Letter) -> None:
        """What nobody has taken is dead, and no notice tells of it; whoever took it keeps it. A task is over."""
        if letter.task is not None and letter.task not in FINAL:
            letter.task = TaskState.CANCELED
        if letter.state in (State.HELD, State.PENDING):
            self.lose(letter)
            letter.nacked_with, letter.canceled = None, True
            self.move(letter, State.DEAD)

    def doubt(self, mailbox: str) -> None:
        """Somebody came for mail and was gone. What it may have held had another token meanwhile: earlier holders may have lost their say."""
        for letter in self.of(mailbox, State.PENDING):
            letter.unsure, letter.nacked_with = letter.token is not None or letter.put_off, None
            letter.put_off = False

    def read(self, session: SessionKey, reader: str) -> None:
        for letter in self.lines(session, reader):
            if reader in self.persons:
                letter.seen |= letter.mailbox == reader and letter.state is State.PENDING
            elif letter.mailbox == reader and letter.state is State.PENDING and letter.type != TASK and not self.is_over(letter):
                self.ack(letter)

    def snooze(self, letter: Letter, units: int) -> None:
        letter.seen = False
        self.move(letter, State.HELD, self.now + units)

    def before_taking(self, mailbox: str, limit: int) -> None:
        """What is due is given out at the next sweep, and to a taker for whom what waits does not suffice."""
        if len(self.waiting(mailbox)) < limit:
            self.return_due()

    def return_due(self) -> None:
        """What came to its recipient by this has no number that is known here."""
        for letter in self.letters.values():
            if letter.state in UNREAD and self.is_over(letter):
                letter.comes, letter.nacked_with = None, None
                self.lose(letter)
                self.die(letter)
            elif letter.state is State.HELD and letter.comes is not None and letter.comes <= self.now:
                letter.comes, letter.number = None, 0
                self.move(letter, State.PENDING)
            if not self.is_due(letter):
                continue
            if letter.state is State.LEASED and self.is_over(letter):
                self.lose(letter)
                self.die(letter)
                continue
            if letter.state is State.HELD:
                self.move(letter, State.PENDING)
                continue
            if letter.attempts >= self.max_attempts:
                self.lose(letter)
                self.die(letter)
            else:
                self.move(letter, State.PENDING)

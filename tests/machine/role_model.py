"""What roles and mailboxes hold, and who may take which letter of them next."""

from collections.abc import Collection
from dataclasses import dataclass, field

SILENT_AFTER = 1
"""Units of time after which whoever was not heard of is not there any more."""
STAYS_FOR = 3
"""Units of time that a session of a role stays with whoever took its last letter."""


@dataclass
class Box:
    """A mailbox of an agent, or of a role with those who are in it."""

    name: str
    staff: set[str]
    most: int | None = None
    in_order: bool = False

    @property
    def is_role(self) -> bool:
        return ":" in self.name


@dataclass(eq=False)
class Letter:
    """One letter in one mailbox, waiting, in hand, put off or done."""

    id: str
    box: str
    subject: str
    place: tuple[int, int]
    state: str = "waiting"
    taker: str | None = None
    """Who took it last."""
    held: bool = False
    """Whether its taker may still settle it by name: also when the lease ran out, as long as nobody else has taken it."""
    token: str | None = None
    due: int = 0

    @property
    def session(self) -> tuple[str, str]:
        return self.box, self.subject


@dataclass
class RoleModel:
    """Every letter there is, whose each session is, and what time it is."""

    boxes: dict[str, Box]
    seen: dict[str, int | None]
    """When each agent was heard of last; nothing once it has left."""
    now: int = 0
    letters: dict[str, Letter] = field(default_factory=dict)
    keeps: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    """By session of a role: who took its last letter, and when."""

    # What is

    def of(self, box: str, *states: str) -> list[Letter]:
        found = [letter for letter in self.letters.values() if letter.box == box and letter.state in states]
        return sorted(found, key=lambda letter: letter.place)

    def within(self, *states: str) -> list[Letter]:
        """All letters in these states, in an order that does not depend on ids."""
        return [letter for letter in self.letters.values() if letter.state in states]

    def roles_of(self, agent: str) -> list[str]:
        return sorted(name for name, box in self.boxes.items() if box.is_role and agent in box.staff)

    def keeper(self, session: tuple[str, str]) -> str | None:
        """Whose a session is: who took of it last, as long as that one is there."""
        agent, at = self.keeps.get(session, ("", 0))
        seen = self.seen.get(agent)
        there = seen is not None and self.now - max(seen, at) <= SILENT_AFTER
        return agent if there and self.now - at <= STAYS_FOR else None

    def anything_due(self) -> bool:
        return any(letter.due <= self.now for letter in self.within("in hand", "put off"))

    def hands_free(self, box: str) -> int:
        most = self.boxes[box].most
        return 1000 if most is None else max(0, most - len(self.of(box, "in hand")))

    def open_to(self, agent: str, box: str, *, in_order: bool) -> list[Letter]:
        """What the agent may be given of a mailbox, however much it may have in hand."""
        if agent not in self.boxes[box].staff:
            return []
        ordered = in_order or self.boxes[box].in_order
        busy = {letter.subject for letter in self.of(box, "in hand")} if ordered else set[str]()
        found = []
        for letter in self.of(box, "waiting"):
            if letter.subject not in busy and self.keeper(letter.session) in (None, agent):
                found.append(letter)
            if ordered:
                busy.add(letter.subject)
        return found

    def next_for(self, agent: str, places: Collection[str], limit: int, *, in_order: bool, pop: bool) -> list[Letter]:
        """Exactly what the agent must be given, in this order."""
        found: list[Letter] = []
        for box in places:
            most = limit - len(found) if pop else min(limit - len(found), self.hands_free(box))
            found += self.open_to(agent, box, in_order=in_order)[:most]
        return found

    def may_have_again(self, letter: Letter, agent: str) -> bool:
        """Whether a lease that ran out may go on."""
        box = self.boxes[letter.box]
        alone = not box.in_order or all(one.subject != letter.subject for one in self.of(letter.box, "in hand"))
        return alone and bool(self.hands_free(letter.box)) and agent in box.staff and self.keeper(letter.session) in (None, agent)

    def check(self, taken: dict[str, list[Letter]], *, in_order: bool = False) -> None:
        """Each letter to one who may have it, a session to one alone and in its order, and never more in hand than may be."""
        every = [letter for letters in taken.values() for letter in letters]
        assert len(set(every)) == len(every), "a letter was taken twice"
        for box in self.boxes:
            here = {name: [letter for letter in letters if letter.box == box] for name, letters in taken.items()}
            assert sum(map(len, here.values())) <= self.hands_free(box)
            begun = [letter for letters in here.values() for letter in {one.subject: one for one in letters}.values()]
            assert len({letter.subject for letter in begun}) == len(begun), "two have one session"
            for name, letters in here.items():
                assert letters == sorted(letters, key=lambda letter: letter.place)
                assert set(letters) <= set(self.open_to(name, box, in_order=in_order))
                for subject in {letter.subject for letter in letters}:
                    session = [letter for letter in self.of(box, "waiting") if letter.subject == subject]
                    part = [letter for letter in letters if letter.subject == subject]
                    assert part == session[: len(part)], "something of a session was passed over"

    # What happens

    def take(self, letter: Letter, agent: str, token: str, due: int) -> None:
        letter.state, letter.taker, letter.held, letter.token, letter.due = "in hand", agent, True, token, due
        if self.boxes[letter.box].is_role:
            self.keeps[letter.session] = (agent, self.now)

    def give_back(self, letter: Letter, state: str = "waiting", due: int = 0) -> None:
        """It is in hand no more, and not done: its session is anybody's."""
        if letter.state == "in hand":
            self.keeps.pop(letter.session, None)
        letter.state, letter.due = state, due

    def return_due(self) -> None:
        for letter in self.within("in hand", "put off"):
            if letter.due <= self.now:
                self.give_back(letter)

    def unstaff(self, box: str, agent: str) -> None:
        self.boxes[box].staff.discard(agent)
        for letter in self.of(box, "in hand"):
            if letter.taker == agent:
                self.give_back(letter)
        self.keeps = {session: keep for session, keep in self.keeps.items() if (session[0], keep[0]) != (box, agent)}

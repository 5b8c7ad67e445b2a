"""A conversation's letters in order: consecutive ones of one sender under one heading, with asides among them."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple

from postoffice.core.names import folded
from postoffice.core.session import Line
from postoffice.core.talk import Aside

_TOGETHER_WITHIN = timedelta(hours=1)
"""One sender's letters share a heading if no more than this time is between them."""


class Entry(NamedTuple):
    """One letter in the list."""

    line: Line
    goes_on: bool
    """Whether it shares the heading of the letter before."""
    session_id: str | None = None
    """The session it is in, for an aside or if several conversations are shown together."""
    subject: str | None = None
    """The subject that begins here, if several conversations are shown together."""


def entries(lines: Sequence[Line], asides: Sequence[Aside], *, newest: bool = True) -> list[Entry]:
    """All letters, the oldest first. Without lines there are only asides, and each change of subject is marked."""
    first = lines[-1].message.id if lines else ""
    last = None if newest or not lines else lines[0].message.id
    letters: list[tuple[Line, Aside | None]] = [(line, None) for line in lines]
    letters += [(aside.line, aside) for aside in asides if aside.line.message.id > first and (last is None or aside.line.message.id < last)]
    letters.sort(key=lambda item: item[0].message.id)
    made: list[Entry] = []
    subject: str | None = None
    for line, aside in letters:
        turns = not lines and aside is not None and aside.subject != subject
        before = made[-1] if made else None
        where = None if aside is None else aside.session_id
        together = before is not None and not turns and _together(before.line, line) and before.session_id == where
        if aside is not None:
            subject = aside.subject
        made.append(Entry(line, together, where, subject if turns else None))
    return made


def _together(one: Line, other: Line) -> bool:
    before, after = one.message, other.message
    same = folded(before.sender) == folded(after.sender) and one.to == other.to
    return same and before.type == after.type == "message" and after.created_at - before.created_at < _TOGETHER_WITHIN

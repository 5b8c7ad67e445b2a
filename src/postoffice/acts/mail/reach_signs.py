"""What a group happens to know of each recipient, from which the office makes out who can be reached."""

from datetime import timedelta

import msgspec

from postoffice.acts.desk import Desk
from postoffice.acts.rows import Box
from postoffice.core.message import Accepted
from postoffice.core.names import folded
from postoffice.core.reach import Known


def with_signs(desk: Desk, answer: Accepted) -> Accepted:
    """The answer with what the group happens to know of each it goes to, so that nobody has to ask whether it can be taken now."""
    posted = tuple([msgspec.structs.replace(one, known=known_of(desk, desk.boxes.get(folded(one.recipient)))) for one in answer.posted])
    return msgspec.structs.replace(answer, posted=posted)


def without_signs(answer: Accepted) -> Accepted:
    """The answer as it is kept: what is known of those it goes to is told anew each time."""
    return msgspec.structs.replace(answer, posted=tuple([msgspec.structs.replace(one, known=None) for one in answer.posted]))


def known_of(desk: Desk, box: Box | None) -> Known:
    """What the group happens to know of an agent."""
    if box is None:
        return Known(came=False, silent_for=None, at_work=False)
    silent_for = None if box.last_seen is None else timedelta(microseconds=desk.now - box.last_seen)
    return Known(came=box.acted, silent_for=silent_for, at_work=box.leased > 0, pause=box.pause(desk.now))

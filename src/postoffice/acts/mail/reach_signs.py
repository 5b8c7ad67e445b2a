"""What a group knows of each recipient without asking. From it the office tells who can be reached."""

from datetime import timedelta

import msgspec

from postoffice.acts.desk import Desk
from postoffice.acts.rows import Box
from postoffice.core.agent import is_person
from postoffice.core.message import Accepted
from postoffice.core.names import folded
from postoffice.core.reach import Known


def with_signs(desk: Desk, answer: Accepted) -> Accepted:
    """The answer, with what the group knows of each recipient: no further query is needed to say whether it can be taken now."""
    posted = tuple([msgspec.structs.replace(one, known=known_of(desk, desk.boxes.get(folded(one.recipient)))) for one in answer.posted])
    return msgspec.structs.replace(answer, posted=posted)


def without_signs(answer: Accepted) -> Accepted:
    """The answer as it is kept, without what is known of its recipients: that is told anew each time."""
    return msgspec.structs.replace(answer, posted=tuple([msgspec.structs.replace(one, known=None) for one in answer.posted]))


def known_of(desk: Desk, box: Box | None) -> Known:
    """What the group happens to know of an agent."""
    if box is None:
        return Known(came=False, silent_for=None, at_work=False)
    return known_of_box(box, desk.now)


def known_of_box(box: Box, now: int) -> Known:
    """What an agent's rows say of it."""
    silent_for = None if box.last_seen is None else timedelta(microseconds=now - box.last_seen)
    return Known(came=box.acted, silent_for=silent_for, at_work=box.leased > 0, pause=box.pause(now), person=is_person(box.agent, box.card))

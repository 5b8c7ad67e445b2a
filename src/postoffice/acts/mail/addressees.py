"""Whom a message is for: everyone who is there, or those it names, some of whom nobody may have been yet."""

from collections.abc import Sequence

from postoffice.acts.desk import Desk
from postoffice.acts.rows import Box
from postoffice.acts.rules.naming import check_new_name
from postoffice.core.agent import Card
from postoffice.core.errors import MailError, NoSuchAgent, NoSuchRole, OutOfReach
from postoffice.core.message import Posted
from postoffice.core.names import OWNER, SYSTEM, folded, is_account, is_role
from postoffice.core.policy import ANYONE


def everyone_but(desk: Desk, sender: str) -> list[str]:
    """Every agent on the desk that a message to all is for."""
    return [
        agent for agent in desk.boxes if agent not in (sender, SYSTEM, OWNER) and not is_role(agent) and not desk.boxes[agent].forgotten
    ]


def open_boxes(desk: Desk, sender: str, names: Sequence[str], *, strangers: bool) -> tuple[list[Box], list[Box]]:
    """The mailboxes of those named, and those among them that are new."""
    boxes: list[Box] = []
    unseen: list[Box] = []
    for name in names:
        box = desk.boxes.get(folded(name))
        if box is None or box.forgotten:
            if is_role(name) or not strangers:
                raise NoSuchRole(name=name) if is_role(name) else NoSuchAgent(name=name, hint="check the name")
            if is_account(name):  # nobody can come under that name and find it
                raise OutOfReach(recipient=name, sender=desk.boxes[sender].name)
            check_new_name(desk, name, unseen)
            box = box or desk.new_box(name, Card(allow_from=(ANYONE,)))
            unseen.append(box)
        boxes.append(box)
    return boxes, unseen


def refusal_of(box: Box, refusal: MailError) -> Posted:
    """What is told of one of many who did not get it."""
    return Posted(recipient=box.name, refusal=refusal.code, detail=str(refusal))

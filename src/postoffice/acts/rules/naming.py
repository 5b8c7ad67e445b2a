"""Whether an agent may come under a new name: not under one that people take for the office, its people or another agent."""

from collections.abc import Sequence
from typing import TypeVar

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.rows import Box
from postoffice.core.errors import LooksAlike, ReservedName
from postoffice.core.names import EVERYONE, EVERYONES, folded, is_account, look, poses

R = TypeVar("R")


class OfPerhapsNewName(Act[R]):
    """An act of one agent, whose name nobody may have had yet."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.agent = folded(name)

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.agent)
        needs.agents = True

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        ask_lookalikes(needs, desk, self.name)


def is_new(box: Box | None) -> bool:
    """Whether nobody of a name is there: none was yet, or the owner has forgotten it."""
    return box is None or box.forgotten


def ask_lookalikes(needs: Needs, desk: Desk, name: str) -> None:
    """Who there looks like a name that is new."""
    if is_new(desk.boxes.get(folded(name))):
        needs.extra[f"lookalikes:{look(name)}"] = (look(name),)


def check_new_name(desk: Desk, name: str, beside: Sequence[Box] = (), *, owner: bool = False) -> None:
    """Refuse a new name that poses as another, also one of those that come beside it.

    Names that are there already stay as they are, and the owner may name agents alike.
    """
    if is_account(name):  # whoever has an account proves it
        return
    if folded(name) in EVERYONES:
        raise ReservedName(name=name, instead=f"to write to everyone say {EVERYONE}, else choose another name")
    if poses(name):
        raise ReservedName(name=name, instead="people would take it for the office or its owner; choose another name")
    if owner:
        return
    there = [other for (other,) in desk.extra.get(f"lookalikes:{look(name)}", ())]
    there += [box.name for box in (*desk.new_agents, *beside) if look(box.name) == look(name)]
    # The very same name is no lookalike: another process made it since. The table then refuses ours, and the act is done again.
    others = [other for other in there if folded(other) != folded(name)]
    if others:
        raise LooksAlike(name=name, other=min(others))

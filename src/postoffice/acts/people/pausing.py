"""An agent's mail is held for a while: nothing is taken, what is in hand goes on, and it drains in order afterwards."""

from datetime import timedelta

from postoffice.acts.act import Act
from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.people.agents import box_of
from postoffice.acts.rows import Box
from postoffice.core.clock import micros
from postoffice.core.event import Kind
from postoffice.core.names import folded
from postoffice.core.pause import Pause


class PauseMail(Act[Pause]):
    """Hold an agent's mail, for so long or until it is resumed. Paused again, the latest pause counts."""

    def __init__(self, name: str, by: str, lasts: timedelta | None, reason: str | None) -> None:
        self.agent = folded(name)
        self.by = by
        self.lasts = lasts
        self.reason = reason

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.agent)

    def run(self, desk: Desk) -> Pause:
        box = box_of(desk, self.agent)
        desk.room.take()
        box.paused_at = box.paused_at if box.is_paused(desk.now) else desk.now
        box.paused_until = None if self.lasts is None else desk.now + micros(self.lasts)
        box.paused_by, box.pause_reason = self.by, self.reason
        _write(desk, box)
        pause = box.pause(desk.now)
        assert pause is not None
        until = None if pause.until is None else pause.until.isoformat()
        desk.tell(box, Kind.PAUSE, box.name, {"paused": True, "until": until, "by": self.by})
        return pause


class ResumeMail(Act[bool]):
    """Go on at once. Says whether it was paused; to resume what is not paused changes nothing."""

    def __init__(self, name: str, *, over: bool = False) -> None:
        self.agent = folded(name)
        self.over = over
        """Whether only a pause whose time has come is meant."""

    def ask(self, needs: Needs) -> None:
        needs.boxes.add(self.agent)

    def run(self, desk: Desk) -> bool:
        box = box_of(desk, self.agent)
        was = box.is_paused(desk.now)
        if box.paused_at is None or (self.over and was):
            return False
        box.paused_at = box.paused_until = box.paused_by = box.pause_reason = None
        _write(desk, box)
        desk.tell(box, Kind.PAUSE, box.name, {"paused": False})
        return was


def _write(desk: Desk, box: Box) -> None:
    """Those who wait for its mail look again."""
    desk.changed_boxes[box.agent] = box
    desk.write("put_pause", (box.agent, box.paused_at, box.paused_until, box.paused_by, box.pause_reason), box.agent)
    desk.hints.add(box.agent)

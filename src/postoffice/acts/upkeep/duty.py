"""Duties: work that only one of several processes does at a time, each for a while."""

from datetime import timedelta

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.upkeep.housekeeping import Housekeeping
from postoffice.core.clock import micros


class HoldDuty(Housekeeping[bool]):
    """Take or keep a duty for a while. True if it is the holder's now."""

    def __init__(self, duty: str, holder: str, lasts: timedelta) -> None:
        self.duty = duty
        self.holder = holder
        self.lasts = lasts

    def ask(self, needs: Needs) -> None:
        super().ask(needs)
        needs.extra[f"duty:{self.duty}"] = (self.duty,)

    def run(self, desk: Desk) -> bool:
        for holder, until in desk.extra[f"duty:{self.duty}"]:
            # One that lasts longer than any was given before the clock stepped back: its holder asks again in a moment, if there is one.
            if holder != self.holder and desk.now < until <= desk.now + micros(self.lasts):
                return False
        until = desk.now + micros(self.lasts)
        desk.extra[f"duty:{self.duty}"] = [(self.holder, until)]
        desk.write("put_duty", (self.duty, self.holder, until), self.duty)
        return True

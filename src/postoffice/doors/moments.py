"""The present moment, for answers that say how long ago something was."""

from datetime import datetime

from postoffice.core.clock import Clock, moment

_clock = Clock()


def now() -> datetime:
    """Now, by a clock that never steps back."""
    return moment(_clock.now())

"""The present moment, for whoever tells a reader how long ago something was."""

from datetime import datetime

from postoffice.core.clock import Clock, moment

_clock = Clock()


def now() -> datetime:
    """By a clock that never steps back."""
    return moment(_clock.now())

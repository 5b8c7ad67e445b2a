"""What one process of the office counts from its start, for its metrics."""

from postoffice.core.tally import Headcount, Tally


class Tallies:
    """Several verbs count here, and whoever asks reads them."""

    def __init__(self) -> None:
        self.waits = Tally()
        """How long mail waited before it was taken."""
        self.wakes = Tally()
        """How long mail was on its way to somebody who was waiting for it."""
        self.waiters = Headcount()
        """Calls that wait for mail."""
        self.watchers = Headcount()
        """Pages that are told what happens."""
        self.sent = 0
        """Messages accepted."""
        self.redelivered = 0
        """Messages taken more than once."""

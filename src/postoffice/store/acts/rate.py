"""How often an agent may send: one count for all that others hear of its own accord."""

from datetime import timedelta

from postoffice.store.desk import Desk, Needs

_MINUTE = timedelta(minutes=1)


def ask_rate(needs: Needs, desk: Desk, agent: str) -> None:
    """Have the count at hand, where there is a limit."""
    if desk.limits.sends_per_minute is not None:
        needs.limits.add(_bucket(agent))


def count_sent(desk: Desk, agent: str) -> None:
    """Count one more, unless that is more than is allowed."""
    if desk.limits.sends_per_minute is not None:
        desk.count(_bucket(agent), desk.limits.sends_per_minute, _MINUTE)


def _bucket(agent: str) -> str:
    return f"send:{agent}"

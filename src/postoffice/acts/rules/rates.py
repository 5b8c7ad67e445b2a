"""How often an agent may send, and how much. One count covers everything that others hear from it."""

from datetime import timedelta

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.rules.counting import add_count, check_count, count
from postoffice.core.errors import BytesLimited

_MINUTE = timedelta(minutes=1)


def ask_rate(needs: Needs, desk: Desk, agent: str) -> None:
    """Have the counts at hand, where there is a limit."""
    if desk.limits.sends_per_minute is not None:
        needs.limits.add(_sends(agent))
    if desk.limits.sent_bytes_per_minute is not None:
        needs.limits.add(_bytes(agent))


def count_sent(desk: Desk, agent: str, size: int = 0) -> None:
    """Count one message and its bytes, or refuse it. The last one may exceed the bytes, so that none is too large to be sent at all."""
    most = desk.limits.sent_bytes_per_minute
    if most is not None:
        check_count(desk, _bytes(agent), most, _MINUTE, BytesLimited)
    if desk.limits.sends_per_minute is not None:
        count(desk, _sends(agent), desk.limits.sends_per_minute, _MINUTE)
    if most is not None and size:
        add_count(desk, _bytes(agent), size, _MINUTE)


def _sends(agent: str) -> str:
    return f"send:{agent}"


def _bytes(agent: str) -> str:
    return f"bytes:{agent}"

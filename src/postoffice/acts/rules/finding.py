"""Find one delivery by either of its message's ids."""

from collections.abc import Callable

from postoffice.acts.desk import Desk
from postoffice.acts.rows import DeliveryRow
from postoffice.core.errors import AmbiguousId


def find_mail(desk: Desk, ref: str, mailbox: str, fits: Callable[[DeliveryRow], bool]) -> DeliveryRow | None:
    """The delivery that `ref` names. If several senders used that id, only deliveries that the verb can act on count. It never guesses."""
    row = desk.mail.get((ref, mailbox))
    named = [row for row in desk.mail_named.get((ref, mailbox), []) if not row.hidden]
    if row is not None and row.hidden:
        return None  # not the recipient's yet
    if row is not None or not named:
        return row
    candidates = named if len(named) == 1 else [row for row in named if fits(row)]
    if len(candidates) != 1:
        raise AmbiguousId(ref=ref, name=desk.boxes[mailbox].name)
    return candidates[0]


def mail_under(desk: Desk, ref: str, mailbox: str) -> list[DeliveryRow]:
    """All deliveries that `ref` may name."""
    row = desk.mail.get((ref, mailbox))
    return [row] if row is not None else desk.mail_named.get((ref, mailbox), [])

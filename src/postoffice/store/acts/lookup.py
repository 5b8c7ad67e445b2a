"""Find one delivery by either of its message's ids."""

from collections.abc import Callable

from postoffice.core.errors import AmbiguousId
from postoffice.store.desk import Desk
from postoffice.store.rows import DeliveryRow


def find_mail(desk: Desk, ref: str, mailbox: str, fits: Callable[[DeliveryRow], bool]) -> DeliveryRow | None:
    """The delivery that `ref` names. Where senders' ids clash, those the verb could act on decide; never a guess."""
    row = desk.mail.get((ref, mailbox))
    named = [other for other in desk.mail_named.get((ref, mailbox), ()) if other is not row]
    if not named:
        return row
    found = named if row is None else [row, *named]
    if len(found) > 1:
        fitting = [r for r in found if fits(r)]
        if len(fitting) != 1:
            raise AmbiguousId(ref=ref, name=desk.boxes[mailbox].name)
        return fitting[0]
    return found[0]

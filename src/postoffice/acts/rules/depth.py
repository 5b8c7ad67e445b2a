"""How much may wait in a mailbox: so many messages, and so many bytes."""

from postoffice.acts.desk import Desk
from postoffice.acts.rows import Box
from postoffice.core.errors import MailboxFull, MailboxHeavy


def check_depth(desk: Desk, box: Box) -> None:
    """Refuse more than that. The last message may exceed the bytes, so that none is too large to be sent at all."""
    limits = desk.limits
    if box.depth >= limits.depth:
        raise MailboxFull(recipient=box.name, depth=box.depth)
    if limits.mailbox_bytes and box.waiting_bytes >= limits.mailbox_bytes:
        raise MailboxHeavy(recipient=box.name, size=box.waiting_bytes, limit=limits.mailbox_bytes)

"""Whether a message may go to one recipient: admission, reach, hops, budget and depth, in this order."""

from postoffice.acts.desk import Desk
from postoffice.acts.ledger.outbox import check_reachable
from postoffice.acts.rows import Box
from postoffice.core.draft import Draft
from postoffice.core.errors import NotAdmitted, OutOfReach
from postoffice.core.loops import check_trace, hop
from postoffice.core.message import Message
from postoffice.core.names import is_account
from postoffice.core.policy import admitted
from postoffice.core.session import pair


def check_admission(desk: Desk, draft: Draft, sender: Box, box: Box, original: Message | None, *, invited: bool) -> None:
    """Refuse a message that its recipient does not let in, that cannot reach it, or that would run in a circle. Who wrote to a role is `invited` its answer."""
    connected = pair(sender.agent, box.agent) in desk.connected
    if not invited and not admitted(sender.agent, box.agent, box.card.allow_from, connected=connected):
        raise NotAdmitted(sender=sender.name, recipient=box.name)
    if draft.ledger is not None:
        check_reachable(desk, sender, box)
    elif is_account(box.agent):  # met over the ledger, and out of reach without it
        raise OutOfReach(recipient=box.name, sender=sender.name)
    if original is not None:
        hop(original, sender.name, box.name)
    if draft.trace:
        check_trace(draft.trace, box.name)

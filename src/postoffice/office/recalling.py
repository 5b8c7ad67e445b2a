"""Who takes something back, and in whose name."""

import msgspec

from postoffice.acts.mail.cancel import Cancel
from postoffice.core.agent import Caller
from postoffice.core.draft import Draft
from postoffice.core.names import folded


def recall(caller: Caller, sender: str, message_id: str, recipient: str, report: Draft | None = None) -> Cancel:
    """What the owner takes back of another's it says to be the owner's doing, and not its sender's word."""
    said = report or Draft(to=recipient, content="")
    if folded(caller.name) == folded(sender):
        return Cancel(sender, message_id, recipient, said, verified=caller.verified)
    if not said.content and not said.parts:
        said = msgspec.structs.replace(said, content="Canceled by the owner.")
    return Cancel(sender, message_id, recipient, said, verified=False)

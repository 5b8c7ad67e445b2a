"""Messages that are taken back: the verb, and in whose name it is done."""

import msgspec

from postoffice.acts.mail.cancel import Cancel
from postoffice.core.agent import Caller
from postoffice.core.delivery import Recalled
from postoffice.core.draft import Draft
from postoffice.core.errors import Invalid, TooLateToCancel
from postoffice.core.names import folded
from postoffice.office.proofs import Proofs
from postoffice.store.store import Store


class Cancellations:
    """Only what nobody has taken yet can be taken back, tasks excepted."""

    def __init__(self, store: Store, proofs: Proofs) -> None:
        self._store = store
        self._proofs = proofs

    async def cancel(self, caller: Caller, ref: str) -> tuple[str, tuple[Recalled, ...]]:
        """Take back what the caller has sent: its id, and what became of it with each recipient. A task ends also where it was taken."""
        proof = await self._proofs.of_sent(caller, ref)
        assert proof.message is not None
        if proof.message.ask is not None:
            raise Invalid(what="message", why="it asks a question, which its sender withdraws instead (POST /questions/{id}/withdraw)")
        sender = proof.message.sender
        acts = [recall(caller, sender, proof.message_id, standing.recipient) for standing in proof.standings]
        outcomes = await self._store.do_each(acts)
        for outcome in outcomes:
            if isinstance(outcome, BaseException):
                raise outcome
        recalled = tuple(outcome for outcome in outcomes if isinstance(outcome, Recalled))
        if not any(one.canceled for one in recalled):
            raise TooLateToCancel(ref=ref, states=", ".join(f"{one.state} with {one.recipient}" for one in recalled) or "it went to nobody")
        return proof.message_id, recalled


def recall(caller: Caller, sender: str, message_id: str, recipient: str, report: Draft | None = None) -> Cancel:
    """The act. If the owner takes back another's message, the report says that the owner did it, and not the sender."""
    words = report or Draft(to=recipient, content="")
    if folded(caller.name) == folded(sender):
        return Cancel(sender, message_id, recipient, words, verified=caller.verified)
    if not words.content and not words.parts:
        words = msgspec.structs.replace(words, content="Canceled by the owner.")
    return Cancel(sender, message_id, recipient, words, verified=False)

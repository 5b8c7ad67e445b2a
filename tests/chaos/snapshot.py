"""A backup taken while mail goes on, held against the history: it is the office as it was at one moment of its making."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from tests.chaos.history import FOREVER, Call, Op
from tests.chaos.violation import Kind, Violation
from tests.proof.books import Books


class Snapshot(NamedTuple):
    """What a backup holds, and the moments between which it was made."""

    begun: int
    ended: int
    books: Books

    def violations(self, calls: Sequence[Call]) -> list[Violation]:
        sends = [call for call in calls if call.op is Op.SEND]
        acks = [call for call in calls if call.op is Op.ACK]
        return [*self._mail(sends), *self._standings(acks)]

    def _mail(self, sends: Sequence[Call]) -> Iterator[Violation]:
        """What was accepted before it is in it, what began after it is not, and whatever is in it brings all that came before."""
        found = self.books.by_client_id()
        begun: dict[str, int] = {}  # for the first time: saying it again says nothing of when it was stored
        for call in sends:
            begun[call.client_id] = min(call.begun, begun.get(call.client_id, call.begun))
        latest = max([self.begun, *(begun[client_id] for client_id in found if client_id in begun)])
        for call in sends:
            if call.answered and call.ended < latest and call.client_id not in found:
                yield Violation(Kind.LOST, f"{call.client_id}, from the backup", (call.id,))
        for client_id, messages in found.items():
            if len(messages) > 1:
                yield Violation(Kind.DOUBLED, f"{client_id}, in the backup", ())
            if begun.get(client_id, FOREVER) > self.ended:
                yield Violation(Kind.STRANGER, f"{client_id}, in the backup before it was sent", ())

    def _standings(self, acks: Sequence[Call]) -> Iterator[Violation]:
        """What was acked before it is acked in it, and nothing is that nobody had begun to ack."""
        states = self.books.states()
        for call in acks:
            state = states.get((call.message, call.agent))
            if call.answered and call.ended < self.begun and state != "acked":
                yield Violation(Kind.RISEN, f"{call.message} is {state} in the backup", (call.id,))
        begun = {(call.message, call.agent) for call in acks if not call.refused and call.begun < self.ended}
        for standing, state in states.items():
            if state == "acked" and standing not in begun:
                yield Violation(Kind.LATE, f"{standing} is acked in the backup before anybody acked it", ())

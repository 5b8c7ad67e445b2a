"""Do it once, however often it is asked: a sender's own id brings back the answer it got the first time."""

from hashlib import blake2b
from typing import NamedTuple

import msgspec

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.core.errors import IdConflict

_encode = msgspec.json.Encoder(order="deterministic").encode


class Once(NamedTuple):
    """One request under its sender's id. The sender's mailbox is locked, so no other group can be doing the same."""

    key: tuple[str, str, str]
    fingerprint: bytes

    @classmethod
    def of(cls, sender: str, addressee: str, client_id: str | None, request: object) -> "Once | None":
        """None for a request without an id: it is a new one every time."""
        if client_id is None:
            return None
        return cls((sender, addressee, client_id), blake2b(_encode(request), digest_size=16).digest())

    def earlier(self, desk: Desk, exchange: "Exchange | None" = None) -> str | None:
        """The answer given before, as JSON. The same id for something else is a conflict, unless two agents send under it in turn."""
        record = desk.dedupe.get(self.key)
        if record is None:
            return None
        fingerprint, answer, at = record
        same = bytes(fingerprint) == self.fingerprint
        if exchange is not None and exchange.goes_on(desk, at, same=same):
            return None
        if not same:
            raise IdConflict(sender=self.key[0], client_id=self.key[2])
        return answer

    def remember(self, desk: Desk, answer: object) -> None:
        """Keep the answer for when it is asked again."""
        text = _encode(answer).decode()
        desk.dedupe[self.key] = (self.fingerprint, text, desk.now)
        desk.write("add_dedupe", (*self.key, self.fingerprint, text, desk.now), self.key)


class Exchange(NamedTuple):
    """An id under which two agents send in turn, as a loop does that answers under the id it got. Each answer lets the next message in."""

    sender: str
    other: str
    client_id: str
    looks: bool
    """Whether to look up the other's answer in the sender's mailbox: only for a repeated message it matters whether it was taken."""

    def ask(self, needs: Needs) -> None:
        """Have what the other has sent under the id."""
        needs.dedupe.add((self.other, self.sender, self.client_id))
        if self.looks:
            needs.mail.setdefault((self.client_id, self.sender), False)

    def goes_on(self, desk: Desk, since: int, *, same: bool) -> bool:
        """Whether the other agent has answered under the id since, and, for a repeated message, the sender has taken that answer."""
        answer = desk.dedupe.get((self.other, self.sender, self.client_id))
        if answer is None or answer[2] <= since:
            return False
        if not same:
            return True
        rows = [row for row in desk.mail_named.get((self.client_id, self.sender), ()) if row.sender == self.other]
        return any(row.created_at > since and (row.leased_at or row.settled_at) for row in rows)

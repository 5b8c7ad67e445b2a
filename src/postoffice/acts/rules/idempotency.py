"""Do it once, however often it is asked: a sender's own id, and the answer it got the first time."""

from hashlib import blake2b
from typing import NamedTuple

import msgspec

from postoffice.acts.desk import Desk
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

    def earlier(self, desk: Desk) -> str | None:
        """The answer given before, as JSON; the same id for something else is a conflict."""
        found = desk.dedupe.get(self.key)
        if found is None:
            return None
        if bytes(found[0]) != self.fingerprint:
            raise IdConflict(sender=self.key[0], client_id=self.key[2])
        return found[1]

    def remember(self, desk: Desk, answer: object) -> None:
        """Keep the answer for when it is asked again."""
        text = _encode(answer).decode()
        desk.dedupe[self.key] = (self.fingerprint, text)
        desk.write("add_dedupe", (*self.key, self.fingerprint, text, desk.now))

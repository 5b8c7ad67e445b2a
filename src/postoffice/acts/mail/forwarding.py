"""What a message passes on: who wrote it, and to whom it may not go because it has been there."""

import msgspec

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.acts.rules.finding import find_mail
from postoffice.core.draft import Draft
from postoffice.core.errors import AmbiguousId, LoopRefused, NoSuchMessage
from postoffice.core.loops import hop
from postoffice.core.message import Forwarded, Message
from postoffice.core.names import folded


class Forwarding:
    """One forward. The first message of a chain remembers who had it, for as long as ids are remembered."""

    def __init__(self, sender: str, draft: Draft, agents: list[str]) -> None:
        self._sender = sender
        self._draft = draft
        self._agents = agents

    def ask(self, needs: Needs) -> None:
        """Have what is passed on, and what it says."""
        if self._draft.forward_of is not None:
            key = (self._draft.forward_of, self._sender)
            needs.mail[key] = True
            needs.bodies.add(key)

    def ask_more(self, needs: Needs, desk: Desk) -> None:
        """Have where it has been."""
        original = self.original(desk)
        if original is not None:
            for agent in self._agents:
                needs.dedupe.add(_been(original, agent))
                needs.extra |= {_got(id, agent): (id, agent) for id in {original.id, _first(original)}}

    def original(self, desk: Desk) -> Message | None:
        """What is passed on, where the sender has it and it is clear which it is."""
        if self._draft.forward_of is None:
            return None
        try:
            row = find_mail(desk, self._draft.forward_of, self._sender, lambda _: True)
        except AmbiguousId:
            return None
        return None if row is None else row.read()

    def find(self, desk: Desk) -> Message | None:
        """The message that is passed on. It is refused if the sender does not have it, or if its new recipient had it before."""
        ref = self._draft.forward_of
        if ref is None:
            return None
        row = find_mail(desk, ref, self._sender, lambda _: True)
        if row is None:
            raise NoSuchMessage(name=desk.boxes[self._sender].name, ref=ref)
        original = row.read()
        for agent in self._agents:
            hop(original, desk.boxes[self._sender].name, agent)  # the way it went says more than that it is there
            got = any(desk.extra.get(_got(id, agent)) for id in (original.id, _first(original)))
            if got or _been(original, agent) in desk.dedupe:
                raise LoopRefused(to=agent, why="it has that message already; choose another agent")
        return original

    def remember(self, desk: Desk, original: Message | None, message: Message) -> None:
        """It has been there from now on."""
        if original is None:
            return
        for agent in self._agents:
            key = _been(original, agent)
            desk.dedupe[key] = (b"", message.id, desk.now)
            desk.write("add_dedupe", (*key, b"", message.id, desk.now), key)


def forwarded(original: Message, *, own_words: bool) -> Forwarded:
    """Who wrote what is passed on. What is passed on unchanged, however often, is still its first author's."""
    before = original.forwarded_from
    if before is not None and not before.own_words:
        return msgspec.structs.replace(before, own_words=own_words)
    return Forwarded(original.id, original.sender, original.created_at, original.from_verified, original.subject, own_words)


def _first(original: Message) -> str:
    return original.id if original.forwarded_from is None else original.forwarded_from.id


def _been(original: Message, agent: str) -> tuple[str, str, str]:
    """Nobody's name is empty: these records are the message's own."""
    return ("", folded(agent), f"forward:{_first(original)}")


def _got(id: str, agent: str) -> str:
    return f"has_got:{id}:{agent}"

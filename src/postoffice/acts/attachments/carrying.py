"""What a letter carries: only what its sender brought here, or has been sent."""

import msgspec

from postoffice.acts.attachments.rows import ask_blob, ask_kept, blob_on, check_quota, count_kept, hold
from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.core.attachment import ANY_TYPE, Attachment, fallback_name
from postoffice.core.errors import BadMessage, NoSuchAttachment
from postoffice.core.message import Message
from postoffice.core.names import SYSTEM


class Carrying:
    """The attachments of one letter. Knowing a digest gives nothing.

    Whatever changes which bytes are needed takes the office's own mailbox, so that none is swept while a letter with it is accepted.
    """

    def __init__(self, agent: str, given: tuple[Attachment, ...]) -> None:
        self._agent = agent
        self._given = given

    def ask(self, needs: Needs, *, forwards: bool = False) -> None:
        """Have the office's own mailbox; what a forward passes on may carry something."""
        if self._given or forwards:
            needs.boxes.update((self._agent, SYSTEM))

    def ask_more(self, needs: Needs, original: Message | None = None) -> None:
        """Have what is named, and whether the sender may send it."""
        wanted = self._wanted(original)
        for digest in {one.digest for one in wanted}:
            ask_blob(needs, digest)
            needs.extra[self._right(digest)] = (digest, self._agent)
        if wanted:
            ask_kept(needs, self._agent)

    def find(self, desk: Desk, original: Message | None = None) -> tuple[Attachment, ...]:
        """What the letter carries, with names and sizes; what it forwards goes with it."""
        wanted = self._wanted(original)
        if not wanted:
            return ()
        if len(wanted) > desk.limits.attachments_per_letter:
            raise BadMessage(field="attachments", why=f"with those forwarded there are {len(wanted)}, too many for one letter")
        carried = tuple(self._found(desk, one) for one in wanted)
        check_quota(desk, self._agent, self._new(desk, carried))
        return carried

    def keep(self, desk: Desk, message: Message) -> None:
        """The letter carries them from now on, and they are its sender's too."""
        if not message.attachments:
            return
        count_kept(desk, self._agent, self._new(desk, message.attachments))
        for place, one in enumerate(message.attachments):
            desk.write("add_attachment", (message.id, place, one.digest, self._agent, one.name, one.type), (message.id, place))
            blob = blob_on(desk, one.digest)
            assert blob is not None  # found above
            hold(desk, self._agent, one, blob)
            desk.extra[self._right(one.digest)] = [(one.name, one.type, 1)]

    def _wanted(self, original: Message | None) -> tuple[Attachment, ...]:
        return (*(() if original is None else original.attachments), *self._given)

    def _right(self, digest: str) -> str:
        return f"attachable:{digest}:{self._agent}"

    def _found(self, desk: Desk, one: Attachment) -> Attachment:
        rights = desk.extra[self._right(one.digest)]
        blob = blob_on(desk, one.digest)
        if not rights or blob is None:  # one answer: a stranger does not learn that it is here
            raise NoSuchAttachment(name=desk.boxes[self._agent].name, digest=one.digest)
        ((name, type, _), *_) = rights
        return msgspec.structs.replace(
            one, name=one.name or name or fallback_name(one.digest), type=one.type or type or ANY_TYPE, size=blob.size
        )

    def _new(self, desk: Desk, carried: tuple[Attachment, ...]) -> int:
        """How many of these bytes the sender does not keep here already."""
        return sum({one.digest: one.size for one in carried if not desk.extra[self._right(one.digest)][0][2]}.values())

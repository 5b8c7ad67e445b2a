"""A draft becomes the message that is kept."""

import msgspec

from postoffice.acts.desk import Desk
from postoffice.acts.mail.forwarding import forwarded
from postoffice.acts.rows import Box, ThreadRow
from postoffice.core.attachment import Attachment
from postoffice.core.connection import Assurance
from postoffice.core.draft import Draft
from postoffice.core.loops import hop
from postoffice.core.message import TASK, Message, TaskRef
from postoffice.core.names import EVERYONE, folded, is_list
from postoffice.core.policy import admitted
from postoffice.core.session import pair
from postoffice.core.task import TaskState
from postoffice.core.times import begin_and_end


def compose(
    desk: Desk,
    draft: Draft,
    sender: Box,
    boxes: list[Box],
    thread: ThreadRow | None,
    original: Message | None,
    attachments: tuple[Attachment, ...],
    *,
    verified: bool,
) -> Message:
    """The message of a draft. `thread`: the session it names; `original`: what it forwards."""
    body: Draft | Message = draft
    subject = draft.subject
    passed_on = None
    deliver_at, expires_at = begin_and_end(draft.deliver_at, draft.expires_at, desk.at)
    trace = (*(name for name in draft.trace if folded(name) != sender.agent), sender.name)
    ttl = draft.ttl
    if original is not None:
        ttl, trace = hop(original, sender.name, boxes[0].name)
        if draft.content is None and not draft.parts and draft.payload is msgspec.UNSET:
            body = original
        subject = original.subject if subject is None else subject
        passed_on = forwarded(original, own_words=body is draft)
    task = draft.task
    if draft.type == TASK:
        task = msgspec.structs.replace(task or TaskRef(), state=TaskState.PENDING)
    return Message(
        id=desk.clock.new_id(),
        sender=sender.name,
        to=_address(desk, draft, boxes),
        created_at=desk.at,
        from_verified=verified,
        type=draft.type,
        client_id=draft.client_id,
        subject=subject if subject is not None else thread.subject if thread is not None else "",
        content=body.content,
        parts=body.parts,
        payload=body.payload,
        context=draft.context,
        correlation_id=draft.correlation_id,
        reply_to=draft.reply_to,
        priority=draft.priority or desk.limits.priority,
        ttl=desk.limits.ttl if ttl is None else ttl,
        trace=trace,
        task=task,
        callback=draft.callback if draft.callback is not None or original is None else original.callback,
        ref_id=draft.ref_id,
        ref_type=draft.ref_type,
        metadata=draft.metadata,
        forward_of=None if original is None else original.id,
        ask=draft.ask,
        forwarded_from=passed_on,
        attachments=attachments,
        automatic=draft.automatic,
        deliver_at=deliver_at,
        expires_at=expires_at,
        assurance=_assurance(desk, sender.agent, boxes, draft.to),
    )


def _address(desk: Desk, draft: Draft, boxes: list[Box]) -> str | tuple[str, ...]:
    """Whom it is to, each by the name as its agent, or whoever made the list, writes it."""
    if draft.to == EVERYONE:
        return EVERYONE
    if isinstance(draft.to, str) and is_list(draft.to):
        return desk.lists.named[folded(draft.to)].name
    return boxes[0].name if isinstance(draft.to, str) else tuple(box.name for box in boxes)


def _assurance(desk: Desk, sender: str, boxes: list[Box], to: object) -> Assurance | None:
    """How its recipients' consent was made. Only what holds for all of them is claimed; members of a list consent to the list."""
    if not desk.connected or is_list(to):
        return None
    assurances = {_consent(desk, sender, box) for box in boxes}
    only = assurances.pop() if len(assurances) == 1 else None
    return None if only is None else Assurance(only)


def _consent(desk: Desk, sender: str, box: Box) -> str | None:
    """How the consent was made; None where the recipient's own list admits the sender."""
    listed = admitted(sender, box.agent, box.card.allow_from, connected=False)
    return None if listed else desk.connected.get(pair(sender, box.agent))

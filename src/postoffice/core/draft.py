"""A message as its sender writes it, and which of them the office can take."""

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

import msgspec

from postoffice.core.attachment import Attachment, check_attachments
from postoffice.core.clock import micros, moment
from postoffice.core.entity import check_entity_type
from postoffice.core.errors import BadMessage, OneRecipient, TooLarge
from postoffice.core.limits import Limits, bounded
from postoffice.core.message import QUESTION, TASK, TaskRef, is_note
from postoffice.core.names import EVERYONE, check_recipient, folded, is_list
from postoffice.core.question import Ask, check_ask
from postoffice.core.text import check_json, check_text
from postoffice.core.times import When, check_when

_WORDS = ("type", "correlation_id", "reply_to", "ref_id", "ref_type", "client_id", "session_id", "forward_of")
_words_of = attrgetter(*_WORDS)
_BLOCKERS = 20
"""Tasks that one task waits for."""
_PARTS = {"text": ("text", str), "data": ("data", object), "file": ("path", str)}


class LedgerWish(msgspec.Struct, frozen=True, omit_defaults=True):
    """How a message goes by the ledger."""

    private: bool = False
    """Only its fingerprint is put there; what it says stays in the mailbox."""
    log: bool = False
    """The sender's public log tells of it too."""
    abroad: bool = False
    """Only for recipients who can be reached no other way; the others get it as always."""


class Draft(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """A message as its sender writes it, before the office has accepted it."""

    to: str | tuple[str, ...]
    type: str = "message"
    subject: str | None = None
    content: str | None = None
    parts: tuple[dict[str, Any], ...] = ()
    payload: Any = msgspec.UNSET
    context: Any = None
    correlation_id: str | None = None
    reply_to: str | None = None
    priority: int | None = None
    ttl: int | None = None
    task: TaskRef | None = None
    callback: dict[str, Any] | None = None
    ref_id: str | None = None
    ref_type: str | None = None
    metadata: dict[str, Any] | None = None
    client_id: str | None = None
    session_id: str | None = None
    forward_of: str | None = None
    ask: Ask | None = None
    """What it asks a person."""
    attachments: tuple[Attachment, ...] = ()
    """What it carries besides its words, each by its digest."""
    deliver_at: When | None = None
    """When its recipients get it; until then it is nobody's but its sender's."""
    expires_at: When | None = None
    """From when on nobody gets it any more who has not taken it before."""
    automatic: bool = False
    """Written by a program in answer to `reply_to`, with nobody looking: counts against the session's budget."""
    answers_elsewhere: bool = False
    """It comes from a world with messages that are unknown here: `reply_to` is kept whether the office knows it or not."""
    by_model: bool = False
    """Written by a model with its own tools for mail."""
    hold: bool = False
    """Keep it from the recipient until it is released."""
    settled: bool = False
    """A bridge saw it delivered elsewhere: keep it in the conversation, as read."""
    trace: tuple[str, ...] = ()
    """The agents it passed before it came to a bridge. The office keeps this itself for all other mail."""
    ledger: LedgerWish | None = None
    """By the ledger where both sides have topics: held until it has been seen there, unless it is urgent."""


def check_draft(draft: Draft, limits: Limits) -> Draft:
    """The draft with its defaults filled in, if the office can take it."""
    _check_words(draft, limits)
    _check_body(draft)
    _check_form(draft)
    if draft.task is not None:
        _check_task(draft.task, limits)
        if draft.type != TASK and (draft.task.parent or draft.task.blocked_by):
            raise BadMessage(field="task", why=f"a {draft.type} is no task; only one of type task is part of another or waits for others")
    _check_times(draft)
    if draft.attachments:
        draft = _checked_attachments(draft, limits)
    return msgspec.structs.replace(
        draft,
        type=draft.type if draft.ask is None else QUESTION,
        to=() if draft.to == () and is_note(draft.type) else _check_address(draft.to, limits),
        priority=bounded("priority", draft.priority, limits.priority, 1, 5),
        ttl=bounded("ttl", draft.ttl, limits.ttl, 0, limits.ttl_most),
        # A sender that fills in every field means none by an empty one. As an id, it would make all such messages one.
        client_id=draft.client_id or None,
        correlation_id=draft.correlation_id or None,
        session_id=draft.session_id or None,
        reply_to=draft.reply_to or None,
    )


def addressee(to: str | tuple[str, ...]) -> str:
    """The name under which a draft's address is remembered, however it was spelled."""
    return folded(to) if isinstance(to, str) else ",".join(sorted(folded(name) for name in to))


def named_in(draft: Draft) -> tuple[str, ...]:
    """The messages it names, by whatever ids."""
    task = (None, ()) if draft.task is None else (draft.task.parent, draft.task.blocked_by)
    return tuple(ref for ref in (draft.reply_to, draft.forward_of, task[0], *task[1]) if ref)


def with_whole_ids(draft: Draft, whole: Mapping[str, str]) -> Draft:
    """The draft with the ids that its short ones stand for."""

    def of(ref: str | None) -> str | None:
        return whole.get(ref or "", ref)

    task = draft.task
    if task is not None:
        task = msgspec.structs.replace(task, parent=of(task.parent), blocked_by=tuple(whole.get(ref, ref) for ref in task.blocked_by))
    return msgspec.structs.replace(draft, reply_to=of(draft.reply_to), forward_of=of(draft.forward_of), task=task)


def _check_words(draft: Draft, limits: Limits) -> None:
    for field, value in zip(_WORDS, _words_of(draft), strict=True):
        if value is not None:
            _check_word(field, value, limits.id_chars)
    if draft.subject is not None:
        _check_word("subject", draft.subject, limits.subject_chars)


def _check_body(draft: Draft) -> None:
    if draft.content is not None:
        if not isinstance(draft.content, str):
            raise BadMessage(field="content", why="it must be text")
        check_text(draft.content, "content")
    for part in draft.parts:
        _check_part(part)
    if draft.payload is not msgspec.UNSET:
        check_json(draft.payload, "payload")
    for field in ("context", "metadata", "callback"):
        if (value := getattr(draft, field)) is not None:
            check_json(value, field)
    if draft.content is None and not draft.parts and draft.payload is msgspec.UNSET and not (draft.forward_of or draft.attachments):
        raise BadMessage(field="body", why="it is empty; give content, parts, a payload or attachments")


def _checked_attachments(draft: Draft, limits: Limits) -> Draft:
    """What it carries, each digest as the office writes it."""
    if draft.ledger is not None:
        raise BadMessage(field="attachments", why="no ledger carries them; send the letter directly, or without them")
    return msgspec.structs.replace(draft, attachments=check_attachments(draft.attachments, limits.attachments_per_letter))


def _check_form(draft: Draft) -> None:
    """What some kinds of message need."""
    if is_note(draft.type) and not draft.ref_id:
        raise BadMessage(field="ref_id", why="a note names its entity")
    if is_note(draft.type) and draft.ref_type:
        check_entity_type(draft.ref_type, "ref_type")
    if draft.automatic and not draft.reply_to:
        raise BadMessage(field="reply_to", why="an automatic reply names the message it answers")
    if draft.ask is not None:
        if draft.type not in ("message", QUESTION):
            raise BadMessage(field="ask", why=f"a {draft.type} asks nothing; leave the type out")
        check_ask(draft.ask)
    if isinstance(draft.to, str) and draft.to != EVERYONE and not is_list(draft.to):
        return
    if is_note(draft.type) and is_list(draft.to):
        raise BadMessage(field="to", why="a note is kept with its entity and tells agents of it; a list gets letters")
    kinds = {
        "task": draft.type == TASK,
        "question": draft.ask is not None,
        "message in a session": draft.session_id and not is_list(draft.to),
        "forward": draft.forward_of,
    }
    for what, asked in kinds.items():
        if asked:
            raise OneRecipient(what=what)


def _check_times(draft: Draft) -> None:
    check_when("deliver_at", draft.deliver_at)
    check_when("expires_at", draft.expires_at)
    if draft.deliver_at is not None and (draft.ledger is not None or is_note(draft.type)):
        raise BadMessage(field="deliver_at", why=f"what goes {'by the ledger' if draft.ledger else 'to an entity as a note'} goes at once")
    if draft.expires_at is not None and draft.ask is not None:
        raise BadMessage(field="expires_at", why="a question ends by its own deadline; give ask a deadline")


def _check_address(to: object, limits: Limits) -> str | tuple[str, ...]:
    if isinstance(to, str):
        return EVERYONE if to == EVERYONE else check_recipient(to)
    if not isinstance(to, tuple | list) or not to or EVERYONE in to:
        raise BadMessage(field="to", why="it must be a name, a list of names, or ALL alone")
    if any(map(is_list, to)):
        if len(to) == 1:
            return check_recipient(to[0])
        raise BadMessage(field="to", why="a list is written to by itself; send what is for others besides as a message of its own")
    if len(to) > limits.recipients:
        raise BadMessage(field="to", why=f"it names {len(to)} agents, more than {limits.recipients}")
    # A name given twice is one recipient.
    names = {folded(name): name for name in map(check_recipient, to)}
    return tuple(names.values())


def _check_word(field: str, value: object, most: int) -> None:
    if not isinstance(value, str):
        raise BadMessage(field=field, why="it must be text")
    if len(value) > most:
        raise TooLarge(what=field, size=f"{len(value)} characters", limit=most)
    check_text(value, field)


def _check_part(part: object) -> None:
    if not isinstance(part, dict) or not isinstance(part.get("type"), str) or part["type"] not in _PARTS:
        raise BadMessage(field="parts", why="each is an object of type text, data or file")
    key, kind = _PARTS[part["type"]]
    if not isinstance(part.get(key), kind) or key not in part:
        raise BadMessage(field="parts", why=f"a {part['type']} part needs {key!r}")
    check_json(part, "parts")


def _check_task(task: TaskRef, limits: Limits) -> None:
    if task.id is not None:
        _check_word("task id", task.id, limits.id_chars)
    if task.state is not None:
        _check_word("task state", task.state, limits.id_chars)
    if len(task.blocked_by) > _BLOCKERS:
        raise BadMessage(field="task", why=f"it waits for {len(task.blocked_by)} others, more than {_BLOCKERS}")
    for field, ref in (("parent", task.parent), *(("blocked_by", ref) for ref in task.blocked_by)):
        if ref is not None:
            _check_word(field, ref, limits.id_chars)
    if task.deadline is not None:
        if task.deadline.tzinfo is None:
            raise BadMessage(field="task", why="its deadline needs a time zone")
        try:
            moment(micros(task.deadline))
        except OverflowError:
            raise BadMessage(field="task", why="its deadline is beyond the calendar") from None

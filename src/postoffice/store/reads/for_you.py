"""What a store can be asked about what waits for a person."""

from datetime import datetime
from urllib.parse import urlsplit

import msgspec

from postoffice.acts.rows import DeliveryRow, Row, TaskRow
from postoffice.acts.tasks.move import as_task
from postoffice.core.clock import moment
from postoffice.core.for_you import ForYou, Matter, MatterKind, rank_of
from postoffice.core.letter import text_of
from postoffice.core.names import folded
from postoffice.core.notify import Manner
from postoffice.core.task import TaskState
from postoffice.core.webhook import WebhookState
from postoffice.store.engine import Engine
from postoffice.store.reads.questions import as_read

_manner = msgspec.json.Decoder(Manner).decode
_TEXT_CHARACTERS = 500
_TASK_MOVES = {
    TaskState.PENDING: ("accept", "reject", "snooze"),
    TaskState.ACCEPTED: ("begin", "complete", "fail", "snooze"),
    TaskState.WORKING: ("complete", "fail", "snooze"),
}


class ForYouReads:
    """What waits, each kind from its own index."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def count(self, name: str, *, everyone: bool) -> int:
        """How much waits in all."""
        ((count,),) = await self._engine.fetch("count_for_you", agent=folded(name), everyone=int(everyone))
        return int(count)

    async def list(self, name: str, limit: int, *, everyone: bool) -> ForYou:
        """The most pressing ones. As many of each kind are read as may be shown."""
        ((at,),) = await self._engine.fetch("now")
        now, agent = moment(at), folded(name)
        parameters = {"agent": agent, "limit": limit}
        matters = [_question(row, now) for row in await self._engine.fetch("questions_for_you", **parameters)]
        matters += [_task(row, now) for row in await self._engine.fetch("tasks_for_you", **parameters)]
        matters += [_consent(row, now) for row in await self._engine.fetch("consent_for_you", everyone=int(everyone), **parameters)]
        matters += [_letter(row, now) for row in await self._engine.fetch("mail_for_you", **parameters)]
        matters += [_dead(row, now) for row in await self._engine.fetch("dead_for_you", everyone=int(everyone), **parameters)]
        if everyone:
            matters += [_held(row, now) for row in await self._engine.fetch("held_long_talks", limit=limit)]
            matters += [_webhook(row, now) for row in await self._engine.fetch("webhooks_for_you", limit=limit)]
            matters += [_silent(row, now) for row in await self._engine.fetch("silent_for_you", everyone=1, limit=limit)]
        matters.sort(key=lambda matter: (matter.rank, matter.since))
        return ForYou(matters=tuple(matters[:limit]), count=await self.count(name, everyone=everyone))


def _question(row: Row, now: datetime) -> Matter:
    question = as_read(row)
    return Matter(
        kind=MatterKind.QUESTION,
        id=question.id,
        who=question.asker,
        what=question.subject,
        text=question.content[:_TEXT_CHARACTERS],
        since=question.created_at,
        rank=rank_of(MatterKind.QUESTION, now, question.deadline, question.priority),
        can=("answer", "snooze"),
        due=question.deadline,
        session_id=question.session_id,
    )


def _task(row: Row, now: datetime) -> Matter:
    task = as_task(TaskRow(*row[:-2]), {row[2]: row[-2], row[3]: row[-1]})
    return Matter(
        kind=MatterKind.TASK,
        id=task.message_id,
        who=task.requester,
        what=task.subject,
        text=next((step.text for step in reversed(task.steps) if step.text), ""),
        since=task.created_at,
        rank=rank_of(MatterKind.TASK, now, task.deadline),
        can=_TASK_MOVES[task.state],
        due=task.deadline,
        session_id=TaskRow(*row[:-2]).session_id,
    )


def _consent(row: Row, now: datetime) -> Matter:
    id, requester, target, note, created_at, expires_at = row
    return Matter(
        kind=MatterKind.CONSENT,
        id=id,
        who=requester,
        what="asks for a connection",
        text=note or "",
        since=moment(created_at),
        rank=rank_of(MatterKind.CONSENT, now),
        can=("approve", "reject"),
        due=moment(expires_at),
        whom=target,
    )


def _letter(row: Row, now: datetime) -> Matter:
    mail = DeliveryRow(*row)
    message = mail.read()
    seen_at = None if mail.seen_at is None else moment(mail.seen_at)
    return Matter(
        kind=MatterKind.MAIL,
        id=message.id,
        who=message.sender,
        what=message.subject,
        text=text_of(message)[:_TEXT_CHARACTERS],
        since=message.created_at,
        rank=rank_of(MatterKind.MAIL, now, priority=message.priority),
        can=("answer", "done", "snooze", "seen" if seen_at is None else "unseen"),
        session_id=mail.session_id,
        seen_at=seen_at,
    )


def _dead(row: Row, now: datetime) -> Matter:
    *columns, name = row
    mail = DeliveryRow(*columns)
    message = mail.read()
    return Matter(
        kind=MatterKind.DEAD,
        id=message.id,
        who=message.sender,
        what=message.subject,
        text=mail.reason or "",
        since=message.created_at if mail.settled_at is None else moment(mail.settled_at),
        rank=rank_of(MatterKind.DEAD, now),
        can=("requeue", "discard"),
        whom=name,
        session_id=mail.session_id,
    )


def _held(row: Row, now: datetime) -> Matter:
    session, _, _, letters, held_at, low, high = row
    return Matter(
        kind=MatterKind.HELD,
        id=session,
        who=low,
        what="Held",
        text=f"{letters} letters to and fro without a person's word",
        since=moment(held_at),
        rank=rank_of(MatterKind.HELD, now),
        can=("go_on", "write"),
        whom=None if low == high else high,  # a list's session has no two
        session_id=session,
    )


def _webhook(row: Row, now: datetime) -> Matter:
    name, url, state, since, error, failed, notify = row
    # Not the whole: the rest of it may be a secret.
    kind = MatterKind.WEBHOOK if notify is None else MatterKind.NOTIFY
    target = f"webhook to {urlsplit(url).hostname or ''}" if notify is None else f"notify address at {_manner(notify).service}"
    why = f": {error}" if error else ""
    return Matter(
        kind=kind,
        id=name,
        who=name,
        what=f"{target} is {state}" if state != WebhookState.ACTIVE else f"{target} has left out {failed}",
        text=f"It is told nothing more{why}" if state != WebhookState.ACTIVE else f"Events that were not taken for three days{why}",
        since=moment(since),
        rank=rank_of(kind, now),
        can=("resume", "remove"),
    )


def _silent(row: Row, now: datetime) -> Matter:
    *columns, name, told_at = row
    message = DeliveryRow(*columns).read()
    return Matter(
        kind=MatterKind.SILENT,
        id=message.id,
        who=name,
        what=message.subject,
        text="rung, and did not come",
        since=moment(told_at),
        rank=rank_of(MatterKind.SILENT, now),
        can=("look",),
        whom=message.sender,
        session_id=None,
    )

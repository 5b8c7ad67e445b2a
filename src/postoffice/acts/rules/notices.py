"""What the office itself writes to agents: the words of each notice, and its facts for programs."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import msgspec

from postoffice.acts.rows import DeliveryRow, TaskRow
from postoffice.acts.work.rows import ReservationRow
from postoffice.core.names import SYSTEM
from postoffice.core.reservation import Claim
from postoffice.core.ringing import LEAST_URGENT_NOTICE_RUNG

_encode = msgspec.json.Encoder().encode
_TIMES_IN_WORDS = ("once", "twice", *(f"{word} times" for word in ("three", "four", "five", "six", "seven", "eight", "nine", "ten")))


class Notice(msgspec.Struct, frozen=True):
    """What one notice says."""

    text: str
    payload: dict[str, Any]
    reply_to: str | None = None
    priority: int = 3


def dead_letter(row: DeliveryRow, subject: str, recipient: str, reason: str, *, said: bool, refused: bool) -> Notice:
    """A message is dead: what happened to it, and what its recipient said of it (`said`: the reason is in the recipient's words)."""
    happened = "refused" if refused else f"taken {_times(row.attempts)}, never acked" if row.attempts else "not delivered"
    about = f" about {_encode(subject).decode()}" if subject else ""
    why = f" In {recipient}'s words, which are not the office's: {_encode(reason).decode()}" if said else f" The reason: {reason}."
    facts = {
        "kind": "dead_letter",
        "message_id": row.message_id,
        "to": recipient,
        "subject": subject,
        "happened": happened,
        "reason": reason,
        "reason_by": recipient if said else SYSTEM,
        "attempts": row.attempts,
    }
    return Notice(f"Your message to {recipient}{about} is dead: {happened}.{why}", facts, row.message_id)


def _times(count: int) -> str:
    """How often, as people say it."""
    if count <= len(_TIMES_IN_WORDS):
        return _TIMES_IN_WORDS[count - 1]
    return f"{count} times"


def budget_spent(session_id: str, other: str, full: int) -> Notice:
    """The automatic replies of a session are used up."""
    text = f"The {full} automatic replies in your session with {other} are spent; a message by hand refills them."
    return Notice(text, {"kind": "budget_spent", "session_id": session_id, "with": other})


def talking_long(session_id: str, other: str, letters: int, held: int) -> Notice:
    """Two models have written to each other for long, and nobody else has said a word."""
    end = f" After {held} the session is held." if held else ""
    text = f"You and {other} have sent each other {letters} letters within an hour. The owner is asked whether you should go on.{end}"
    return Notice(text, {"kind": "long_talk", "session_id": session_id, "with": other, "letters": letters, "held_at": held or None})


def list_talking_long(session_id: str, name: str, letters: int, held: int) -> Notice:
    """Models have answered each other on a list for long, and no person has said a word."""
    end = f" After {held} the list is held." if held else ""
    text = f"Models have answered each other on {name} with {letters} letters within an hour. The owner is asked whether they should go on.{end}"
    return Notice(text, {"kind": "long_talk", "session_id": session_id, "with": name, "letters": letters, "held_at": held or None})


def task_overdue(task: TaskRow, assignee: str) -> Notice:
    """A task's deadline has passed."""
    text = f"Task {task.id} is {task.state} with {assignee}, and its deadline has passed. {_ways_on(assignee)}"
    facts = {"kind": "task_overdue", "task_id": task.id, "message_id": task.message_id, "state": task.state, "assignee": assignee}
    return Notice(text, facts, task.message_id)


def assignee_gone(task: TaskRow, assignee: str, since: datetime) -> Notice:
    """Whoever works on a task has closed its window, and nothing was heard of it since."""
    text = f"Task {task.id} is {task.state} with {assignee}, whose window is gone: nothing was heard of it since {since:%H:%M} UTC. {_ways_on(assignee)}"
    facts = {"kind": "assignee_gone", "task_id": task.id, "message_id": task.message_id, "state": task.state, "assignee": assignee}
    return Notice(text, facts, task.message_id)


def _ways_on(assignee: str) -> str:
    """What whoever asked for a task can do."""
    return f"You can write to {assignee} again, urgent mail rings its window; or cancel the task and ask somebody else."


def task_unblocked(task: TaskRow, failed: Sequence[str]) -> Notice:
    """All that a task waited for is over."""
    how = f" Not completed: {', '.join(failed)}; see what became of it before you begin." if failed else ""
    text = f"All that task {task.message_id} waited for is over.{how}"
    facts = {"kind": "task_unblocked", "task_id": task.id, "message_id": task.message_id, "not_completed": list(failed)}
    return Notice(text, facts, task.message_id, priority=LEAST_URGENT_NOTICE_RUNG)


def not_on_ledger(what: str, reason: str | None, topic_id: str, message_id: str | None) -> Notice:
    """Something was delivered or kept here that the ledger does not have."""
    text = f"Your {what}, but does not stand on the ledger: {reason}"
    return Notice(text, {"kind": "not_on_ledger", "message_id": message_id, "topic_id": topic_id, "reason": reason}, message_id)


def recurring_refused(id: str, every: str, why: str) -> Notice:
    """A letter that is sent again and again was not sent this time."""
    text = f"Your recurring letter ({every}) was not sent: {why} It is tried again when it comes next; you are told anew if the reason changes."
    return Notice(text, {"kind": "recurring_refused", "recurring_id": id, "reason": why})


def rung_in_vain(row: DeliveryRow, recipient: str, times: int) -> Notice:
    """An open window was woken for a message again and again, and did not take it."""
    text = f"{recipient} was rung {times} times for your message and has not taken it. It waits."
    return Notice(text, {"kind": "rung_in_vain", "message_id": row.message_id, "to": recipient, "times": times}, row.message_id)


def code_was_mailed(connection_id: str, target: str) -> Notice:
    """The code of a request is no longer worth anything."""
    text = f"The code of your request to {target} stood in a letter, which proves no person's consent. The request has a new code: let a person pass it on."
    return Notice(text, {"kind": "code_was_mailed", "connection_id": connection_id, "to": target})


def reservation_free(claim: Claim) -> Notice:
    """What an agent waited for is free now. It asked for this notice, which may ring."""
    text = f"Free now, as nobody else has reserved it: {', '.join(claim.paths)} in {claim.project}. Reserve it before you begin: others may wait as well."
    facts = {"kind": "reservation_free", "project": claim.project, "paths": claim.paths, "exclusive": claim.exclusive}
    return Notice(text, facts, priority=LEAST_URGENT_NOTICE_RUNG)


def reservation_broken(row: ReservationRow) -> Notice:
    """The owner has ended a reservation before its time."""
    text = f"The owner has ended your reservation of {', '.join(row.claim.paths)} in {row.claim.project}: others may edit it now."
    facts = {"kind": "reservation_broken", "reservation_id": row.id, "project": row.claim.project, "paths": row.claim.paths}
    return Notice(text, facts, priority=LEAST_URGENT_NOTICE_RUNG)

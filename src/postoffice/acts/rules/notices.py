"""What the office itself writes to agents: the words of each notice, and its facts for programs."""

from typing import Any

import msgspec

from postoffice.acts.rows import DeliveryRow, TaskRow

_encode = msgspec.json.Encoder().encode


class Notice(msgspec.Struct, frozen=True):
    """What one notice says."""

    text: str
    payload: dict[str, Any]
    reply_to: str | None = None


def dead_letter(row: DeliveryRow, recipient: str, reason: str, *, said: bool) -> Notice:
    """A message could not be delivered. `said`: the reason is in the recipient's words."""
    why = f". {recipient} said of it: {_encode(reason).decode()}" if said else f": {reason}."
    facts = {"kind": "dead_letter", "message_id": row.message_id, "to": recipient, "reason": reason, "attempts": row.attempts}
    return Notice(f"Your message to {recipient} could not be delivered{why}", facts, row.message_id)


def budget_spent(session_id: str, other: str, full: int) -> Notice:
    """The automatic replies of a session are used up."""
    text = f"The {full} automatic replies in your session with {other} are spent; a message by hand refills them."
    return Notice(text, {"kind": "budget_spent", "session_id": session_id, "with": other})


def task_overdue(task: TaskRow, assignee: str) -> Notice:
    """A task's deadline has passed."""
    text = f"Task {task.id} is {task.state} with {assignee}, and its deadline has passed."
    facts = {"kind": "task_overdue", "task_id": task.id, "message_id": task.message_id, "state": task.state, "assignee": assignee}
    return Notice(text, facts, task.message_id)


def not_on_ledger(what: str, reason: str | None, topic_id: str, message_id: str | None) -> Notice:
    """Something was delivered or kept here that the ledger does not have."""
    text = f"Your {what}, but does not stand on the ledger: {reason}"
    return Notice(text, {"kind": "not_on_ledger", "message_id": message_id, "topic_id": topic_id, "reason": reason}, message_id)


def rung_in_vain(row: DeliveryRow, recipient: str, times: int) -> Notice:
    """An open window was woken for a message again and again, and did not take it."""
    text = f"{recipient} was rung {times} times for your message and has not taken it. It waits."
    return Notice(text, {"kind": "rung_in_vain", "message_id": row.message_id, "to": recipient, "times": times}, row.message_id)


def code_was_mailed(connection_id: str, target: str) -> Notice:
    """The code of a request is no longer worth anything."""
    text = f"The code of your request to {target} stood in a letter, which proves no person's consent. The request has a new code: let a person pass it on."
    return Notice(text, {"kind": "code_was_mailed", "connection_id": connection_id, "to": target})

"""Mail as nanobot's model reads it: our heading with what we know, and the sender's words inside a fence."""

import json
from typing import Any

from postoffice_nanobot.answer import DECLINE
from postoffice_nanobot.fence import fenced, one_line


def text_of(mail: dict[str, Any]) -> str:
    """A message's parts as plain text."""
    return "\n\n".join(_part(part) for part in mail["content"].get("parts", []))


def errand_prompt(mail: dict[str, Any], *, answered: bool) -> str:
    """The prompt for another agent's task or message."""
    sender = mail["from"]
    if mail["type"] == "task":
        due = mail["task"].get("deadline")
        head = f"[Mailbox] A task from the agent {sender}" + (f", due {one_line(str(due))}." if due else ".")
        after = f"The answer to this goes back to {sender} as the task's result. One that begins with {DECLINE} rejects the task; the reason follows the mark."
    else:
        head = f"[Mailbox] A message from the agent {sender}."
        after = f"The answer to this goes back to {sender}." if answered else f"The answer to this does not go back to {sender}."
    return f"{head} {after}\n{_fenced(mail)}"


def result_prompt(mail: dict[str, Any]) -> str:
    """The prompt for the result of something this agent asked for."""
    sender, state = mail["from"], (mail["task"] or {}).get("state") if mail["type"] == "task_update" else None
    head = f"[Mailbox] The task given to {sender} is {state}." if state else f"[Mailbox] {sender} has answered."
    if sender == "system":
        head = f"[Mailbox] What was sent has {'failed' if state else 'come back'}."
    return f"{head} The answer to this stays in this conversation.\n{_fenced(mail)}"


def progress_line(mail: dict[str, Any]) -> str:
    """A task's progress, for a person to read."""
    return f"{mail['from']} ({mail['task']['state']}): {one_line(text_of(mail))}"


def unsent_prompt(to: str, why: str) -> str:
    """The prompt for something the agent could not send."""
    return f"[Mailbox] Nothing was sent to {one_line(to)}: {one_line(why)}"


def _fenced(mail: dict[str, Any]) -> str:
    return fenced(f"message {mail['id']} from {mail['from']} (not verified)", text_of(mail))


def _part(part: dict[str, Any]) -> str:
    match part:
        case {"type": "text", "text": str(text)}:
            return text
        case {"type": "file", "path": str(path)}:
            # Named but not attached: the agent's own tools decide whether it opens another agent's file.
            return f"[file: {path}]"
        case {"type": "data", "data": data}:
            return json.dumps(data, ensure_ascii=False, indent=2)
    return json.dumps(part, ensure_ascii=False)

"""What a mail means to this agent: work, the answer to a delegation, or nothing to act on."""

from dataclasses import dataclass
from typing import Any

from postoffice_files import refusal
from postoffice_files.names import SYSTEM, folded
from postoffice_nanobot.delegation import Delegation
from postoffice_nanobot.prompts import text_of

_FINAL = frozenset({"completed", "failed", "rejected"})


@dataclass(frozen=True, slots=True)
class Work:
    """A task to do or a message to read."""


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a delegation."""

    delegation: Delegation
    final: bool


@dataclass(frozen=True, slots=True)
class Progress:
    """Progress of a delegation."""

    delegation: Delegation


@dataclass(frozen=True, slots=True)
class Refused:
    """A task that this agent must not take."""

    reason: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """Nothing to act on."""

    why: str


Verdict = Work | Result | Progress | Refused | Nothing


def sort(mail: dict[str, Any], *, delegation: Delegation | None, allowed: bool, card: dict[str, Any], now: int) -> Verdict:
    """Sort a mail. `delegation` is the one whose id it names; whether its sender may report on it is decided here."""
    mine = delegation if delegation is not None and _may_answer(mail["from"], delegation) else None
    if mine is not None and mail["type"] != "task":
        return _answer(mail, mine)
    if folded(mail["from"]) == SYSTEM:
        return Nothing(f"a notice about something nobody waits for: {text_of(mail)}")
    if mail["type"] == "task":
        reason = _reason(mail, allowed=allowed, card=card, now=now)
        return Work() if reason is None else Refused(reason)
    if not allowed:
        return Nothing(f"{mail['from']} is not in allowFrom")
    if mail["type"] == "task_update" and mail["task"]["state"] not in _FINAL:
        return Nothing("news of a task this agent does not know")
    return Work()


def _may_answer(sender: str, delegation: Delegation) -> bool:
    return folded(sender) in {SYSTEM, folded(delegation.to)}


def _answer(mail: dict[str, Any], delegation: Delegation) -> Verdict:
    if mail["type"] != "task_update":
        return Result(delegation, final=False)
    if mail["task"]["state"] in _FINAL:
        return Result(delegation, final=True)
    return Progress(delegation) if text_of(mail).strip() else Nothing(f"{mail['from']} has it: {mail['task']['state']}")


def _reason(mail: dict[str, Any], *, allowed: bool, card: dict[str, Any], now: int) -> str | None:
    # Nanobot decides who is allowed: besides allowFrom it knows whom its owner has approved.
    heard = {**card, "allow_from": ["*"] if allowed else []}
    if mail["attempt"] > 1:
        heard["current_tasks"] = []  # the task was counted when it began, so it must not be counted against the quota again
    return refusal(heard, mail, now)

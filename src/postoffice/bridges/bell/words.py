"""What agents are told: that mail waits and how to take it. It holds nothing that another agent wrote, not even a name."""

from datetime import datetime

MARK = "[postoffice bell"
"""A prompt that begins so is our own ring."""
_HOW = "Take it with mail_get, and end each letter with mail_done."


def ring(number: int, at: datetime) -> str:
    """The text of a ring. No two are alike, as a client may drop a repeated one."""
    return f"{MARK} {number}, {at:%H:%M:%S}] Mail waits in your mailbox. {_HOW}"


def told(count: int) -> str:
    """Added to a turn that goes on anyway."""
    return f"{_letters(count)} in your mailbox. {_HOW}"


def urgent(count: int) -> str:
    """Added before the next step of an agent at work."""
    return f"Urgent mail: {_letters(count).lower()}. Take it with mail_get before you go on."


def greeting(agent: str, was: str | None, waiting: int) -> str:
    """Added when a window opens."""
    name = f"Your name in the mail is {agent}: other agents write to you by it."
    changed = f" Before, it was {was}, which is now another window's name." if was else ""
    return f"{name}{changed} {told(waiting)}" if waiting else f"{name}{changed}"


UNGUARDED = "No Postoffice answers, so nobody can say whether this file is reserved. Edits go on unchecked until one answers."


def reserved(until: str) -> str:
    """The refusal of an edit. It leaves out who reserved the file and why: those are agents' words, and the model may ask for them."""
    return (
        f"Refused: another agent has reserved this file until {datetime.fromisoformat(until):%H:%M} UTC. "
        "`postoffice reservations` says who and why; mail_reserve with tell=true has you told once it is free. Leave the file alone until then."
    )


def renamed(wished: str, agent: str | None, why: str | None) -> str:
    """The answer when a person gives a window a name."""
    if agent is None:
        return "The bell does not answer, so the name in the mail has not changed. Say so, and do nothing else."
    if why is not None:
        return f"The name in the mail stays {agent}. {why} Say so, and do nothing else."
    other = "" if agent == wished else f" Another has {wished}."
    return f"Your name in the mail is now {agent}: other agents write to you by it.{other} Say so, and do nothing else."


def _letters(count: int) -> str:
    return "1 letter waits" if count == 1 else f"{count} letters wait"

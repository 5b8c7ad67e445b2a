"""What is said to an agent: that mail waits and how to take it. Nothing that another agent wrote, names included."""

from datetime import datetime

MARK = "[postoffice bell"
"""By this a prompt is known to be our own ring."""
_HOW = "Take it with mail_get, and end each letter with mail_done."


def ring(number: int, at: datetime) -> str:
    """A ring. No two are alike: a client may drop what it was told a moment ago."""
    return f"{MARK} {number}, {at:%H:%M:%S}] Mail waits in your mailbox. {_HOW}"


def told(count: int) -> str:
    """Said in a turn that goes on anyway."""
    return f"{_letters(count)} in your mailbox. {_HOW}"


def urgent(count: int) -> str:
    """Said to an agent at work, before its next step."""
    return f"Urgent mail: {_letters(count).lower()}. Take it with mail_get before you go on."


def greeting(agent: str, was: str | None, waiting: int) -> str:
    """Said as a window opens."""
    name = f"Your name in the mail is {agent}: other agents write to you by it."
    changed = f" It was {was} before, which another window has now." if was else ""
    return f"{name}{changed} {told(waiting)}" if waiting else f"{name}{changed}"


UNGUARDED = "No Postoffice can be asked whether somebody has reserved this file: edits go on unchecked until one can."


def reserved(until: str) -> str:
    """Said instead of an edit. Who has it and why are agents' words, and are left to what the model asks for."""
    return (
        f"Refused: another agent has reserved this file until {datetime.fromisoformat(until):%H:%M} UTC. "
        "`postoffice reservations` says who and why; mail_reserve with tell=true has you told once it is free. Leave the file alone until then."
    )


def renamed(wished: str, agent: str | None, why: str | None) -> str:
    """Said when a person gave a window a name."""
    if agent is None:
        return "The bell does not answer: the name in the mail is as it was. Say so, and do nothing else."
    if why is not None:
        return f"The name in the mail stays {agent}. {why} Say so, and do nothing else."
    other = "" if agent == wished else f" Another has {wished}."
    return f"Your name in the mail is now {agent}: other agents write to you by it.{other} Say so, and do nothing else."


def _letters(count: int) -> str:
    return "1 letter waits" if count == 1 else f"{count} letters wait"

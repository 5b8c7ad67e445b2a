"""Names as people type them: whether an agent has the name, and which one may have been meant."""

import difflib
from collections.abc import Sequence

import msgspec

from postoffice.core.errors import MailError, NoSuchAgent
from postoffice.core.names import EVERYONE, folded, is_list
from postoffice.doors.page.look import Look
from postoffice.office import Auth

_NAMES_COMPARED = 200
_HEAD_CHARACTERS = 2
_NOBODY = "no agent has this name yet"


class Known(msgspec.Struct, frozen=True):
    """What is known of a name."""

    name: str
    known: bool
    near: str | None = None
    """The agent that may have been meant instead."""
    why: str = ""
    """What is wrong with it, if no agent can have that name."""


async def know(look: Look, typed: str) -> Known:
    """Look a name up."""
    if typed == EVERYONE:
        return Known(typed, known=True)
    if is_list(typed):
        return await _know_list(look, typed)
    try:
        return Known((await look.office.agent(typed)).name, known=True)
    except NoSuchAgent:
        pass
    except MailError as error:
        return Known(typed, known=False, why=str(error))
    names = {*await look.office.names("", _NAMES_COMPARED), *await look.office.names(typed[:_HEAD_CHARACTERS], _NAMES_COMPARED)}
    by_fold = {folded(name): name for name in names}
    close = difflib.get_close_matches(folded(typed), by_fold, 1)
    # Somebody who types a part of a name means that whole name.
    parts = [name for fold, name in by_fold.items() if folded(typed) in fold] if not close else []
    near = by_fold[close[0]] if close else parts[0] if len(parts) == 1 else None
    return Known(typed, known=False, near=near, why=_NOBODY)


async def _know_list(look: Look, typed: str) -> Known:
    """The same of a list, which nobody makes by writing to it."""
    try:
        return Known((await look.office.lists.show(look.caller, typed)).name, known=True)
    except MailError as error:
        return Known(typed, known=False, why=str(error))


async def doubts(look: Look, names: Sequence[str]) -> list[Known]:
    """Names without an agent. An open office would begin a mailbox for each, and they may be mistyped."""
    if look.office.rules.auth is not Auth.OPEN:
        return []  # otherwise the office refuses them
    checked = [await know(look, name) for name in names]
    return [one for one in checked if not one.known and one.why == _NOBODY]

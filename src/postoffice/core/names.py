"""What an agent or a list may be called."""

import re
from typing import Final

from postoffice.core.errors import BadName, BadRole, ReservedName

SYSTEM: Final = "system"
OWNER: Final = "owner"
EVERYONE: Final = "ALL"
ROLE: Final = "role:"
"""Before the name of a role: a mailbox that several agents take from. No agent's name has a colon in it."""
LIST_MARK: Final = "#"
_LIST_WORD: Final = "list:"
"""The same where `#` begins a comment or the end of an address."""

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_DEVICES = {"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10)}
_ACCOUNT = re.compile(r"\d+\.\d+\.\d+", re.ASCII)
_NOBODY: Final = frozenset({"all", "me", "register"})
RESERVED: Final = _NOBODY | {SYSTEM, OWNER}
_ANOTHER: Final = "choose another name"
EVERYONES: Final = frozenset({"all", "anyone", "broadcast", "everybody", "everyone", "team"})
"""What people write for everyone. An agent that is there already may be called so."""
_OFFICIAL: Final = RESERVED | {"admin", "administrator", "human", "root", "postoffice"}
"""Whom people believe more than an agent."""
_ALIKE: Final = (("0", "o"), ("1", "l"), ("i", "l"), ("rn", "m"), ("vv", "w"))
"""Pairs that look alike in a name. The statement `lookalikes` says the same in SQL."""
# What a sender most likely means by such a word.
_MEANT: Final = {"all": f"to write to everyone say {EVERYONE}", "me": "to write to yourself give your own name"}


def folded(name: str) -> str:
    """The form in which two spellings of one name are equal."""
    return name.lower()


def look(name: str) -> str:
    """What people see in a name at a glance: two names with the same look are taken for each other."""
    seen = folded(name).rstrip("._-")
    for written, read in _ALIKE:
        seen = seen.replace(written, read)
    return seen


def poses(name: str) -> bool:
    """Whether people would take an agent of this name for the office, its owner or everyone."""
    return look(name) in _OFFICIAL_LOOKS


def is_account(name: str) -> bool:
    """Whether it can only name an agent of other software: by its account on a ledger, where whoever has it proves it."""
    return _ACCOUNT.fullmatch(name) is not None


def is_device(name: str) -> bool:
    """Whether some systems take it for a device, whatever stands behind its first dot."""
    return folded(name).split(".")[0].rstrip() in _DEVICES


def is_role(name: str) -> bool:
    """Whether it addresses a role, and no agent."""
    return folded(name[: len(ROLE)]) == ROLE


def check_role(name: object) -> str:
    """The address of a role, `role:reviewer`, if there can be one. What stands behind the colon follows the rules of agents' names."""
    if not isinstance(name, str) or not is_role(name):
        raise BadRole(name=name)
    return ROLE + check_free(name[len(ROLE) :])


def check_name(name: object) -> str:
    """The name, if an agent of that name can exist (reserved ones do, but nobody can take them)."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise BadName(name=name)
    # Names become folders in the file tree, where these open a device on some systems.
    if is_device(name):
        raise ReservedName(name=name, instead=_ANOTHER)
    return name


def is_list(name: object) -> bool:
    """Whether a name is a list's and no agent's, in either spelling."""
    return isinstance(name, str) and (name.startswith(LIST_MARK) or folded(name[: len(_LIST_WORD)]) == _LIST_WORD)


def check_list(name: object) -> str:
    """The name of a list as it is kept, `#backend`, if there can be such a list. What follows the mark is as an agent's name."""
    bare = name
    if isinstance(name, str) and is_list(name):
        bare = name.removeprefix(LIST_MARK) if name.startswith(LIST_MARK) else name[len(_LIST_WORD) :]
    return LIST_MARK + check_free(bare)


def check_recipient(name: object) -> str:
    """The name, if mail may be addressed to it. Reserved names that nobody answers to may not."""
    if isinstance(name, str) and is_role(name):
        return check_role(name)
    if is_list(name):
        return check_list(name)
    checked = check_name(name)
    if folded(checked) in _NOBODY:
        raise ReservedName(name=name, instead=_MEANT.get(folded(checked), _ANOTHER))
    return checked


def check_free(name: object) -> str:
    """The name, if an agent may take it."""
    checked = check_name(name)
    if folded(checked) in RESERVED or is_account(checked):
        raise ReservedName(name=name, instead=_ANOTHER)
    return checked


_OFFICIAL_LOOKS: Final = frozenset(map(look, _OFFICIAL))

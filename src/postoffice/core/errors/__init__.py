"""Every way the office says no. A class is an error: its name is the stable code, its docstring the message.

Each subject has a file; everything is imported from here.

MailError
├── Invalid        the request itself is wrong
├── Unidentified   we do not know who is asking
├── Forbidden      we know, and the answer is no
├── NotFound       there is nothing of that name
├── Conflict       it clashes with what is already so
├── Limited        too much, for now
└── Unavailable    the fault is ours; try again
"""

from postoffice.core.errors.attachment import *
from postoffice.core.errors.connection import *
from postoffice.core.errors.identity import *
from postoffice.core.errors.kinds import *
from postoffice.core.errors.ledger import *
from postoffice.core.errors.lists import *
from postoffice.core.errors.mail import *
from postoffice.core.errors.question import *
from postoffice.core.errors.recurring import *
from postoffice.core.errors.request import *
from postoffice.core.errors.reservation import *
from postoffice.core.errors.role import *
from postoffice.core.errors.server import *
from postoffice.core.errors.task import *
from postoffice.core.errors.webhook import *


def why(error: BaseException) -> str:
    """The first line of what somebody else's error says, or what it is where it says nothing; a driver adds details and hints below it."""
    return str(error).partition("\n")[0] or type(error).__name__


def told(code: str, detail: str) -> MailError:
    """A refusal that came from elsewhere, as the error it is here. One we do not know is a MailError with its own code."""
    kind = error_tree().get(code, MailError)
    error = kind.__new__(kind, detail)  # its words are there already
    error.facts = {"code": code}
    return error


def error_tree() -> dict[str, type[MailError]]:
    """Every error by its code: what doors map to statuses, and what tests walk."""
    by_code: dict[str, type[MailError]] = {}
    todo = [MailError]
    while todo:
        cls = todo.pop()
        by_code[cls.code] = cls
        todo += cls.__subclasses__()
    return by_code

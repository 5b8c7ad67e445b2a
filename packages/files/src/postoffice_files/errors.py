"""Every way a file mailbox says no. A class is an error; its docstring is the message."""


class FileMailError(Exception):
    """Something went wrong with the mail."""

    def __init__(self, **facts: object) -> None:
        self.facts = facts
        super().__init__(" ".join((self.__doc__ or "").split()).format(**facts))


class BadName(FileMailError, ValueError):
    """{name!r} cannot name an agent: use 1 to 100 letters, digits, '.', '_' or '-', beginning with a letter or digit."""


class ReservedName(FileMailError, ValueError):
    """{name!r} is reserved; choose another name."""


class NameTaken(FileMailError):
    """{name!r} cannot be registered: {other!r} has a mailbox here and differs in case only; use that spelling or another name."""


class UnknownAgent(FileMailError, LookupError):
    """{name!r} is not in the registry; call register() first."""


class BadCard(FileMailError, ValueError):
    """The card's {field} is wrong: {why}."""


class BadMessage(FileMailError, ValueError):
    """The message's {field} is wrong: {why}."""


class TooLarge(FileMailError, ValueError):
    """The message is {size} bytes, more than the {limit} allowed; send less, or a part of type file that names where it is."""


class LoopRefused(FileMailError):
    """The message cannot go on to {to!r}: {why}."""


class BadFilename(FileMailError, ValueError):
    """{filename!r} is not the name of a message file; pass the "filename" of a message that poll() returned."""


class NoSuchMessage(FileMailError, LookupError):
    """{agent!r} has no message {filename!r} in its inbox; it may have been settled already."""


class ClaimLost(FileMailError):
    """The claim on {filename!r} ran out and another poller has the message now; leave it alone, or claim for longer next time."""


class NotAMailbox(FileMailError):
    """{path} is {what}; mail is kept in real files and folders only, so move it away."""


class Busy(FileMailError, TimeoutError):
    """{path} has been locked by another process for {seconds} s; see whether that process is stopped, then try again."""


class Unreadable(FileMailError):
    """The file is no message: {why}."""

"""What every error is, and the seven kinds of them."""

import re
from typing import ClassVar


class MailError(Exception):
    """Something went wrong with the mail."""

    code: ClassVar[str] = "mail_error"

    def __init_subclass__(cls) -> None:
        cls.code = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()

    def __init__(self, **facts: object) -> None:
        self.facts = facts
        super().__init__(" ".join((self.__doc__ or "").split()).format(**facts))


class Invalid(MailError):
    """{what} is not valid: {why}."""


class Unidentified(MailError):
    """Who is calling is not known; give a key, or on an open server a name."""


class Forbidden(MailError):
    """{name} may not do that: {why}."""


class NotFound(MailError):
    """There is no {what} {ref!r}."""


class Conflict(MailError):
    """That clashes with what is already so: {why}."""


class Limited(MailError):
    """Too much: {why}; try again later."""


class Unavailable(MailError):
    """The office cannot do that now: {why}; try again."""

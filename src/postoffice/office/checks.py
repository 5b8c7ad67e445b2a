"""What the office checks of every call before it does anything: who may ask for what, and numbers and text within their bounds."""

from collections.abc import Sequence
from datetime import timedelta

from postoffice.core.agent import Caller
from postoffice.core.delivery import Ack, Extend, Handed, Nack, Refuse, Settlement, Unread
from postoffice.core.draft import Draft, check_draft
from postoffice.core.errors import (
    BadCursor,
    BadMessage,
    Invalid,
    MailError,
    OwnerOnly,
    TooLarge,
)
from postoffice.core.limits import Limits, bounded
from postoffice.core.message import NOTICE, TASK_UPDATE
from postoffice.core.names import check_name, folded
from postoffice.core.text import check_text

_NOW = timedelta(0)


class Checks:
    """Each gives what it has checked, or refuses."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits

    def owner_only(self, caller: Caller, what: str) -> None:
        """Refuse everybody but the owner."""
        if not caller.owner:
            raise OwnerOnly(what=what)

    def whose(self, caller: Caller, of: str | None) -> str:
        """Whose mailbox a verb is about: the caller's own, or, for the owner, anybody's."""
        if of is None or folded(of) == folded(caller.name):
            return caller.name
        if not caller.owner:
            raise OwnerOnly(what=f"see or change what is {of}'s")
        return check_name(of)

    def everyone(self, caller: Caller, *, wanted: bool) -> bool:
        """Whether a verb looks over everyone's mail, which only the owner may ask for."""
        if wanted and not caller.owner:
            raise OwnerOnly(what="look over everyone's mail")
        return wanted

    def page(self, limit: int | None) -> int:
        """How many items a page has."""
        return bounded("limit", limit, self._limits.page, 1, self._limits.page_most)

    def loan(self, limit: int | None) -> int:
        """How many messages are lent at once."""
        return bounded("limit", limit, self._limits.batch, 1, self._limits.batch)

    def visible(self, visible_for: timedelta | None) -> timedelta:
        """How long a taker may keep a message."""
        limits = self._limits
        return bounded("visible_for", visible_for, limits.visibility, limits.visibility_least, limits.visibility_most)

    def cursor(self, cursor: str | None) -> str:
        """A cursor that is a name."""
        try:
            return self.ref(cursor or "", "cursor")
        except TooLarge:
            raise BadCursor(cursor=cursor) from None

    def ref(self, text: str, what: str = "id", most: int | None = None) -> str:
        """Text from outside that names something, if anything could be named so."""
        most = most or self._limits.id_chars
        if len(text) > most:
            raise TooLarge(what=what, size=f"{len(text)} characters", limit=most)
        check_text(text, what)
        return text

    def batch(self, items: Sequence[object]) -> None:
        """Refuse more items than one call may have."""
        if len(items) > self._limits.batch:
            raise Invalid(what="batch", why=f"it has {len(items)} items, more than {self._limits.batch}")

    def draft(self, draft: Draft) -> Draft:
        """The draft with its defaults filled in, if a sender may send it."""
        checked = check_draft(draft, self._limits)
        if checked.type == TASK_UPDATE:
            raise BadMessage(field="type", why="a task is moved by updating it, not by a message")
        if folded(checked.type) == NOTICE:
            raise BadMessage(field="type", why="notices are what the office itself says; use another word")
        return checked

    def settlement(self, asked: Settlement | Unread) -> Settlement | MailError:
        """A settlement, or what is wrong with it."""
        if isinstance(asked, Unread):
            return asked.why
        try:
            self.ref(asked.ref)
            if isinstance(asked, Ack):
                return asked  # most are, and there is nothing more to look at
            if isinstance(asked, Extend):
                self.visible(asked.visible_for)
            if isinstance(asked, Nack):
                bounded("delay", asked.delay, _NOW, _NOW, self._limits.visibility_most)
            if isinstance(asked, Nack | Refuse):
                self.ref(asked.reason or "", "reason", self._limits.note_chars)
            if isinstance(asked, Handed):
                self.ref(asked.where, "place", self._limits.note_chars)
        except MailError as error:
            return error
        return asked

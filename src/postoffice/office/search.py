"""The verb that looks for messages by their words."""

from datetime import datetime

from postoffice.core.agent import Caller
from postoffice.core.clock import micros
from postoffice.core.errors import Invalid
from postoffice.core.names import check_name, folded
from postoffice.core.query import read_query
from postoffice.core.views import Found, Page
from postoffice.office.checks import Checks
from postoffice.store.store import Store

_QUERY_CHARS = 1000


class Search:
    """Agents search what they sent or got; the owner may search everything."""

    def __init__(self, store: Store, checks: Checks) -> None:
        self._store = store
        self._checks = checks

    async def search(
        self,
        caller: Caller,
        query: str,
        *,
        sender: str | None = None,
        recipient: str | None = None,
        other: str | None = None,
        session_id: str | None = None,
        type: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        cursor: str | None = None,
        limit: int | None = None,
        everyone: bool = False,
    ) -> Page[Found]:
        """Messages the caller sent or got, those with the most of these words first. Filters in the text (`from:` …) count beside the arguments."""
        if query:
            self._checks.ref(query, "query", _QUERY_CHARS)
        if type is not None:
            self._checks.ref(type, "type")
        read = read_query(query)
        people = [(sender, read.sender), (recipient, read.recipient), (other, read.other)]
        names = [{folded(check_name(name)) for name in pair if name is not None} for pair in people]
        reader = None if self._checks.everyone(caller, wanted=everyone) else caller.name
        if max(map(len, names)) > 1:
            return Page(())
        filters = {
            "sender": next(iter(names[0]), None),
            "recipient": next(iter(names[1]), None),
            "other": next(iter(names[2]), None),
            "session": session_id,
            "type": type,
            "since": max((at for at in (_instant("since", since), _instant("after:", read.since)) if at is not None), default=None),
            "until": min((at for at in (_instant("until", until), _instant("before:", read.until)) if at is not None), default=None),
        }
        return await self._store.search.page(reader, read, filters, cursor, self._checks.page(limit))


def _instant(what: str, at: datetime | None) -> int | None:
    if at is None:
        return None
    if at.tzinfo is None:
        raise Invalid(what=what, why="it needs a time zone")
    return micros(at)

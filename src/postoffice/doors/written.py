"""The inbox as JSON. What was written of it is kept for the next look: messages never change, and most looks find nothing new."""

from collections.abc import Iterable

import msgspec

from postoffice.core.agent import Caller
from postoffice.core.connection import Connection
from postoffice.core.message import Message
from postoffice.core.session import Line, Thread
from postoffice.core.views import Page
from postoffice.doors.thread import Inbox, SessionSummary, inbox_view, line_view

_KEPT_LINES, _KEPT_PAGES = 4096, 64
_KEPT_LINE_BYTES, _KEPT_PAGE_BYTES = 4 << 10, 256 << 10
"""Nothing longer is kept, so that all that is kept is never much."""
_encode = msgspec.json.Encoder().encode


class _Summary(SessionSummary, frozen=True, kw_only=True):
    recent_messages: tuple[msgspec.Raw, ...]  # type: ignore[assignment]  # written already


class _Inbox(Inbox, frozen=True, kw_only=True):
    sessions: msgspec.Raw  # type: ignore[assignment]  # written already


class Writer:
    """Writes inboxes down."""

    def __init__(self) -> None:
        self._lines: dict[tuple[str, bool], tuple[Message, msgspec.Raw]] = {}
        """By message, and whether it is read: nothing else of a line changes."""
        self._pages: dict[int, tuple[Page[Thread], msgspec.Raw]] = {}
        """By the page itself, which the store gives again as long as nothing has changed."""

    def inbox(self, page: Page[Thread], waiting: Iterable[Connection], caller: Caller) -> bytes:
        """An inbox, as `inbox_view` has it."""
        rest = inbox_view(Page((), page.cursor), waiting, caller)
        return _encode(_Inbox(sessions=self._sessions(page), pending_connections=rest.pending_connections, cursor=rest.cursor))

    def _sessions(self, page: Page[Thread]) -> msgspec.Raw:
        kept = self._pages.get(id(page))
        if kept is not None and kept[0] is page:
            return kept[1]
        text = _encode([self._summary(thread) for thread in page.items])
        if len(text) <= _KEPT_PAGE_BYTES:
            self._pages[id(page)] = page, msgspec.Raw(text)
            if len(self._pages) > _KEPT_PAGES:
                del self._pages[next(iter(self._pages))]
        return msgspec.Raw(text)

    def _summary(self, thread: Thread) -> _Summary:
        return _Summary(
            session_id=thread.id,
            subject=thread.subject,
            other_agent_name=thread.other,
            unread_count=thread.unread,
            last_message_at=thread.last_message_at,
            recent_messages=tuple([self._line(line) for line in thread.lines]),
        )

    def _line(self, line: Line) -> msgspec.Raw:
        place = line.message.id, line.is_read
        kept = self._lines.get(place)
        if kept is not None and kept[0] == line.message:
            return kept[1]
        text = _encode(line_view(line))
        if len(text) <= _KEPT_LINE_BYTES:
            self._lines[place] = line.message, msgspec.Raw(text)
            if len(self._lines) > _KEPT_LINES:
                del self._lines[next(iter(self._lines))]
        return msgspec.Raw(text)

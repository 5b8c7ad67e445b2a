"""Pages of rows, and the cursors between them."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TypeVar

import msgspec

from postoffice.acts.rows import Row
from postoffice.core.clock import is_id
from postoffice.core.errors import BadCursor
from postoffice.core.message import Message
from postoffice.core.views import Page

T = TypeVar("T")
_message = msgspec.json.Decoder(Message).decode
_CURSOR_DIGITS = 18
FIRST_ID = "00000000-0000-0000-0000-000000000000"
LAST_ID = "ffffffff-ffff-ffff-ffff-ffffffffffff"
END = 2**62
"""After every number."""
SKEW = timedelta(minutes=1)
"""Ids are made by a process's clock, times by the store's."""


def page_of(items: Sequence[T], rows: Sequence[Row], limit: int, cursor: Callable[[Row], str]) -> Page[T]:
    """One row more than asked for was read; if it is there, there is a next page."""
    return Page(tuple(items), cursor(rows[limit - 1]) if len(rows) > limit else None)


def id_cursor(cursor: str | None, none: str = LAST_ID) -> str:
    """A cursor that is an id. Without one everything is asked for: all that is before the last id there can be."""
    if cursor is None:
        return none
    if not is_id(cursor):
        raise BadCursor(cursor=cursor)
    return cursor


def pair_cursor(cursor: str) -> tuple[int, str]:
    """A cursor of two parts: a number and whatever breaks its ties."""
    number, dot, rest = cursor.partition(".")
    if not dot or not number.isdecimal() or len(number) > _CURSOR_DIGITS:
        raise BadCursor(cursor=cursor)
    return int(number), rest


def letters_page(rows: Sequence[Row], limit: int) -> Page[Message]:
    """Messages, each with its id for a cursor."""
    messages = [_message(body) for (body,) in rows]
    return Page(tuple(messages[:limit]), messages[limit - 1].id if len(messages) > limit else None)


def first_id(at: int) -> str:
    """The first id that can have been made from that moment on: ids begin with their milliseconds."""
    text = f"{max(0, at) // 1000:012x}"
    return f"{text[:8]}-{text[8:]}-0000-0000-000000000000"

"""Consent had by mail: a code proves no person's consent if a letter told it to the agent that may approve with it.

It is noticed when the letter is sent, where both the letter and the few requests that wait for its recipient are at hand: nobody's mail is
gone through for it, and a letter from before a request cannot know its code.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from postoffice.acts.desk import Desk
from postoffice.acts.needs import Needs
from postoffice.core.connection import Assurance, Status, may_say_code, says_code
from postoffice.core.draft import Draft
from postoffice.core.message import Message

_encode = msgspec.json.Encoder().encode
_DIGITS = re.compile(rb"[0-9][^0-9]*[0-9][^0-9]*[0-9]")
"""As many as a code has, wherever they stand."""


def ask_codes(needs: Needs, said: Draft | str, recipients: Iterable[str]) -> None:
    """Have the requests at hand that wait for the recipients of what may tell a code."""
    written = _encode(said if isinstance(said, str) else _free(said))
    if written.isascii() and _DIGITS.search(written) is None:
        return  # true of most letters, and known without folding their text
    if may_say_code(said if isinstance(said, str) else all_said(said)):
        needs.requests.update(recipients)


def mark_codes(desk: Desk, said: Message | str, recipient: str) -> None:
    """Mark the waiting requests whose code this text tells to their target."""
    waiting = [row for row in desk.connections.values() if (row.target, row.status, row.assurance) == (recipient, Status.PENDING, None)]
    if not waiting:
        return
    text = said if isinstance(said, str) else all_said(said)
    for row in waiting:
        if says_code(text, row.code):
            row.assurance = Assurance.IN_BAND
            desk.write_connection(row)


def all_said(said: Draft | Message) -> str:
    """Whatever a sender can write into a message, one thing after the other: a code may be in pieces. Names of fields come last."""
    values: list[str] = []
    names: list[str] = []
    subject, content, parts, *others = _free(said)
    unnamed = [{name: value for name, value in part.items() if name != "type"} for part in parts]
    for value in (subject, content, unnamed, *others):
        if isinstance(value, str):
            values.append(value)
        elif value is not None:
            values.extend(_texts(value, names))
    return " ".join((*values, *names))


def _free(said: Draft | Message) -> tuple[Any, ...]:
    """The fields that a sender can write into."""
    payload = None if said.payload is msgspec.UNSET else said.payload
    bodies = (said.subject, said.content, said.parts, payload, said.context, said.metadata, said.callback)
    return (*bodies, said.type, said.client_id, said.correlation_id, said.reply_to, said.ref_id, said.ref_type)


def _texts(value: object, names: list[str]) -> Iterator[str]:
    match value:
        case str() | int() | float():
            yield str(value)
        case dict():
            names.extend(value)
            for item in value.values():
                yield from _texts(item, names)
        case list() | tuple():
            for item in value:
                yield from _texts(item, names)

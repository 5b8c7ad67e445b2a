"""Rows that a browser already has are sent by key only, which keeps the traffic of a busy office small."""

import re
from collections.abc import Container
from hashlib import blake2b

from markupsafe import Markup

_HEAD = re.compile(r'\s*<(\w+)((?:\s[^>]*?)?)\sdata-key="([^"]*)"')
_TIME = re.compile(r"(<time [^>]*>)[^<]*")
_ONCE = re.compile(r'(?<=name="once" value=")[^"]*')
_DIGEST_BYTES = 6


def unchanged(row: str, have: Container[str]) -> Markup:
    """An element with a `data-key`, marked with a digest of its content; empty if the browser already has that content."""
    head = _HEAD.match(row)
    if head is None:
        return Markup(row)  # noqa: S704 - it comes from a template, which escaped what is in it
    # Two differences do not count: scripts keep ages up to date, and a form's older id is as good as a new one.
    content = _ONCE.sub("", _TIME.sub(r"\1", row))
    digest = blake2b(content.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    name, key = head[1], head[3]
    if digest in have:
        return Markup(f'<{name} data-key="{key}" data-same></{name}>')  # noqa: S704 - as above
    return Markup(f'{row[: head.end(2)]} data-v="{digest}"{row[head.end(2) :]}')  # noqa: S704 - as above

"""Rows that a browser already has: of those only the name is sent again, so that a busy office does not flood whoever looks."""

import re
from collections.abc import Container
from hashlib import blake2b

from markupsafe import Markup

_HEAD = re.compile(r'\s*<(\w+)((?:\s[^>]*?)?)\sdata-key="([^"]*)"')
_TIME = re.compile(r"(<time [^>]*>)[^<]*")
_ONCE = re.compile(r'(?<=name="once" value=")[^"]*')
_DIGEST_BYTES = 6


def unchanged(row: str, have: Container[str]) -> Markup:
    """An element with a `data-key`, marked with a digest of what it says; empty if whoever asks has just that already."""
    head = _HEAD.match(row)
    if head is None:
        return Markup(row)  # noqa: S704 - it comes from a template, which escaped what is in it
    # How long ago something was goes on by itself in the browser, and a form's id is as good as the one that it would have now.
    said = _ONCE.sub("", _TIME.sub(r"\1", row))
    digest = blake2b(said.encode(), digest_size=_DIGEST_BYTES).hexdigest()
    name, key = head[1], head[3]
    if digest in have:
        return Markup(f'<{name} data-key="{key}" data-same></{name}>')  # noqa: S704 - as above
    return Markup(f'{row[: head.end(2)]} data-v="{digest}"{row[head.end(2) :]}')  # noqa: S704 - as above

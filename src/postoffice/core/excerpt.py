"""The words of a message around what a search has found in it."""

import re
from collections.abc import Sequence
from itertools import islice

from postoffice.core.query import Term, words_of

_READ_CHARACTERS = 20_000
"""Characters that are searched for the best place to quote: a long text may hold a word thousands of times."""
_BEFORE, _SHOWN = 6, 24
_MOST_CHARS = 300
_MOST_HITS = 200
_RUN = re.compile(r"\S{1,40}")  # what has no spaces is shown in part too


def excerpt(text: str, terms: Sequence[Term]) -> str:
    """Some twenty words, where most of the terms stand; the beginning if there are none."""
    runs = [(run.start(), run.end()) for run in _RUN.finditer(text[:_READ_CHARACTERS])]
    if not runs:
        return ""
    hits = list(islice(((at, term) for at, (start, end) in enumerate(runs) for term in _hits(text[start:end], terms)), _MOST_HITS))
    best = max((place for place, _ in hits), key=lambda place: (_near(hits, place), -place), default=0)
    first = max(0, best - _BEFORE)
    last = min(len(runs), first + _SHOWN) - 1
    start, end = runs[first][0], min(runs[last][1], runs[first][0] + _MOST_CHARS)
    excerpt = " ".join(text[start:end].split())
    return f"{'…' if first else ''}{excerpt}{'…' if end < len(text.rstrip()) else ''}"


def _near(hits: list[tuple[int, int]], place: int) -> int:
    """How many terms would be shown from there."""
    return len({term for at, term in hits if place <= at < place + _SHOWN - _BEFORE})


def _hits(run: str, terms: Sequence[Term]) -> set[int]:
    """Which terms begin in a run of characters."""
    words = words_of(run)
    return {
        number
        for number, term in enumerate(terms)
        if any(word == term.words[0] or (term.prefix and len(term.words) == 1 and word.startswith(term.words[0])) for word in words)
    }

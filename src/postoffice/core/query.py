"""What somebody types to search: words, phrases, beginnings of words, and filters. No text is wrong but a day that is none."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any, Final

import msgspec

from postoffice.core.errors import Invalid
from postoffice.core.folding import fold

WHAT_TO_ASK: Final = 'Words or a question. Also "a phrase", begin*, from:NAME, to:NAME, with:NAME, before:2026-02-28, after:2026-02-28.'
_INDEXED_BYTES = 400_000
"""Bytes of a text that are searched: PostgreSQL keeps at most a megabyte of words, which takes up to twice its text."""
_MOST_TERMS = 12
"""Each term costs a look into the index; further ones are ignored."""
_MOST_WORDS = 16
"""Of one phrase."""
_PIECES = re.compile(r'(?P<field>from|to|with|before|after):(?P<value>"[^"]*"|\S+)|"(?P<phrase>[^"]*)"?|(?P<plain>[^\s"]+)', re.IGNORECASE)
_PEOPLE = {"from": "sender", "to": "recipient", "with": "other"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}", re.ASCII)
_IDEOGRAPHS = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_WORDS = re.compile(f"[{_IDEOGRAPHS}]|[^\\W_{_IDEOGRAPHS}]+")
_IDEOGRAPH = re.compile(f"[{_IDEOGRAPHS}]")
# Words that questions are made of. Almost every English letter has them, so they distinguish none.
_FILLERS = frozenset(
    [
        "a",
        "about",
        "an",
        "and",
        "any",
        "are",
        "as",
        "at",
        "be",
        "been",
        "but",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "he",
        "her",
        "him",
        "his",
        "how",
        "i",
        "if",
        "in",
        "into",
        "is",
        "it",
        "its",
        "me",
        "my",
        "no",
        "not",
        "of",
        "on",
        "or",
        "our",
        "out",
        "she",
        "should",
        "so",
        "that",
        "the",
        "their",
        "them",
        "then",
        "there",
        "these",
        "they",
        "this",
        "to",
        "up",
        "us",
        "was",
        "we",
        "were",
        "what",
        "when",
        "where",
        "which",
        "who",
        "why",
        "will",
        "with",
        "would",
        "you",
        "your",
    ]
)


class Term(msgspec.Struct, frozen=True):
    """One thing to look for: words that stand side by side. Of a prefix the last one is only a beginning."""

    words: tuple[str, ...]
    prefix: bool = False


class Query(msgspec.Struct, frozen=True):
    """A search as it was meant: all of `required`, as many of `wanted` as possible, and the filters."""

    required: tuple[Term, ...] = ()
    wanted: tuple[Term, ...] = ()
    sender: str | None = None
    recipient: str | None = None
    other: str | None = None
    """Whoever wrote it or got it."""
    since: datetime | None = None
    until: datetime | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        """Everything to look for."""
        return self.required + self.wanted


def words_of(text: str) -> list[str]:
    """The words of a text as they are compared. Scripts without spaces have each sign for a word."""
    return [word for word in _WORDS.findall(fold(text)) if word.isalnum()]


def searched(text: str) -> str:
    """A text as it enters the index: its words, so that every engine finds the same."""
    return " ".join(words_of(text.encode()[:_INDEXED_BYTES].decode(errors="ignore"))).encode()[:_INDEXED_BYTES].decode(errors="ignore")


def read_query(text: str) -> Query:
    """What somebody means by a text. A phrase in quotes must be there; of other words any counts, and the more the better."""
    required: dict[Term, None] = {}
    wanted: dict[Term, None] = {}
    filters: dict[str, Any] = {}
    for piece in _PIECES.finditer(text):
        field, value = piece["field"], (piece["value"] or "").strip('"')
        if piece["phrase"] is not None:
            required.update(dict.fromkeys(_phrase(piece["phrase"])))
        elif field is None or not value:
            wanted.update(dict.fromkeys(_plain(piece[0])))
        elif field.lower() in ("before", "after"):
            filters["until" if field.lower() == "before" else "since"] = _day(field.lower(), value)
        elif _NAME.fullmatch(value):
            filters[_PEOPLE[field.lower()]] = value
        else:
            wanted.update(dict.fromkeys(_plain(piece[0])))
    telling = [term for term in wanted if term.prefix or not _FILLERS.issuperset(term.words)]
    must = tuple(required)[:_MOST_TERMS]
    may = tuple(telling or ([] if must else wanted))[: _MOST_TERMS - len(must)]
    return Query(required=must, wanted=may, **filters)


def _phrase(text: str) -> Iterator[Term]:
    if words := tuple(words_of(text)):
        yield Term(words[:_MOST_WORDS])


def _plain(text: str) -> Iterator[Term]:
    """A path, an address or a version is one term; a run of signs without spaces is looked for by each two that follow each other."""
    words = tuple(words_of(text))
    if not words:
        return
    if len(words) > 2 and all(map(_IDEOGRAPH.fullmatch, words)):  # noqa: PLR2004 - two are a pair already
        yield from map(Term, pairwise(words))
    else:
        yield Term(words[:_MOST_WORDS], prefix=text.endswith("*") and len(words) <= _MOST_WORDS)


def _day(field: str, text: str) -> datetime:
    try:
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise Invalid(what=f"{field}:", why=f"{text!r} is not a day such as 2026-02-28, nor a time such as 2026-02-28T12:00Z") from None


class Rank(msgspec.Struct, frozen=True, order=True):
    """Where a message stands among those found: by how much of the search it has, then by its age."""

    count: int
    id: str


def ranked(hits: list[frozenset[str]]) -> list[Rank]:
    """The messages that hold each term, as one list: those that hold the most first, of them the newest first."""
    counts: dict[str, int] = {}
    for ids in hits:
        for id in ids:
            counts[id] = counts.get(id, 0) + 1
    return sorted((Rank(count, id) for id, count in counts.items()), reverse=True)

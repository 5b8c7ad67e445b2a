"""How much a text costs a model that reads it: about as many tokens as the usual vocabularies make of it."""

import re
from collections.abc import Iterator

# No piece is long, so that everything can be cut.
_PIECE = re.compile(r"[A-Z]?[a-z]{1,60}|[A-Z]{1,60}|[0-9]{1,3}|\s{1,60}|[\u00aa-\u2dff]{1,60}|[^\sA-Za-z0-9]")
PIECE_CHARACTERS = 64
"""No token holds more characters than this, with a space that costs nothing."""
_WORD_LETTERS, _CAPITALS, _LETTERS_BEYOND = 10, 3, 2
"""How many letters one token holds: of a word, of capitals and of scripts other than Latin, and of what is too long to be a word."""


def about_tokens(text: str) -> int:
    """About so many tokens."""
    return sum(_cost(piece[0]) for piece in _PIECE.finditer(text))


def parts(text: str, tokens: int) -> Iterator[str]:
    """A text in parts of about so many tokens at most; at least one. Each is found when it is asked for: a text may be long."""
    if len(text) <= tokens:  # no character costs more than one
        yield text
        return
    begin = used = 0
    for piece in _PIECE.finditer(text):
        cost = _cost(piece[0])
        if used + cost > tokens and used:
            yield text[begin : piece.start()]
            begin, used = piece.start(), 0
        used += cost
    yield text[begin:]


def _cost(piece: str) -> int:
    length = len(piece)
    if length == 1:
        return int(piece != " ")
    if piece.isspace():
        return 1
    if not piece.isascii() or piece.isupper() or piece.isdigit():
        return -(-length // _CAPITALS)
    return 1 + max(0, -(-(length - _WORD_LETTERS) // _LETTERS_BEYOND))

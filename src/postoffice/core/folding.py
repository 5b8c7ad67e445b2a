"""Text in which differences that only show are gone: case, width, accents, and the digits of other scripts."""

import re
import unicodedata

_SEPARATORS = re.compile(r"[\W_]+")


def fold(text: str) -> str:
    """The same for all spellings of the same words."""
    if text.isascii():
        return text.lower()
    apart = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFC", "".join(_plain(char) for char in apart))


def squeeze(text: str) -> str:
    """Folded, and without anything between its letters and digits."""
    return _SEPARATORS.sub("", fold(text))


def _plain(char: str) -> str:
    if char.isascii():
        return char
    if char.isdecimal():
        return str(unicodedata.decimal(char))
    return "" if unicodedata.category(char).startswith("M") else char

"""Colours the code that agents quote, by classes. The page's styles give the colours."""

from collections.abc import Iterable, Iterator
from functools import cache
from html import escape
from io import StringIO
from math import inf
from time import thread_time
from typing import TypeVar

from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES
from pygments.util import ClassNotFound

Token = TypeVar("Token")

_PREFIX = "hl-"
_CODE_CHARACTERS = 20_000
_LINE_CHARACTERS = 2_000  # a lexer may need quadratic time for a longer line, and cannot be stopped within one
# The languages that agents write. With every lexer there is, a message could keep the server busy.
# fmt: off
_LANGUAGES = frozenset({
    "bash", "c", "console", "cpp", "cs", "css", "diff", "dockerfile", "go", "graphql", "html", "ini", "java", "javascript", "js", "json", "kotlin", "lua", "makefile", "markdown", "md", "nginx", "php", "powershell", "python", "py", "pycon", "rb", "ruby", "rust", "rs", "scala", "sh", "shell", "sql", "swift", "toml", "ts", "tsx", "typescript", "xml", "yaml", "yml", "zig",
})
# fmt: on
# The page's word for a colour, by the longest matching prefix of a token's short name.
_INKS = {
    "k": "keyword",
    "kc": "number",
    "s": "string",
    "m": "number",
    "c": "comment",
    "cp": "name",
    "o": "mark",
    "p": "mark",
    "nf": "name",
    "nc": "name",
    "nb": "name",
    "nt": "keyword",
    "na": "name",
    "nd": "name",
    "gi": "added",
    "gd": "removed",
    "gh": "keyword",
    "gu": "comment",
    "gp": "comment",
}
_formatter = HtmlFormatter(nowrap=True, classprefix=_PREFIX)

CLASSES = frozenset(f"{_PREFIX}{short}" for short in STANDARD_TYPES.values() if short)
"""Every class that coloured code may have."""


def highlighted(code: str, language: str, until: float = inf) -> str:
    """Code as escaped HTML. It is coloured if we know the language and are done in time, by this thread's CPU clock."""
    lexer = _lexer(language.lower())
    if lexer is None or len(code) > _CODE_CHARACTERS or max(map(len, code.split("\n"))) > _LINE_CHARACTERS:
        return escape(code)
    made = StringIO()
    try:
        _formatter.format(_soon(lexer.get_tokens(code), until), made)
    except TimeoutError:
        return escape(code)
    return made.getvalue()


def stylesheet() -> str:
    """The CSS rules that give each class its colour, by the page's variables."""
    rules = []
    for short in sorted(filter(None, STANDARD_TYPES.values())):
        fitting = [_INKS[short[:length]] for length in range(len(short), 0, -1) if short[:length] in _INKS]
        if fitting:
            rules.append(f".{_PREFIX}{short} {{ color: var(--code-{fitting[0]}); }}")
    return "\n".join(rules)


def _soon(tokens: Iterable[Token], until: float) -> Iterator[Token]:
    """The lexer's tokens, as long as there is time: a few thousand empty lines keep some lexers busy for minutes."""
    for token in tokens:
        if thread_time() > until:
            raise TimeoutError
        yield token


@cache
def _lexer(language: str) -> Lexer | None:
    if language not in _LANGUAGES:
        return None
    try:
        return get_lexer_by_name(language, stripnl=False)
    except ClassNotFound:
        return None

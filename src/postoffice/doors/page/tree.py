"""JSON as a tree that opens and closes, of any size and depth."""

from typing import Any

import msgspec
from markupsafe import Markup, escape

from postoffice.core.invisible import visible

_LEVELS = 12
_NODES = 400
_TEXT_CHARACTERS = 600
_OPEN_LEVELS = 2
_SUMMARY_CHARACTERS = 60


def tree(value: Any) -> Markup:
    """A value as nested lists."""
    return Markup('<div class="tree">{}</div>').format(_Walk().show(value, 0))


class _Walk:
    """Renders one value, up to a bound that nobody would read beyond."""

    def __init__(self) -> None:
        self._left = _NODES

    def show(self, value: Any, depth: int) -> Markup:
        match value:
            case dict() if value:
                return self._branch(value.items(), len(value), "{}", depth)
            case list() | tuple() if value:
                return self._branch(enumerate(value), len(value), "[]", depth)
            case str():
                return _leaf("string", _quoted(value))
            case bool() | None:
                return _leaf("word", _json(value))
            case int() | float():
                return _leaf("number", _json(value))
            case _:
                return _leaf("word", _json(value))

    def _branch(self, items: Any, size: int, marks: str, depth: int) -> Markup:
        if depth >= _LEVELS:
            return _leaf("more", f"{marks[0]}… {_in_words(size)} …{marks[1]}")
        rows: list[Markup] = []
        for key, item in items:
            if self._left <= 0:
                rows.append(Markup("<li>{}</li>").format(_leaf("more", f"… {_in_words(size - len(rows))} more")))
                break
            self._left -= 1
            rows.append(Markup('<li><span class="key">{}</span> {}</li>').format(_key(key), self.show(item, depth + 1)))
        opened = Markup(" open") if depth < _OPEN_LEVELS else Markup()
        head = Markup("<summary>{}<span>{}</span>{}</summary>").format(marks[0], _in_words(size), marks[1])
        return Markup("<details{}>{}<ul>{}</ul></details>").format(opened, head, Markup().join(rows))


def _leaf(kind: str, text: str) -> Markup:
    return Markup('<span class="{}">{}</span>').format(kind, text)


def _quoted(text: str) -> str:
    shown = visible(text[:_TEXT_CHARACTERS])
    return f'"{shown}"' if len(text) <= _TEXT_CHARACTERS else f'"{shown}… ({len(text) - _TEXT_CHARACTERS:,} characters more)'


def _key(key: Any) -> Markup:
    text = visible(str(key)[:_SUMMARY_CHARACTERS])
    return escape(text)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def _in_words(size: int) -> str:
    return f"{size:,} item" if size == 1 else f"{size:,} items"

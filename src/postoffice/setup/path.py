"""A place in a configuration: the names, and in lists the numbers, that lead to it."""

from typing import Any

Path = tuple[str | int, ...]


def look(document: Any, path: Path) -> Any:
    """The value at a place; None if there is none."""
    for key in path:
        inside = isinstance(document, dict) if isinstance(key, str) else isinstance(document, list)
        if not inside:
            return None
        try:
            document = document[key]
        except (KeyError, IndexError):
            return None
    return document

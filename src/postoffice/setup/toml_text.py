"""Edits TOML as text: adds or removes a table and keeps comments and layout."""

import tomllib
from typing import Any

import tomlkit
from tomlkit.items import InlineTable, Table

from postoffice.setup.path import Path


def read(text: str) -> dict[str, Any]:
    """The value of the text. ValueError, with the place, if it is not TOML."""
    return tomllib.loads(text)


def put(text: str, path: Path, value: Any) -> str:
    """The text with this table at a path, and with the tables that lead to it."""
    document = tomlkit.parse(text)
    at: Any = document
    for key in path[:-1]:
        if key not in at:
            at[key] = tomlkit.table(is_super_table=True)
        at = at[key]
    new: Table | InlineTable = tomlkit.inline_table() if isinstance(at, InlineTable) else tomlkit.table()
    for name, item in value.items():
        new[name] = item
    at[path[-1]] = new
    written = tomlkit.dumps(document)
    # tomlkit puts a new table right under the last line, without a blank one.
    header = f"[{'.'.join(map(str, path))}]"
    before, mark, after = written.rpartition(f"\n{header}")
    return f"{before.rstrip()}\n\n{header}{after}" if mark and before.strip() and read(written) != read(text) else written


def append(text: str, path: Path, item: Any) -> str:
    """Not supported: none of our parts goes into a list of a TOML file."""
    raise NotImplementedError


def drop(text: str, path: Path) -> str:
    """The text without the value at a path."""
    document = tomlkit.parse(text)
    at: Any = document
    for key in path[:-1]:
        at = at.get(key, {})
    if path[-1] not in at:
        return text
    del at[path[-1]]
    return tomlkit.dumps(document)

"""TOML as text: a table put in or taken out, comments and layout kept."""

import tomllib
from typing import Any

import tomlkit
from tomlkit.items import InlineTable, Table

from postoffice.setup.path import Path


def read(text: str) -> dict[str, Any]:
    """What the text says. ValueError, with the place, if it is not TOML."""
    return tomllib.loads(text)


def put(text: str, path: Path, value: Any) -> str:
    """The text with this table there, and whatever leads to it."""
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
    # tomlkit sets a new table right under the last line.
    header = f"[{'.'.join(map(str, path))}]"
    before, mark, after = written.rpartition(f"\n{header}")
    return f"{before.rstrip()}\n\n{header}{after}" if mark and before.strip() and read(written) != read(text) else written


def append(text: str, path: Path, item: Any) -> str:
    """Nothing of ours is kept in a list there."""
    raise NotImplementedError


def drop(text: str, path: Path) -> str:
    """The text without what is there."""
    document = tomlkit.parse(text)
    at: Any = document
    for key in path[:-1]:
        at = at.get(key, {})
    if path[-1] not in at:
        return text
    del at[path[-1]]
    return tomlkit.dumps(document)

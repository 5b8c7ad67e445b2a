"""The two things a group of acts asks of its engine, as values: the acts themselves never touch a database."""

from collections.abc import Generator
from typing import Any, NamedTuple

Row = tuple[Any, ...]


class Load(NamedTuple):
    """Run the named query for each of these keys and give back all rows together."""

    name: str
    keys: list[Row]


class Write(NamedTuple):
    """Run the named statement for each of these rows."""

    name: str
    rows: list[Row]


Steps = Generator[Load, list[Row], None]

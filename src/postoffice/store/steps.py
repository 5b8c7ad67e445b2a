"""The two things a group of acts asks of its engine, as values: the acts themselves never touch a database."""

from collections.abc import Generator
from typing import NamedTuple

from postoffice.acts.rows import Row


class Write(NamedTuple):
    """Run the named statement for each of these rows."""

    name: str
    rows: list[Row]


Loads = dict[str, list[Row]]
"""Named queries, each with the keys to run it for: none of them has to wait for another. The answer has each one's rows, together."""
Steps = Generator[Loads, dict[str, list[Row]], None]

"""The seam between the store and a database: what an engine has to do. There are two, SQLite and PostgreSQL.

An engine commits acts in groups and answers named queries; it knows nothing of what an act means. Durations cross this seam,
never instants: each engine reads its own clock, `office_now()`. The conformance suite in `tests/store` runs unchanged on both.
"""

from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from postoffice.acts.act import Act
from postoffice.acts.rows import Row
from postoffice.core.limits import Limits
from postoffice.core.query import Term
from postoffice.core.seal import Seal
from postoffice.core.tally import Tally

Committed = Callable[[frozenset[str]], None]
"""Called once for each group after its commit, with the agents who have mail or news."""
Tell = Callable[[Any], None]
"""Called once with an act's outcome: its answer, or the exception that refuses it."""
Loads = dict[str, list[Row]]
"""Named queries, each with the keys to run it for. None of them has to wait for another. The answer has the rows of each, together."""
Steps = Generator[Loads, dict[str, list[Row]], None]
"""What a group of acts reads: it yields queries and is sent their rows."""


class Write(NamedTuple):
    """Run the named statement for each of these rows."""

    name: str
    rows: list[Row]


class Engine(Protocol):
    """A database that keeps mail."""

    limits: Limits
    seal: Seal
    """How codes that wait are kept."""
    commits: Tally
    """How long groups took in this process, from their first read until they were on disk."""
    closing: bool
    """True before `open` and from `close` on: nothing new is begun."""
    folder: Path | None
    """Where it keeps its files; nothing where its files are a server's."""
    shared: bool
    """Whether other processes may use the same mail. If so, a duty has to be held before it is done."""

    async def open(self, committed: Committed) -> None:
        """Connect, bring the schema up to date where that is the engine's to do, and begin to commit."""

    async def close(self) -> None:
        """Commit what was asked for, then let go."""

    def put(self, act: Act[Any], tell: Tell) -> None:
        """Do the act with whatever else is waiting, as one transaction. `tell` hears the outcome once that is on disk."""

    async def fetch(self, name: str, **parameters: object) -> Sequence[Row]:
        """The rows of a named query."""

    async def fetch_each(self, name: str, keys: list[Row]) -> Sequence[Row]:
        """The rows of a named query for each key, in the order of the keys."""

    def check_cursor(self, cursor: str) -> None:
        """Refuse what is not a cursor of the whole log."""

    def search_query(self, terms: Sequence[Term]) -> str:
        """All of these terms, in the engine's own search language."""

    async def measure(self) -> None:
        """See how much room is left, where that is not seen with every group."""

    async def adopt_log(self) -> None:
        """Make the next events come after all earlier ones, even if another server wrote those."""

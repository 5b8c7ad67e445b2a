"""How answers are shown: tables and colour to people, JSON to programs."""

import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from postoffice.core.fence import one_line, visible

if TYPE_CHECKING:
    from rich.console import Console

_COLOURS = {"idle": "green", "busy": "yellow", "offline": "dim", "acked": "green", "dead": "red", "pending": "cyan", "leased": "yellow"}
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def for_programs(options: dict[str, Any]) -> bool:
    """Whether the answer goes to a program."""
    return bool(options.get("json")) or sys.stdout is None or not sys.stdout.isatty()


def show(options: dict[str, Any], value: Any, render: Callable[["Console", Any], None]) -> None:
    """Show an answer to whoever is there."""
    if for_programs(options):
        print(msgspec.json.encode(value).decode(), flush=sys.stdout is not None)
        return
    from rich.console import Console  # noqa: PLC0415 - programs do without

    render(Console(highlight=False), value)


def table(console: "Console", columns: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
    """Rows under headings, or what to do where there are none."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    shown = Table(box=None, header_style="bold", pad_edge=False)
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in rows:
        # Text and not markup: what agents wrote colours nothing.
        shown.add_row(*(Text(one_line(str(cell)), style=_COLOURS.get(str(cell), "")) for cell in row))
    if shown.row_count:
        console.print(shown)
    else:
        say(console, empty)


def say(console: "Console", text: str) -> None:
    """A sentence of ours."""
    console.print(visible(text), markup=False, soft_wrap=True)


def quote(console: "Console", who: str, when: str, text: str) -> None:
    """What somebody said."""
    from rich.text import Text  # noqa: PLC0415

    console.print(Text.assemble((one_line(who), "bold"), "  ", (ago(when), "dim")))
    console.print(Text("  " + visible(text).replace("\n", "\n  ")))


def ago(when: str | None) -> str:
    """How long since, as people say it."""
    if when is None:
        return "never"
    seconds = int((datetime.now(UTC) - datetime.fromisoformat(when)).total_seconds())
    for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return "just now"

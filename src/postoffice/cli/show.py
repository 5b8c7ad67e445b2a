"""How answers are shown: tables and colours for people, JSON for programs."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec

from postoffice.core.fence import one_line
from postoffice.core.invisible import visible, visible_json
from postoffice.core.text import render as as_text

if TYPE_CHECKING:
    from rich.console import Console

_COLOURS = {"idle": "green", "busy": "yellow", "offline": "dim", "acked": "green", "dead": "red", "pending": "cyan", "leased": "yellow"}
_PROSE = {"subject", "last", "what", "words", "does", "says", "reached"}
"""Columns that may be cut if they do not fit. All others are shown whole."""
_GAP_CHARACTERS, _PROSE_CHARACTERS = 2, 8
"""The space between two columns, and the least width of a column of prose."""
_MINUTE, _HOUR, _DAY = 60, 3600, 86400


def for_programs(options: dict[str, Any]) -> bool:
    """Whether the answer goes to a program."""
    return bool(options.get("json")) or sys.stdout is None or not sys.stdout.isatty()


def show(options: dict[str, Any], value: Any, render: Callable[["Console", Any], None]) -> None:
    """Show an answer, to a person or a program."""
    if for_programs(options):
        print(visible_json(msgspec.json.encode(value).decode()), flush=sys.stdout is not None)
        return
    from rich.console import Console  # noqa: PLC0415 - not needed for programs

    # Without colours there is no bold either, nor any other code for a terminal.
    render(Console(highlight=False, color_system=None if os.environ.get("NO_COLOR") else "auto"), value)


def table(console: "Console", columns: Sequence[str], rows: Iterable[Sequence[object]], empty: str) -> None:
    """Rows under headings, or if there are none, what to do."""
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    shown = Table(box=None, header_style="bold", pad_edge=False)
    lines = [[one_line(str(cell)) for cell in row] for row in rows]
    widths = _widths(columns, lines, console.width)
    for column, width in zip(columns, widths, strict=True):
        shown.add_column(column, overflow="ellipsis" if column in _PROSE else "fold", no_wrap=column in _PROSE, max_width=width)
    for line in lines:
        # Text, not markup: what agents wrote must not set colours.
        shown.add_row(*(Text(cell, style=_COLOURS.get(cell, "")) for cell in line))
    if shown.row_count:
        console.print(shown)
    else:
        say(console, empty)


def _widths(columns: Sequence[str], lines: list[list[str]], width: int) -> list[int]:
    """The width of each column. If all do not fit, the widest column of prose gets narrower."""
    from rich.cells import cell_len  # noqa: PLC0415

    widths = [max(map(cell_len, cells)) for cells in zip(columns, *lines, strict=True)]
    least = [_PROSE_CHARACTERS if column in _PROSE else own for column, own in zip(columns, widths, strict=True)]
    room = width - _GAP_CHARACTERS * (len(columns) - 1)
    while sum(widths) > room:
        widest = max(range(len(columns)), key=lambda at: widths[at] - least[at])
        if widths[widest] <= least[widest]:
            break
        widths[widest] -= 1
    return widths


def say(console: "Console", text: str) -> None:
    """Print a sentence of ours."""
    console.print(visible(text), markup=False, soft_wrap=True)


def quote(console: "Console", who: str, when: str, text: str, id: str = "") -> None:
    """Print what somebody said, and the id to answer it by."""
    from rich.text import Text  # noqa: PLC0415

    console.print(Text.assemble((one_line(who), "bold"), "  ", (ago(when), "dim"), (f"  {id}" if id else "", "dim")))
    console.print(Text("  " + visible(text).replace("\n", "\n  ")))


def text_of(letter: Any) -> str:
    """A letter's text, from whatever it carries: long answers come in parts, results as a payload. For an empty report, the state it reports."""
    text = as_text(letter["content"], letter.get("parts", ()), letter.get("payload"))
    return text or (f"(the task is {letter['task']['state']})" if letter["type"] == "task_update" else "")


def carried(letter: Any) -> str:
    """What a letter carries besides words, in a line below them."""
    names = [f"{one_line(one['name'])}, {one['size']} bytes" for one in letter.get("attachments", ())]
    return f"\n[{'; '.join(names)}]" if names else ""


def ago(when: str | None) -> str:
    """How long ago, as people say it."""
    if when is None:
        return "never"
    span = _span(datetime.now(UTC) - datetime.fromisoformat(when))
    return f"{span} ago" if span else "just now"


def ahead(when: str) -> str:
    """How long until then, as people say it."""
    span = _span(datetime.fromisoformat(when) - datetime.now(UTC))
    return f"in {span}" if span else "now"


def _span(length: timedelta) -> str:
    """A duration in its largest unit; empty if it is under a minute."""
    seconds = int(length.total_seconds())
    return next((f"{seconds // size} {unit}" for size, unit in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")) if seconds >= size), "")

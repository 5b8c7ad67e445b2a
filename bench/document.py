"""The report as a document: every table and plot, the machine they come from, and which wishes came true."""

from collections.abc import Sequence
from pathlib import Path

from bench.plan import SECTIONS
from bench.plots import plots
from bench.report import Report, too_much
from bench.table import Table, Verdict

_HERE = Path("bench")
_BEGINNING = """# What was measured

In plain words: a letter is on disk before its sender is told so, and that costs about a millisecond. It stays so however much mail waits and however
many agents there are, and one process serves thousands of them. Where many agents work at once, their letters reach the disk together, and you get
more of them a second than from the queues for Python that we compare with. Where one agent works alone, a plain queue in an SQLite file is faster: it
keeps no sessions, counts, news or history. A broker written in C or Go is faster too, several times with letters in batches; take one where
you need tens of thousands of messages a second and nothing of what an office adds.

Written by `python -m bench --report`; `make bench` prints the same tables. Every number is the median of rounds in which the contenders take
turns, so that a noisy moment hits all of them. Compare within a table: absolute numbers are this machine's, and vary by a third between runs.
All mail is on disk when it is accepted, here and, as far as each allows, at every contender; the tables say how far."""


def write_document(report: Report, folder: Path = _HERE) -> Path:
    """Write the report and its plots; gives where it is."""
    drawn: dict[str, list[str]] = {}
    place = folder / "plots"
    place.mkdir(exist_ok=True)
    for section, name, svg in plots(report):
        (place / f"{name}.svg").write_text(svg)
        drawn.setdefault(section, []).append(f"![{name}](plots/{name}.svg)")
    path = folder / "REPORT.md"
    path.write_text(document(report, drawn))
    return path


def document(report: Report, drawn: dict[str, list[str]]) -> str:
    """Everything, as Markdown; by section the plots that go with it."""
    shown = list(report.tables())
    parts = [_BEGINNING, _machine(report), _wishes([table for _, table in shown]), "## Tables"]
    for number, (section, table) in enumerate(shown):
        parts.append(table.markdown())
        last = all(later != section for later, _ in shown[number + 1 :])
        parts += drawn.get(section, []) if last else []
    return "\n\n".join(parts) + "\n"


def _machine(report: Report) -> str:
    lines = [
        [
            section,
            f"{sitting.seconds:.0f}",
            f"{sitting.fdatasync_micros:.0f}",
            f"{sitting.others:.0%}" + (" (too much)" * too_much(sitting.others)),
        ]
        for section in SECTIONS
        if (sitting := report.sittings.get(section)) is not None
    ]
    missing = [section for section in SECTIONS if section not in report.sittings]
    note = f"Not measured: {', '.join(missing)}." if missing else ""
    table = Table("Sections", ["section", "seconds", "fdatasync µs before", "others' part of the CPU"], lines, note)
    return "\n\n".join(["## The machine", *report.machine.lines(), table.markdown()])


def _wishes(tables: Sequence[Table]) -> str:
    counted, missed = [], list[Verdict]()
    for table in tables:
        verdicts = list(table.verdicts())
        reached = sum(verdict.reached for verdict in verdicts)
        if verdicts:
            counted.append([table.title, f"{reached}", f"{len(verdicts) - reached}"])
        missed += [verdict for verdict in verdicts if not verdict.reached]
    parts = [Table("By table", ["table", "reached", "missed"], counted).markdown()] if counted else []
    if missed:
        lines = [[verdict.table, verdict.row, verdict.wish] for verdict in missed]
        parts.append(Table("Missed", ["table", "row", "wish"], lines).markdown())
    return "\n\n".join(["## Wishes, reached and missed", *parts])

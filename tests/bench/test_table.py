"""Tables: what is shown, and what they say of wishes."""

import math

from bench.table import Table, Verdict, reached, times

TABLE = Table(
    "Speed",
    ["what", "clients", "per second", "at least", "reached", "p99 ms", "p99 under", "reached"],
    [
        ["send", "1", "1,000", "", "", "1.50", "", ""],
        ["send", "16", "5,000", "4,000", reached(yes=True), "2.50", "2", reached(yes=False)],
    ],
    "Said once.",
    named=2,
)


def test_a_wish_is_judged_by_the_column_after_it() -> None:
    name = "send, 16"
    assert list(TABLE.verdicts()) == [
        Verdict("Speed", name, "at least 4,000", reached=True),
        Verdict("Speed", name, "p99 under 2", reached=False),
    ]


def test_numbers_stand_right_and_words_left() -> None:
    _, heads, _, first, second, note = TABLE.text().splitlines()
    assert heads.startswith("what  clients  per second")
    assert first.startswith("send        1       1,000")
    assert second.startswith("send       16       5,000")
    assert note == "Said once."


def test_markdown_has_as_many_cells_in_every_row() -> None:
    rows = [line for line in TABLE.markdown().splitlines() if line.startswith("|")]
    assert {row.count("|") for row in rows} == {len(TABLE.heads) + 1}
    assert rows[1].startswith("| --- | ---: | ---: |")


def test_a_bar_in_a_cell_does_not_make_a_column() -> None:
    assert Table("t", ["a"], [["x|y"]]).markdown().splitlines()[-1] == "| x/y |"


def test_nothing_beside_something_is_without_end() -> None:
    assert (times(6, 3), times(6, 0)) == (2, math.inf)

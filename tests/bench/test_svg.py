"""Plots: well-formed, in proportion, and the same every time."""

import re
from xml.etree import ElementTree as ET

import pytest
from bench.svg import Bar, bars, lines, spoken


def drawn(svg: str, tag: str) -> list[ET.Element]:
    return ET.fromstring(svg).findall(f"{{http://www.w3.org/2000/svg}}{tag}")


def test_bars_are_as_long_as_their_values() -> None:
    svg = bars("Speed", "a second", [Bar("ours", 400.0, ours=True), Bar("theirs & <others>", 100.0), Bar("none", 0.0)])
    lengths = [float(rect.attrib["width"]) for rect in drawn(svg, "rect")[1:]]
    assert lengths[1:] == pytest.approx([lengths[0] / 4, 0.0], abs=0.1)
    assert "theirs & <others>" in [text.text for text in drawn(svg, "text")]
    assert svg == bars("Speed", "a second", [Bar("ours", 400.0, ours=True), Bar("theirs & <others>", 100.0), Bar("none", 0.0)])


def test_nothing_to_draw_is_an_empty_plot() -> None:
    assert len(drawn(bars("Nothing", "ms", []), "rect")) == 1


def test_a_flat_cost_is_a_flat_line_and_a_tenfold_one_rises_by_a_step() -> None:
    svg = lines("Cost", "messages", "µs", {"flat": [(1_000, 200), (100_000, 200)], "steep": [(1_000, 100), (100_000, 1_000)]})
    flat, steep = ([tuple(map(float, pair.split(","))) for pair in line.attrib["points"].split()] for line in drawn(svg, "polyline"))
    assert flat[0][1] == flat[1][1]
    assert (steep[0][1], steep[1][1]) == (310.0, 40.0)
    assert [flat[0][0], flat[1][0]] == [80.0, 530.0]


@pytest.mark.parametrize(
    ("value", "words"), [(1234.4, "1,234"), (100.0, "100"), (7.0, "7"), (3.25, "3.2"), (0.123, "0.12"), (-2.5, "-2.5")]
)
def test_a_number_has_as_many_digits_as_matter(value: float, words: str) -> None:
    assert spoken(value) == words


def test_no_coordinate_is_missing() -> None:
    assert not re.search(r"nan|inf", bars("a", "b", [Bar("c", 1.0)]))

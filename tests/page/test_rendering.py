"""What becomes of text, JSON, code, times and numbers on their way to the page."""

import re
from datetime import UTC, datetime, timedelta
from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postoffice.core.traffic import Exchange, Slot, Traffic
from postoffice.doors.page.graph import draw
from postoffice.doors.page.highlight import highlighted, stylesheet
from postoffice.doors.page.markdown import LONG_CHARACTERS, markdown
from postoffice.doors.page.plot import bars, lines
from postoffice.doors.page.times import age, span
from postoffice.doors.page.tree import tree

TAGS = set("a blockquote br code del em h3 h4 h5 h6 hr li ol p pre s span strong sub sup table tbody td th thead tr ul".split())  # noqa: SIM905
NOON = datetime(2026, 2, 22, 12, tzinfo=UTC)


class TestMarkdown:
    def test_what_people_use_is_shown(self) -> None:
        html = markdown("**bold** _it_ ~~gone~~ `code`\n\n- one\n- two\n\n| a |\n|---|\n| 1 |\n\n> said\n\n# Title")
        for piece in ("<strong>bold", "<em>it", "<s>gone", "<code>code", "<li>one", "<td>1", "<blockquote>", "<h3>Title"):
            assert piece in html

    def test_a_link_says_where_it_leads(self) -> None:
        html = markdown("[the bank](https://evil.example/login) and <mail@example.com>")
        assert 'href="https://evil.example/login"' in html
        assert '<span class="host">evil.example</span>' in html
        assert '<span class="host">mail@example.com</span>' in html
        assert 'rel="noopener noreferrer nofollow"' in html

    @pytest.mark.parametrize(
        "target",
        [
            "javascript:x",
            "data:text/html,x",
            "vbscript:x",
            "file:///x",
            "/page/logout",
            "//evil.example",
            "#main",
            "?x",
            "ftp://x",
            "blob:x",
        ],
    )
    def test_other_ways_are_no_links(self, target: str) -> None:
        assert "<a" not in markdown(f"[x]({target})")

    def test_a_picture_is_told_and_not_loaded(self) -> None:
        html = markdown("![a cat](https://evil.example/cat.png)")
        assert "<img" not in html
        assert "a cat (https://evil.example/cat.png)" in html

    def test_what_hides_is_shown(self) -> None:
        assert "\\u202e" in markdown("a\u202eb")
        assert "\\U000e0041" in markdown("a\U000e0041")
        assert "👩‍👧" in markdown("👩‍👧"), "joiners hold emoji together"

    def test_it_is_cut_where_nobody_reads_on(self) -> None:
        assert len(markdown("x" * 50_000, 100)) < 200

    @given(st.text(max_size=300) | st.text("<>&\"'`*_[]()!#|-\\\n =:/;", max_size=300))
    def test_no_text_brings_a_tag_or_an_attribute_of_its_own(self, text: str) -> None:
        tags = re.findall(r"<(/?)(\w+)([^>]*)>", str(markdown(text)))
        assert {name for _, name, _ in tags} <= TAGS
        written = {attribute for _, _, rest in tags for attribute in re.findall(r"([\w-]+)=\"", rest)}
        assert written <= {"href", "rel", "target", "class", "tabindex"}


class TestTrees:
    def test_a_value_is_nested_lists(self) -> None:
        html = tree({"a": [1, None, True, "<b>"]})
        assert html.count("<details") == 2
        assert "&lt;b&gt;" in html
        assert '<span class="number">1</span>' in html

    def test_deep_wide_and_long_values_end(self) -> None:
        deep: object = "end"
        for _ in range(60):
            deep = [deep]
        assert len(tree(deep)) < 5_000
        assert len(tree(list(range(100_000)))) < 60_000
        assert "characters more" in tree("x" * 10_000)


class TestCode:
    def test_what_we_know_is_coloured_and_everything_escaped(self) -> None:
        assert 'class="hl-k"' in highlighted("def f(): pass", "python")
        assert highlighted("<b>", "no-such-language") == "&lt;b&gt;"
        assert highlighted("<b>", "") == "&lt;b&gt;"
        assert "<b>" not in highlighted("x = '<b>'", "python")

    def test_code_that_keeps_a_lexer_busy_is_shown_without_colours(self) -> None:
        endless = "a\n" * 9_000
        assert highlighted(endless, "cs", until=thread_time()) == endless
        assert "hl-" not in markdown(f"```cs\n{endless}```", LONG_CHARACTERS)
        assert "hl-" not in highlighted("a::" * 6_000, "console"), "one long line is one long try"
        assert "hl-" in markdown("```python\ndef f(): pass\n```")

    def test_every_colour_is_the_pages_own(self) -> None:
        rules = stylesheet()
        assert ".hl-k {" in rules
        assert "#" not in rules
        assert all("var(--code-" in line for line in rules.splitlines())


class TestTimes:
    @pytest.mark.parametrize(
        ("seconds", "shown"),
        [
            (0.004, "4 ms"),
            (1.25, "1.2 s"),
            (5, "5 s"),
            (59, "59 s"),
            (90, "90 s"),
            (150, "2 m"),
            (5400, "90 m"),
            (10_000, "3 h"),
            (100_000, "28 h"),
            (900_000, "10 d"),
        ],
    )
    def test_a_duration_is_told_in_the_unit_that_says_most(self, seconds: float, shown: str) -> None:
        assert span(timedelta(seconds=seconds)) == shown

    def test_nobody_waits_for_milliseconds(self) -> None:
        assert (age(timedelta(milliseconds=300)), age(timedelta(seconds=1.4)), age(None)) == ("now", "1 s", "")


def traffic(*slots: Slot) -> Traffic:
    return Traffic(begun_at=NOON, width=timedelta(minutes=1), slots=slots, exchanges=(), whole=True)


class TestPlots:
    def test_bars_are_as_high_as_they_say(self) -> None:
        plot = bars("Letters", "", traffic(*([Slot(0)] * 4)), [0, 5, 10, 0])
        half, whole = plot.bars
        assert whole.height == pytest.approx(2 * half.height, rel=0.05)
        assert (half.title, whole.title) == ("12:01: 5", "12:02: 10")
        assert plot.summary == "15 in all, at most 10 in 60 s"

    def test_lines_are_broken_where_there_is_nothing(self) -> None:
        one = timedelta(seconds=1)
        plot = lines("Wait", "", traffic(*([Slot(0)] * 6)), [(one, one), (one, one), (None, None), (one, one), (None, None), (one, one)])
        (_, course), _ = plot.paths
        assert course.count("M") == 1
        assert len(plot.marks) == 4, "two points alone on each line"

    @pytest.mark.parametrize("count", [0, 1, 3])
    def test_nothing_to_show_is_no_error(self, count: int) -> None:
        assert bars("x", "", traffic(*([Slot()] * count)), [0] * count).summary == ""
        assert lines("x", "", traffic(*([Slot()] * count)), [(None, None)] * count).rows == []


class TestGraphs:
    def test_everyone_who_wrote_is_there_and_each_direction_is_drawn(self) -> None:
        graph = draw([Exchange("a", "b", 9, NOON), Exchange("b", "a", 1, NOON), Exchange("c", "c", 1, NOON)])
        assert {node.name for node in graph.nodes} == {"a", "b", "c"}
        assert [(arc.sender, arc.recipient) for arc in graph.arcs] == [("a", "b"), ("b", "a")]
        assert graph.arcs[0].weight > graph.arcs[1].weight
        assert graph.arcs[0].path != graph.arcs[1].path

    def test_too_many_are_left_out_and_counted(self) -> None:
        graph = draw([Exchange(f"a{n}", "hub", 100 - n, NOON) for n in range(60)])
        assert (len(graph.nodes), graph.left_out) == (36, 25)
        for node in graph.nodes:
            assert 0 < node.x < graph.size
            assert 0 < node.y < graph.size

    def test_nobody_is_nothing(self) -> None:
        assert draw([]).nodes == []

"""What somebody types to search, and what is shown of what was found."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from postoffice.core.errors import Invalid
from postoffice.core.excerpt import excerpt
from postoffice.core.query import Query, Rank, Term, ranked, read_query, searched, words_of

ANYTHING = st.text() | st.text(alphabet='"*:-from to before after 2026-0128 aé部署\u0301')


def term(words: str, *, prefix: bool = False) -> Term:
    return Term(tuple(words.split()), prefix)


def read(text: str) -> Query | None:
    try:
        return read_query(text)
    except Invalid:
        return None


@pytest.mark.parametrize(
    ("text", "required", "wanted"),
    [
        ("deploy failed", (), (term("deploy"), term("failed"))),
        ("Deploy DEPLOY deploy", (), (term("deploy"),)),
        ('say "release train" late', (term("release train"),), (term("say"), term("late"))),
        ("src/main.py v1.2", (), (term("src main py"), term("v1 2"))),
        ("depl*", (), (term("depl", prefix=True),)),
        ("what did the agent say", (), (term("agent"), term("say"))),
        ("what is this", (), (term("what"), term("is"), term("this"))),
        ('what is "this"', (term("this"),), ()),
        ("部署失败", (), (term("部 署"), term("署 失"), term("失 败"))),
        ("from:", (), (term("from"),)),
    ],
)
def test_words_phrases_and_beginnings_are_told_apart(text: str, required: tuple[Term, ...], wanted: tuple[Term, ...]) -> None:
    assert read_query(text) == Query(required=required, wanted=wanted)


def test_many_words_are_cut_to_so_many() -> None:
    read = read_query(" ".join(f"w{n}" for n in range(100)))
    assert len(read.terms) == 12
    (long,) = read_query("/".join(f"w{n}" for n in range(100))).terms
    assert len(long.words) == 16


@given(ANYTHING)
@example('"')
@example("before:9999-12-31T23:59:59-23:59")
@example("after:0001-01-01T00:00+23:59")
def test_every_text_is_a_query_or_names_the_day_that_is_none(text: str) -> None:
    query = read(text)
    assert query is not None or "before:" in text.lower() or "after:" in text.lower()
    assert query is None or all(word.isalnum() and words_of(word) == [word] for term in query.terms for word in term.words)


@given(st.text())
def test_the_words_of_a_text_are_the_words_of_what_is_indexed_of_it(text: str) -> None:
    assert words_of(searched(text)) == words_of(text)


def test_those_that_hold_most_come_first_and_of_them_the_newest() -> None:
    assert ranked([frozenset("ab"), frozenset("bc"), frozenset("b")]) == [Rank(3, "b"), Rank(1, "c"), Rank(1, "a")]


@given(ANYTHING, ANYTHING)
def test_an_excerpt_is_short_and_made_of_the_text(text: str, query: str) -> None:
    asked = read(query)
    shown = excerpt(text, () if asked is None else asked.terms)
    assert len(shown) < 400
    assert shown.strip("…").strip() in " ".join(text.split())


def test_an_excerpt_is_where_most_of_the_words_stand() -> None:
    text = "needle " + "hay " * 100 + "a needle and the thread " + "hay " * 100
    shown = excerpt(text, read_query("needle thread").terms)
    assert "needle and the thread" in shown
    assert shown.startswith("…")
    assert shown.endswith("…")

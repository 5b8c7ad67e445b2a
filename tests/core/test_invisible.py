"""Characters that nobody sees."""

import json
import sys
import unicodedata
from pathlib import Path

import msgspec
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from postoffice.core import invisible
from postoffice.core.fence import one_line
from postoffice.core.invisible import is_hidden, visible, visible_json

NANOBOTS = Path(__file__).parents[2] / "packages/nanobot/src/postoffice_nanobot/invisible.py"
ALL = [chr(code) for code in range(sys.maxunicode + 1)]
# Of those for private use and the surrogates, which are hidden all alike, a few.
HIDDEN = [char for char in ALL if char in "\ue000\U000f0000" or (is_hidden(char) and unicodedata.category(char) not in ("Co", "Cs"))]
# Unicode's own list of what is ignored when it is shown, by ranges.
IGNORED = """ad 34f 61c 115f-1160 17b4-17b5 180b-180f 200b-200f 202a-202e 2060-206f 3164 fe00-fe0f feff ffa0 fff0-fff8 1bca0-1bca3
1d173-1d17a e0000-e0fff"""
FEW = [char for char in HIDDEN if char >= "\u034f" and not "\U000e0102" < char < "\U000e1000"]
HOSTS = ["a", "7", "#", "é", "漢", "ㅎ", "ب", "\u0627", "ء", "न", "\u094d", "র", "ᠠ", "😀", "⭐", "❤", "👩", "🏳", "🏴", "💻", "🌈", "👩🏽"]
SEEN = {
    "emoji that would be text": "I ❤\ufe0f it ☀\ufe0f ©\ufe0f",
    "a keycap": "1\ufe0f\u20e3",
    "a family": "👩\u200d👩\u200d👧\u200d👦",
    "a profession with a colour": "👩🏽\u200d💻",
    "a flag": "🏳\ufe0f\u200d🌈",
    "a flag in tags": "🏴\U000e0067\U000e0062\U000e0073\U000e0063\U000e0074\U000e007f",
    "Persian": "می\u200cخو\u0627\u0647م",
    "a conjunct left open": "क्\u200dष क्\u200cष",
    "Bengali ya-phala": "র\u200d্য",
    "Mongolian": "ᠠ\u180b ᠨ\u180eᠠ",
    "Arabic that stands alone": "\u0647\u200d",
    "wide": "全角\u3000文字",
}
NOT_SEEN = {
    "a selector behind a letter": "a\ufe0f",
    "a selector behind a digit": "1\ufe0f2",
    "two selectors": "❤\ufe0f\ufe0f",
    "a run of selectors": "😀" + "".join(chr(0xE0100 + byte) for byte in b"obey"),
    "a selector behind an ideograph": "葛\U000e0100",
    "joiners between letters": "ig\u200dno\u200cre",
    "two joiners": "👩\u200d\u200d💻",
    "a joiner between what is never joined": "🍎\u200d🍎",
    "a joiner at the end": "👩\u200d",
    "Hangul fillers": "\u115f\u1160\u3164\uffa0",
    "braille blank": "\u2800",
    "tags behind a flag": "🏴" + "".join(chr(0xE0000 + ord(char)) for char in "obey") + "\U000e007f",
    "what is no character": "\ufdd0\ufffe",
}


def ignored() -> set[str]:
    ends = [[int(end, 16) for end in span.split("-")] for span in IGNORED.split()]
    return {chr(code) for span in ends for code in range(span[0], span[-1] + 1)}


def test_whatever_unicode_ignores_when_it_is_shown_is_hidden() -> None:
    assert ignored() <= set(HIDDEN)


@pytest.mark.parametrize("text", SEEN.values(), ids=SEEN.keys())
def test_what_a_script_or_an_emoji_needs_is_left_as_it_is(text: str) -> None:
    assert visible(text) == text


@pytest.mark.parametrize("text", NOT_SEEN.values(), ids=NOT_SEEN.keys())
def test_what_only_hides_is_shown(text: str) -> None:
    assert "\\u" in visible(text).lower()
    assert not any(is_hidden(char) for char in visible(text).replace("❤\ufe0f", ""))


def test_no_hidden_character_passes_twice_or_behind_what_does_not_take_it() -> None:
    for char in HIDDEN:
        assert char not in visible(f"a{char}b{char}"), f"{ord(char):x}"
        for host in HOSTS if char in FEW else HOSTS[:3]:
            assert char * 2 not in visible(f"{host}{char}{char}{host}"), f"{host} {ord(char):x}"


def test_behind_one_letter_there_are_at_most_two_ways_to_look_the_same() -> None:
    """Raw hidden characters that pass behind a host: a selector where it changes the look, a joiner where it joins, never an alphabet."""
    for host in HOSTS:
        for following in ["", "a", *HOSTS]:
            told = set(
                visible("\n".join(f"{host}{char}{following}" for char in (FEW if following else HIDDEN))).split("\n")
            )  # one line is no other's neighbour
            raw = {text for text in told if any(is_hidden(char) for char in text)}
            assert len(raw) <= (5 if host == "ᠠ" else 2), (host, following, raw)


@given(st.text(st.sampled_from(HIDDEN + list("ab漢.-") * 40)))
@example("a\ufe0f\u200d\u200b")
def test_what_is_hidden_among_plain_letters_is_all_shown(text: str) -> None:
    shown = visible(text)
    assert not any(is_hidden(char) for char in shown)
    assert one_line(text).isprintable() or "\u3000" in text


@given(st.text(st.one_of(st.sampled_from("".join(HOSTS)), st.sampled_from(HIDDEN), st.characters(exclude_categories=()))))
@example("🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067")
@example("⭐\ufe0f\u200d🌈")
def test_what_is_shown_once_stays_as_it_is(text: str) -> None:
    assert visible(visible(text)) == visible(text)


@given(
    st.recursive(
        st.text(st.one_of(st.sampled_from(HIDDEN), st.characters(codec="utf-8"))),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_shows_what_is_hidden_and_says_the_same(value: object) -> None:
    shown = visible_json(msgspec.json.encode(value).decode())
    assert json.loads(shown) == value
    assert not any(is_hidden(char) for char in shown if char > "\x7e")


def test_every_space_is_the_one_there_is() -> None:
    assert visible("a\u00a0b\u2009c\u202fd") == "a b c d"
    assert {visible(char) for char in ALL if unicodedata.category(char) == "Zs"} == {" ", "\u3000"}


def test_nanobots_mailbox_which_shares_nothing_with_the_office_has_the_same_rules() -> None:
    assert NANOBOTS.read_text() == Path(invisible.__file__).read_text()

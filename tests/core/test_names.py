"""What an agent may be called."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postoffice.core.errors import BadName, ReservedName
from postoffice.core.names import RESERVED, check_free, check_name, folded

FIRST = string.ascii_letters + string.digits
REST = FIRST + "._-"
DEVICES = ["con", "prn", "aux", "nul", "com1", "com9", "lpt1", "lpt9"]

names = st.builds(str.__add__, st.sampled_from(FIRST), st.text(REST, max_size=99)).filter(
    lambda name: name.lower().split(".")[0] not in {*DEVICES, *(f"{port}{n}" for port in ("com", "lpt") for n in range(1, 10))}
)


@given(names)
def test_letters_digits_dots_underscores_and_dashes_name_an_agent(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize("name", ["a", "7", "a" * 100, "a.b_c-d", "9-lives", "Bob"])
def test_a_name_has_1_to_100_characters(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize("name", ["", "a" * 101, ".a", "_a", "-a", "a b", "a/b", "a\\b", "a\n", "\na", "é", "aé", "１", "a\x00", "*", "a,b", "..", "a:b"])  # fmt: skip  # noqa: RUF001
def test_anything_else_is_refused(name: str) -> None:
    with pytest.raises(BadName):
        check_name(name)


@pytest.mark.parametrize("name", [None, 7, b"bob", ["bob"], {"name": "bob"}, True])
def test_what_is_not_text_names_nobody(name: object) -> None:
    with pytest.raises(BadName):
        check_name(name)


@given(st.text())
def test_whatever_passes_is_made_of_the_alphabet_alone(text: str) -> None:
    try:
        name = check_name(text)
    except (BadName, ReservedName):
        return
    assert 1 <= len(name) <= 100
    assert name[0] in FIRST
    assert set(name) <= set(REST)


@given(names)
def test_two_spellings_of_one_name_are_equal_when_folded(name: str) -> None:
    assert folded(name.upper()) == folded(name.lower()) == folded(name.swapcase()) == folded(folded(name))


@pytest.mark.parametrize("device", DEVICES)
def test_device_names_are_reserved_in_any_case_and_with_any_ending(device: str) -> None:
    for name in (device, device.upper(), device.title(), f"{device}.txt", f"{device.upper()}.a.b"):
        with pytest.raises(ReservedName):
            check_name(name)


@pytest.mark.parametrize("name", ["console", "com", "com10", "lpt", "nul1", "a.con", "con-1", "con_"])
def test_names_that_only_resemble_devices_are_free(name: str) -> None:
    assert check_free(name) == name


def test_the_reserved_words_are_those_of_the_contract() -> None:
    assert {"all", "system", "me", "register", "owner"} == RESERVED


@pytest.mark.parametrize("word", sorted(RESERVED))
def test_nobody_can_take_a_reserved_name_in_any_case(word: str) -> None:
    for name in (word, word.upper(), word.title()):
        assert check_name(name) == name
        with pytest.raises(ReservedName):
            check_free(name)


@given(names.filter(lambda name: name.lower() not in RESERVED))
def test_every_other_name_is_free(name: str) -> None:
    assert check_free(name) == name


def test_a_refusal_shows_the_name_it_refuses() -> None:
    with pytest.raises(BadName, match="'no spaces'"):
        check_name("no spaces")

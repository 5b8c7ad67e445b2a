"""What an agent said becomes the body of a message, whatever it was and however long."""

import msgspec
import pytest

from postoffice.bridges.body import body_of
from postoffice.core.limits import Limits

ROOM = Limits().message_bytes


@pytest.mark.parametrize("said", ["x", "é", "漢", "🙂", '"', "\n", "\x1b", "\x1b[31m漢\x1b[0m\n"])
def test_what_is_too_long_is_cut_to_what_a_message_holds(said: str) -> None:
    whole = said * ROOM
    ((part,),) = body_of(whole).values()
    assert whole.startswith(part["text"])
    assert 0.8 * ROOM < len(msgspec.json.encode(part)) < 0.9 * ROOM


def test_signs_that_take_much_room_are_counted_wherever_they_stand() -> None:
    ((part,),) = body_of("\x1b" * 200_000 + "x" * 900_000).values()
    assert set(part["text"]) == {"\x1b"}
    assert len(msgspec.json.encode(part)) < ROOM


@pytest.mark.parametrize("said", ["", "fine", "漢" * 10_000])
def test_what_fits_is_left_as_it_is(said: str) -> None:
    assert body_of(said) == {"content": said}
    assert body_of(said + "x" * 10_001) == {"parts": [{"type": "text", "text": said + "x" * 10_001}]}


def test_half_an_emoji_is_a_question_mark() -> None:
    assert body_of("well \ud83d") == {"content": "well ?"}

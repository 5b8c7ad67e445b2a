"""What a sender may write."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from postoffice.core.clock import micros, moment
from postoffice.core.draft import Draft, addressee, check_draft
from postoffice.core.errors import BadLimit, BadMessage, BadName, BadText, Invalid, MailError, OneRecipient, ReservedName, TooLarge
from postoffice.core.limits import Limits
from postoffice.core.message import TASK, Accepted, Message, Posted, TaskRef, check_size, is_note

LIMITS = Limits()
WORDS = ["type", "correlation_id", "reply_to", "ref_id", "ref_type", "client_id", "session_id", "forward_of"]
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def draft(**fields: Any) -> Draft:
    return Draft(**({"to": "bob", "content": "hello"} | fields))


def check(**fields: Any) -> Draft:
    return check_draft(draft(**fields), LIMITS)


# Bodies


def test_defaults_are_filled_in_and_the_rest_is_kept() -> None:
    given_ = draft(subject="Plan", client_id="c-1", metadata={"a": 1})
    assert check_draft(given_, LIMITS) == msgspec.structs.replace(given_, priority=LIMITS.priority, ttl=LIMITS.ttl)


def test_checking_twice_changes_nothing() -> None:
    once = check(to=["bob", "cid"])
    assert check_draft(once, LIMITS) == once


@pytest.mark.parametrize("body", [{"content": ""}, {"content": "x"}, {"parts": ({"type": "text", "text": ""},)}, {"payload": None}, {"payload": 0}, {"forward_of": "m"}])  # fmt: skip
def test_any_one_body_is_enough(body: dict[str, Any]) -> None:
    assert check(**({"content": None} | body))


def test_a_message_without_a_body_is_refused() -> None:
    with pytest.raises(BadMessage, match="body"):
        check(content=None)


@pytest.mark.parametrize("content", [7, b"bytes", ["a"], {"a": 1}])
def test_content_is_text(content: object) -> None:
    with pytest.raises(BadMessage, match="content"):
        check(content=content)


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text", "text": "hello"},
        {"type": "data", "data": {"a": [1]}},
        {"type": "data", "data": None},
        {"type": "file", "path": "a/b.txt"},
        {"type": "file", "path": "a/b.txt", "name": "more is kept"},
    ],
)
def test_parts_are_text_data_or_file(part: dict[str, Any]) -> None:
    assert check(content=None, parts=(part,)).parts == (part,)


@pytest.mark.parametrize(
    "part",
    [
        {},
        "text",
        None,
        {"type": "image", "url": "x"},
        {"type": "text"},
        {"type": "text", "text": 7},
        {"type": "data"},
        {"type": "file"},
        {"type": "file", "path": None},
        {"type": None, "text": "x"},
        {"type": ["text"], "text": "x"},
        {"type": {}, "text": "x"},
    ],
)
def test_any_other_part_is_refused(part: Any) -> None:
    with pytest.raises(BadMessage, match="parts"):
        check(content=None, parts=(part,))


@given(st.recursive(st.none() | st.booleans() | st.integers(-(2**64), 2**64) | st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])), lambda v: st.lists(v) | st.dictionaries(st.just("k"), v)))  # fmt: skip
def test_any_json_is_a_payload_and_is_kept_as_sent(payload: Any) -> None:
    assert check(content=None, payload=payload).payload == payload


# Text in every field


@pytest.mark.parametrize("bad", ["\x00", "a\x00b", "\ud83d", "a\udc00"])
@pytest.mark.parametrize("field", [*WORDS, "subject", "content"])
def test_nul_and_surrogates_are_refused_in_every_field(field: str, bad: str) -> None:
    with pytest.raises(BadText):
        check(**{field: bad})


@pytest.mark.parametrize("bad", ["\x00", "\ud83d"])
@pytest.mark.parametrize(
    "fields",
    [
        lambda bad: {"payload": bad},
        lambda bad: {"payload": {"a": [{"b": bad}]}},
        lambda bad: {"payload": {bad: 1}},
        lambda bad: {"context": [bad]},
        lambda bad: {"metadata": {"a": bad}},
        lambda bad: {"callback": {"channel": bad}},
        lambda bad: {"parts": ({"type": "text", "text": bad},)},
        lambda bad: {"parts": ({"type": "data", "data": [bad]},)},
        lambda bad: {"parts": ({"type": "file", "path": "x", "more": bad},)},
        lambda bad: {"type": TASK, "task": TaskRef(id=bad)},
        lambda bad: {"task": TaskRef(state=bad)},
    ],
)
def test_nul_and_surrogates_are_refused_however_deep_they_sit(fields: Any, bad: str) -> None:
    with pytest.raises(BadText):
        check(**fields(bad))


@pytest.mark.parametrize("field", [*WORDS, "subject"])
def test_ids_and_subject_are_at_most_255_characters(field: str) -> None:
    extra: dict[str, Any] = {"ref_id": "e"} if field == "type" else {}
    assert getattr(check(**extra, **{field: "é" * 255}), field) == "é" * 255
    with pytest.raises(TooLarge, match=field):
        check(**extra, **{field: "é" * 256})


@pytest.mark.parametrize("field", [*WORDS, "subject"])
def test_ids_and_subject_are_text(field: str) -> None:
    with pytest.raises(BadMessage, match=field):
        check(**{field: 7})


@pytest.mark.parametrize("field", ["client_id", "correlation_id", "session_id", "reply_to"])
def test_an_empty_id_is_none(field: str) -> None:
    assert getattr(check(**{field: ""}), field) is None


# Addresses


@pytest.mark.parametrize("to", ["bob", "Bob", "a" * 100, "ALL", "system", "owner"])
def test_one_address_is_kept_as_it_was_written(to: str) -> None:
    assert check(to=to).to == to


@pytest.mark.parametrize("to", ["", "two words", "a" * 101, None, 7, (), [], {}, {"bob": 1}, ("bob", 7), ("bob", "")])
def test_an_address_that_names_nobody_is_refused(to: object) -> None:
    with pytest.raises((BadName, BadMessage)):
        check(to=to)


@pytest.mark.parametrize("to", ["nul", ("bob", "COM1")])
def test_nobody_is_called_like_a_device(to: object) -> None:
    with pytest.raises(ReservedName):
        check(to=to)


@pytest.mark.parametrize("word", ["all", "All", "me", "register", "REGISTER"])
def test_no_mail_is_accepted_for_a_name_that_nobody_can_ever_take(word: str) -> None:
    """Accepted mail can be collected: such a word is refused, or means ALL."""
    try:
        checked = check(to=word)
    except MailError:
        return
    assert checked.to == "ALL"


def test_a_name_given_twice_is_one_recipient() -> None:
    to = check(to=["bob", "cid", "BOB", "bob"]).to
    assert isinstance(to, tuple)
    assert sorted(name.lower() for name in to) == ["bob", "cid"]


@pytest.mark.parametrize("word", ["ALL", "all"])
def test_all_stands_alone(word: str) -> None:
    with pytest.raises(Invalid):
        check(to=("bob", word))


def test_recipients_are_at_most_a_thousand() -> None:
    check(to=[f"a{n}" for n in range(1000)])
    with pytest.raises(BadMessage, match="1001"):
        check(to=[f"a{n}" for n in range(1001)])


@pytest.mark.parametrize("fields", [{"type": TASK}, {"session_id": "s"}, {"forward_of": "m"}])
@pytest.mark.parametrize("to", ["ALL", ("bob", "cid"), ("bob",)])
def test_tasks_forwards_and_messages_in_a_session_go_to_one_agent(fields: dict[str, Any], to: object) -> None:
    assert check(**fields)
    with pytest.raises(OneRecipient):
        check(to=to, **fields)


@given(st.lists(st.sampled_from(["ann", "Ben", "cid", "DOT"]), min_size=1, unique=True), st.randoms())
def test_an_addressee_is_remembered_without_regard_to_case_or_order(names: list[str], random: Any) -> None:
    shuffled = [name.swapcase() for name in names]
    random.shuffle(shuffled)
    assert addressee(tuple(names)) == addressee(tuple(shuffled))
    assert addressee(names[0]) == addressee(names[0].swapcase())


@given(st.sets(st.sampled_from(["a", "b", "c", "ab", "bc"]), min_size=1), st.sets(st.sampled_from(["a", "b", "c", "ab", "bc"]), min_size=1))
def test_different_recipients_are_different_addressees(one: set[str], other: set[str]) -> None:
    assert (addressee(tuple(one)) == addressee(tuple(other))) == (one == other)


# Notes


@pytest.mark.parametrize(("type", "note"), [("task.note", True), ("phase.note", True), (".note", True), ("note", False), ("task.notes", False), ("message", False)])  # fmt: skip
def test_a_note_is_known_by_its_type(type: str, note: bool) -> None:  # noqa: FBT001
    assert is_note(type) is note


def test_a_note_names_its_entity() -> None:
    assert check(type="project.note", ref_id="p-1")
    with pytest.raises(BadMessage, match="ref_id"):
        check(type="project.note")


def test_a_note_may_go_to_nobody_and_nothing_else_may() -> None:
    assert check(type="stage.note", ref_id="s-1", to=()).to == ()
    with pytest.raises(BadMessage, match="to"):
        check(to=())


# Numbers, replies, tasks


@pytest.mark.parametrize("priority", [1, 2, 3, 4, 5])
def test_priorities_are_1_to_5(priority: int) -> None:
    assert check(priority=priority).priority == priority


@pytest.mark.parametrize("priority", [0, 6, -1])
def test_other_priorities_are_refused(priority: int) -> None:
    with pytest.raises(BadLimit, match="priority"):
        check(priority=priority)


@pytest.mark.parametrize("ttl", [0, 3, 10])
def test_a_ttl_is_0_to_10(ttl: int) -> None:
    assert check(ttl=ttl).ttl == ttl


@pytest.mark.parametrize("ttl", [-1, 11])
def test_other_ttls_are_refused(ttl: int) -> None:
    with pytest.raises(BadLimit, match="ttl"):
        check(ttl=ttl)


def test_an_automatic_reply_names_what_it_answers() -> None:
    assert check(automatic=True, reply_to="m-1").automatic
    with pytest.raises(BadMessage, match="reply_to"):
        check(automatic=True)


def test_a_deadline_has_a_time_zone() -> None:
    assert check(type=TASK, task=TaskRef(deadline=NOW)).task == TaskRef(deadline=NOW)
    with pytest.raises(BadMessage, match="time zone"):
        check(type=TASK, task=TaskRef(deadline=NOW.replace(tzinfo=None)))


def test_a_task_id_is_at_most_255_characters_of_text() -> None:
    assert check(type=TASK, task=TaskRef(id="t" * 255))
    with pytest.raises(TooLarge, match="task id"):
        check(type=TASK, task=TaskRef(id="t" * 256))
    with pytest.raises(BadMessage, match="task id"):
        check(type=TASK, task=TaskRef(id=7))  # type: ignore[arg-type]


offsets = st.timedeltas(timedelta(hours=-23, minutes=-59), timedelta(hours=23, minutes=59)).map(
    lambda span: timedelta(minutes=span // timedelta(minutes=1))
)


@given(st.datetimes(), offsets)
def test_every_deadline_that_is_accepted_can_be_kept_and_read_again(at: datetime, offset: timedelta) -> None:
    """The store keeps instants as microseconds and makes moments of them again."""
    deadline = at.replace(tzinfo=timezone(offset))
    try:
        check(type=TASK, task=TaskRef(deadline=deadline))
    except MailError:
        return
    assert moment(micros(deadline)) == deadline


def test_a_deadline_at_the_end_of_the_calendar_is_refused_or_kept() -> None:
    deadline = datetime(9999, 12, 31, 23, 59, 59, tzinfo=timezone(timedelta(hours=-5)))
    try:
        check(type=TASK, task=TaskRef(deadline=deadline))
    except MailError:
        return
    assert moment(micros(deadline)) == deadline


# What becomes of it


def test_a_message_is_at_most_a_mebibyte() -> None:
    check_size(1 << 20, LIMITS)
    with pytest.raises(TooLarge, match="1048577 bytes"):
        check_size((1 << 20) + 1, LIMITS)


@pytest.mark.parametrize("payload", [msgspec.UNSET, None, 0, "", [], {"a": 1}])
def test_a_message_survives_json_and_no_payload_differs_from_null(payload: Any) -> None:
    message = Message(id="m", sender="ann", to=("bob", "cid"), created_at=NOW, from_verified=True, content="x", payload=payload)
    encoded = msgspec.json.encode(message)
    assert msgspec.json.decode(encoded, type=Message) == message
    assert msgspec.json.decode(encoded)["from"] == "ann"
    assert ("payload" in msgspec.json.decode(encoded)) is (payload is not msgspec.UNSET)


def test_an_answer_tells_the_session_of_a_message_to_one_agent() -> None:
    assert Accepted(message_id="m", created_at=NOW).session_id is None
    assert Accepted(message_id="m", created_at=NOW, posted=(Posted(recipient="bob", session_id="s"),)).session_id == "s"


def test_a_message_cannot_be_changed() -> None:
    message = Message(id="m", sender="ann", to="bob", created_at=NOW, from_verified=True)
    with pytest.raises(AttributeError):
        message.content = "other"  # type: ignore[misc]

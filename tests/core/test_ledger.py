"""What goes to a topic and what is read there: HCS-10 to the letter, the seed's own form too."""

import json
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as some

from postoffice.core.envelope import (
    read_body,
    read_envelope,
    read_operator,
    write_created,
    write_envelope,
    write_log,
    write_note,
    write_request,
)
from postoffice.core.errors import Invalid, NotOurs
from postoffice.core.fingerprint import Body, body_of, fingerprint, matches
from postoffice.core.ledger import Account, Opening, check_ledger_id, connection_memo, inbound_memo, inbound_owner
from postoffice.core.message import Message

QUINN = Account(agent="quinn", account_id="0.0.100", inbound_topic_id="0.0.101", outbound_topic_id="0.0.102")
some_json = some.recursive(
    some.none() | some.booleans() | some.integers(-(2**53), 2**53) | some.text(max_size=20),
    lambda inner: some.lists(inner, max_size=3) | some.dictionaries(some.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


def message(**fields: Any) -> Message:
    usual = {"id": "m1", "sender": "quinn", "to": "mindy", "created_at": datetime(2026, 4, 25, tzinfo=UTC), "from_verified": True}
    return Message(**{**usual, "type": "fyi", "subject": "s", "payload": {"a": 1}, **fields})


@given(payload=some_json, subject=some.text(max_size=30), priority=some.integers(1, 5), private=some.booleans())
def test_what_is_written_is_known_again_and_nothing_else_is(payload: Any, subject: str, priority: int, *, private: bool) -> None:
    sent = message(payload=payload, subject=subject, priority=priority)
    body = read_body(read_envelope(write_envelope(QUINN, sent, private=private).encode()))
    assert matches(body, sent)
    assert not matches(body, message(payload=payload, subject=subject + "!", priority=priority))


def test_equal_bodies_have_one_fingerprint_wherever_their_words_come_from() -> None:
    assert fingerprint(Body(message_type=json.loads('"message"'))) == fingerprint(Body())


def test_data_is_a_string_and_compact() -> None:
    text = write_envelope(QUINN, message(subject="Grüße"), private=False)
    assert " " not in text.replace("Grüße", "")
    assert "Grüße" in text
    said = json.loads(text)
    assert (said["p"], said["op"], said["operator_id"]) == ("hcs-10", "message", "0.0.101@0.0.100")
    assert json.loads(said["data"])["subject"] == "Grüße"


@pytest.mark.parametrize("private", [False, True])
@pytest.mark.parametrize("priority", [1, 3])
def test_an_envelope_says_when_it_was_written_and_how_urgent_it_is(priority: int, *, private: bool) -> None:
    sent = message(priority=priority)
    for text in (write_envelope(QUINN, sent, private=private), write_log(QUINN, sent)):
        said = json.loads(text)
        assert said["ts"] == "2026-04-25T00:00:00Z"
        assert json.loads(said["data"])["priority"] == priority


def test_an_envelope_names_type_and_subject_even_where_they_are_the_usual_ones() -> None:
    said = json.loads(json.loads(write_envelope(QUINN, message(type="message", subject=""), private=False))["data"])
    assert (said["message_type"], said["subject"]) == ("message", "")


@pytest.mark.parametrize("ts", [1745539200, "yesterday", {"at": 1}, None])
def test_whatever_others_put_for_the_time_is_no_reason_to_refuse_them(ts: Any) -> None:
    raw = json.dumps({"p": "hcs-10", "op": "message", "operator_id": "0.0.1@0.0.2", "data": "hello", "ts": ts})
    assert read_body(read_envelope(raw.encode())).content == "hello"


@pytest.mark.parametrize("data", ['{"subject":"s","priority":2}', {"subject": "s", "priority": 2}])
def test_the_seeds_object_and_the_standards_string_are_read_alike(data: Any) -> None:
    raw = json.dumps({"p": "hcs-10", "op": "message", "operator_id": "0.0.1@0.0.2", "data": data, "ts": "2026-04-25T00:00:00Z"})
    body = read_body(read_envelope(raw.encode()))
    assert (body.subject, body.priority) == ("s", 2)


@pytest.mark.parametrize("data", ["plain", "[1, 2]", "5", '"text"', ""])
def test_anything_else_is_text(data: str) -> None:
    raw = json.dumps({"p": "hcs-10", "op": "message", "operator_id": "0.0.1@0.0.2", "data": data})
    assert read_body(read_envelope(raw.encode())).content == data


@pytest.mark.parametrize("data", [{"text": "Hello", "amount": 5}, {"id": "x", "text": "Hello"}, {}])
def test_json_of_other_softwares_own_making_is_kept_as_it_is(data: Any) -> None:
    raw = json.dumps({"p": "hcs-10", "op": "message", "operator_id": "0.0.1@0.0.2", "data": json.dumps(data)})
    assert read_body(read_envelope(raw.encode())) == Body(payload=data)


@given(some.binary(max_size=60) | some_json.map(lambda value: json.dumps(value).encode()))
def test_whatever_stands_on_a_topic_is_read_or_refused(raw: bytes) -> None:
    with suppress(NotOurs):
        read_body(read_envelope(raw))


@pytest.mark.parametrize("operator", ["", "0.0.1", "0.0.1@", "@0.0.1", "a@b", "0.0.1@0.0.2@0.0.3", "0.0.٣@0.0.2"])
def test_who_signs_says_topic_and_account(operator: str) -> None:
    with pytest.raises(NotOurs):
        read_operator(operator)
    assert read_operator("0.0.1@0.0.2") == ("0.0.1", "0.0.2")


def test_memos_are_the_seeds_and_the_standards() -> None:
    assert inbound_memo("0.0.7") == "hcs-10:0:3600:0:0.0.7"
    assert connection_memo("0.0.7", 12) == "hcs-10:1:3600:2:0.0.7:12"
    assert inbound_owner("hcs-10:0:60:0:0.0.7") == "0.0.7"
    for other in ("", "hcs-10:0:60:1", "hcs-10:1:60:2:0.0.7:3", "hcs-2:0:60:0:0.0.7", "hcs-10:0:60:0:me"):
        assert inbound_owner(other) is None


def test_the_handshake_is_hcs_10() -> None:
    assert json.loads(write_request(QUINN, "Shall we?")) == {
        "p": "hcs-10",
        "op": "connection_request",
        "operator_id": "0.0.101@0.0.100",
        "m": "Shall we?",
    }
    opening = Opening(agent="quinn", peer="0.0.9", inbound_topic_id="0.0.101", connection_id=4)
    assert json.loads(write_created(QUINN, opening, "0.0.55")) == {
        "p": "hcs-10",
        "op": "connection_created",
        "operator_id": "0.0.101@0.0.100",
        "connection_topic_id": "0.0.55",
        "connected_account_id": "0.0.9",
        "connection_id": 4,
    }


def test_a_note_is_the_seeds() -> None:
    note = json.loads(write_note(message(type="task.note", content="**x**", to=("mindy", "justin"), payload=None)))
    assert {name: note[name] for name in ("type", "from_agent", "note", "notify")} == {
        "type": "task.note",
        "from_agent": "quinn",
        "note": "**x**",
        "notify": ["mindy", "justin"],
    }


@pytest.mark.parametrize("id", ["", "0.0", "0.0.x", "0.0.1 ", "1.2.3.4", "0.0.1\n"])
def test_an_id_is_three_numbers(id: str) -> None:
    with pytest.raises(Invalid):
        check_ledger_id(id, "topic")
    assert check_ledger_id("0.0.12345", "topic") == "0.0.12345"


def test_a_private_message_tells_its_id_its_urgency_and_a_hash() -> None:
    sent = message(subject="secret", priority=1)
    body = read_body(read_envelope(write_envelope(QUINN, sent, private=True).encode()))
    assert (body.id, body.priority, body.hash) == ("m1", 1, fingerprint(body_of(sent)))

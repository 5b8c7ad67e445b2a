"""Decision 10: text a mailbox cannot keep is refused, nested values included; the rest comes back as it was sent."""

from collections.abc import Awaitable
from typing import Any

import msgspec
import pytest

from postoffice.core.draft import Draft
from postoffice.core.errors import BadText, MailError
from postoffice.core.text import read_parts, render
from postoffice.office import PostOffice
from tests.mail import people, take, taken, write

NUL = "a\x00b"
SURROGATE = "a\ud800b"
BAD = [pytest.param(NUL, id="U+0000"), pytest.param(SURROGATE, id="lone surrogate")]


def placements(bad: str) -> dict[str, dict[str, Any]]:
    """Every place of a draft that holds text, with the bad text in it."""
    return {
        "content": {"content": bad},
        "subject": {"content": "x", "subject": bad},
        "type": {"content": "x", "type": bad},
        "client_id": {"content": "x", "client_id": bad},
        "correlation_id": {"content": "x", "correlation_id": bad},
        "reply_to": {"content": "x", "reply_to": bad},
        "ref_id": {"content": "x", "ref_id": bad},
        "ref_type": {"content": "x", "ref_type": bad},
        "session_id": {"content": "x", "session_id": bad},
        "forward_of": {"content": "x", "forward_of": bad},
        "text part": {"parts": ({"type": "text", "text": bad},)},
        "data part": {"parts": ({"type": "data", "data": {"deep": [{"deeper": bad}]}},)},
        "file part": {"parts": ({"type": "file", "path": bad},)},
        "payload": {"payload": bad},
        "payload value": {"payload": {"list": [1, {"deep": [bad]}]}},
        "payload key": {"payload": {"list": [{bad: 1}]}},
        "context": {"content": "x", "context": {"a": [bad]}},
        "metadata": {"content": "x", "metadata": {"a": {"b": bad}}},
        "callback": {"content": "x", "callback": {"session_id": bad}},
    }


async def refused(call: Awaitable[object]) -> type[MailError] | None:
    """The error that a call was refused with."""
    try:
        await call
    except MailError as error:
        return type(error)
    return None


class TestDecision10Text:
    @pytest.mark.parametrize("bad", BAD)
    async def test_text_no_mailbox_can_keep_is_refused_wherever_it_sits(self, office: PostOffice, bad: str) -> None:
        alice, bob = await people(office, "alice", "bob")
        for place, fields in placements(bad).items():
            assert await refused(office.send(alice, Draft(to="bob", **fields))) is BadText, place
            assert await taken(office, bob) == [], place

    @pytest.mark.parametrize("bad", BAD)
    async def test_bad_text_in_a_card_is_refused(self, office: PostOffice, bad: str) -> None:
        (bob,) = await people(office, "bob")
        for changes in ({"description": bad}, {"metadata": {"deep": [bad]}}, {"capabilities": [bad]}):
            with pytest.raises(BadText):
                await office.update_card(bob, changes)

    @pytest.mark.parametrize("bad", BAD)
    async def test_bad_text_in_a_note_to_a_connection_request_is_refused(self, office: PostOffice, bad: str) -> None:
        alice, _ = await people(office, "alice", "bob")
        with pytest.raises(BadText):
            await office.request_connection(alice, "bob", bad)

    @pytest.mark.parametrize("bad", BAD)
    async def test_bad_text_in_the_reason_of_a_nack_is_refused(self, office: PostOffice, bad: str) -> None:
        alice, bob = await people(office, "alice", "bob")
        await office.send(alice, Draft(to="bob", content="x"))
        leased = await take(office, bob)
        with pytest.raises(BadText):
            await office.nack(bob, leased.message.id, leased.token, reason=bad)

    async def test_what_is_not_json_is_refused(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        for payload in (float("nan"), float("inf"), [float("-inf")], {"deep": {1: "key"}}, {"set": {1}}, 2**2000, object()):
            assert await refused(office.send(alice, Draft(to="bob", payload=payload))) is BadText, repr(payload)[:40]

    async def test_a_value_nested_without_end_is_refused(self, office: PostOffice) -> None:
        alice, _ = await people(office, "alice", "bob")
        nested: list[Any] = []
        for _ in range(100):
            nested = [nested]
        with pytest.raises(BadText):
            await office.send(alice, Draft(to="bob", payload=nested))

    async def test_any_other_payload_comes_back_as_it_was_sent(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        strange = {"": {"ключ": ["值", "🎈", "\u202e", "\ufffe", "'; --"]}}
        for payload in (None, 0, False, "", [], {}, [1, 2.5, None], strange, 2**63, -(2**70), 1e300):
            await office.send(alice, Draft(to="bob", payload=payload))
            message = (await take(office, bob)).message
            assert message.payload == payload
            assert type(message.payload) is type(payload), payload

    async def test_a_message_without_a_payload_has_none_rather_than_null(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        await office.send(alice, Draft(to="bob", content="x"))
        assert (await take(office, bob)).message.payload is msgspec.UNSET

    async def test_every_field_comes_back_as_it_was_sent(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        answered = await write(office, bob, "alice")
        sent: dict[str, Any] = {
            "type": "question",
            "subject": "Größe",
            "content": "tab\tnewline\r\n\u200b🎈",
            "parts": ({"type": "text", "text": "t"}, {"type": "data", "data": None}, {"type": "file", "path": "a/b"}),
            "payload": {"a": 1},
            "context": ["c"],
            "correlation_id": "c-1",
            "reply_to": answered.message_id,
            "priority": 2,
            "ttl": 1,
            "callback": {"session_id": "s", "channel": "chat"},
            "ref_id": "R-1",
            "ref_type": "phase",
            "metadata": {"m": [1]},
            "client_id": "id-1",
        }
        await office.send(alice, Draft(to="bob", **sent))
        message = (await take(office, bob)).message
        assert {field: getattr(message, field) for field in sent} == sent
        assert (message.sender, message.to, message.trace, message.from_verified) == ("alice", "bob", ("alice",), False)

    async def test_a_message_of_the_largest_size_is_kept_and_a_larger_one_refused(self, office: PostOffice) -> None:
        alice, bob = await people(office, "alice", "bob")
        most = office.rules.limits.message_bytes
        await office.send(alice, Draft(to="bob", content="x" * (most - 1000)))
        with pytest.raises(MailError) as refusal:
            await office.send(alice, Draft(to="bob", content="x" * most))
        assert refusal.value.code == "too_large"
        assert len((await taken(office, bob))[0] or "") == most - 1000


class TestDecision10Rendering:
    def test_a_message_is_shown_as_its_content_else_its_parts_else_its_payload(self) -> None:
        parts = ({"type": "text", "text": "see"}, {"type": "data", "data": [1]}, {"type": "file", "path": "a.txt"})
        assert render("content", parts, {"p": 1}) == "content"
        assert render(None, parts, {"p": 1}) == "see\n\n[\n  1\n]\n\n[file: a.txt]"
        assert render(None, (), {"p": 1}) == '{\n  "p": 1\n}'
        assert render(None, ()) == ""

    def test_plain_content_stands_for_one_text_part(self) -> None:
        assert read_parts("hello") == ({"type": "text", "text": "hello"},)
        assert read_parts("") == ()

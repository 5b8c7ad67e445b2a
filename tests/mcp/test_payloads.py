"""`payload` is any JSON and comes back exactly as sent, by every way in and out."""

import json
from typing import Any

import pytest

from tests.doors.served import Served
from tests.mcp.calling import ERAS, call, client, post, told

PAYLOADS: list[Any] = [
    None,
    False,
    True,
    0,
    0.0,
    -1.5e-7,
    "",
    "null",
    "[1,2]",
    '{"a": 1}',
    "  spaces\n\tand lines  ",
    [],
    {},
    [None, [None, {"a": None}], {"": {"null": None}}],
    {"from": "x", "to": ["y"], "payload": {"payload": None}},
    {"tool": "check_mail", "args": {}},
    {"jsonrpc": "2.0", "id": 1, "method": "tools/call"},
    2**53 + 1,
    2**63,
    -(2**63),
    2**64 - 1,
    2**64,
    -(10**30),
    "Grüße, 世界 👩\u200d👩\u200d👧 \u202e\U000e0041 \ufeff",
    {"ключ": ["значение", "\u2028\u2029"]},
]


def exact(value: Any) -> str:
    """Equal texts are equal types too: 0 is not 0.0 and not false."""
    return json.dumps(value, sort_keys=True)


class TestOverMcp:
    @pytest.mark.parametrize("era", ERAS)
    async def test_it_comes_back_as_sent(self, served: Served, era: str) -> None:
        async with client(served, "/agents/alice/mcp", era=era) as alice, client(served, "/agents/bob/mcp", era=era) as bob:
            for payload in PAYLOADS:
                await call(alice, "mailbox_send", to="bob", payload=payload)
            mail = (await call(bob, "mailbox_receive", limit=100))["messages"]
        assert [exact(item["payload"]) for item in mail] == list(map(exact, PAYLOADS))
        assert {item["content"] for item in mail} == {None}

    async def test_no_payload_is_not_null(self, served: Served) -> None:
        async with client(served, "/agents/alice/mcp") as alice, client(served, "/agents/bob/mcp") as bob:
            await call(alice, "mailbox_send", to="bob", content="none")
            await call(alice, "mailbox_send", to="bob", content="null", payload=None)
            without, null = (await call(bob, "mailbox_receive"))["messages"]
            assert "payload" not in without
            assert null["payload"] is None

    @pytest.mark.parametrize("era", ERAS)
    async def test_what_stands_beside_the_content_is_told_as_well(self, desk: Served, era: str) -> None:
        """A popped message is never given out again: whatever was not told of it would be lost."""
        parts = [{"type": "text", "text": "a part"}, {"type": "file", "path": "plan.txt"}]
        mixed: list[dict[str, Any]] = [{"content": "words", "payload": {"n": 1}}, {"content": "words", "parts": parts}]
        async with client(desk, "/agents/alice/mcp", era=era) as alice, client(desk, "/agents/bob/mcp", era=era) as bob:
            for body in [*mixed, *mixed, {"parts": parts, "payload": {"n": 1}}]:
                await call(alice, "mailbox_send", to="bob", **body)
            said = await told(bob, "mailbox_receive", limit=2)
            assert '\n\nwords\n\n{\n  "n": 1\n}\n===' in said
            assert "\n\nwords\n\na part\n\n[file: plan.txt]\n===" in said
            assert '"n": 1' in await told(bob, "check_mail")
            popped = (await call(bob, "check_mail"))["result"]
            assert (popped["content"], popped["parts"], "payload" in popped) == ("words", parts, False)
        async with desk.client() as http:
            popped = (await post(http, "/agents/bob/mcp", "check_mail")).json()
            assert popped.keys() == {"id", "from", "content", "parts", "payload"}
            assert (popped["content"], popped["payload"]) == ("a part\n\n[file: plan.txt]", {"n": 1})

    async def test_a_model_can_read_every_one(self, desk: Served) -> None:
        async with client(desk, "/agents/alice/mcp") as alice, client(desk, "/agents/bob/mcp") as bob:
            for payload in (2**64, {"deep": {"number": 7}}, "words", "null"):
                await call(alice, "mailbox_send", to="bob", payload=payload)
            said = await told(bob, "mailbox_receive")
            assert str(2**64) in said
            assert '"number": 7' in said
            assert '"words"' in said


class TestByPlainPost:
    async def test_it_comes_back_as_sent(self, desk: Served) -> None:
        wrong: dict[str, str] = {}
        async with desk.client() as http:
            for payload in PAYLOADS:
                sent = await post(http, "/agents/alice/mcp", "mailbox_send", to="bob", payload=payload)
                mail = (await post(http, "/agents/bob/mcp", "mailbox_receive")).json()["messages"]
                if sent.status_code != 200 or [exact(item["payload"]) for item in mail] != [exact(payload)]:
                    wrong[exact(payload)] = f"{sent.status_code} {mail}"
        assert wrong == {}

"""Errors of tools: results that a model can read, each with its code and the way out."""

from typing import Any

import pytest

from tests.doors.served import Served
from tests.mcp.calling import ERAS, as_agent, call, client, join, refusal, result_of, text_of, told

BAD_CALLS: dict[str, tuple[str, dict[str, Any], str, tuple[str, ...]]] = {
    "a name that cannot be": ("mailbox_send", {"to": "two words", "content": "x"}, "bad_name", ("two words", "letters, digits")),
    "a name in the first tool": ("send_to_agent", {"name": "", "msg": "x"}, "bad_name", ("letters, digits",)),
    "a reserved name": ("mailbox_send", {"to": "me", "content": "x"}, "reserved_name", ("your own name",)),
    "everyone in small letters": ("mailbox_send", {"to": "all", "content": "x"}, "reserved_name", ("say ALL",)),
    "an argument that is not there": (
        "mailbox_send",
        {"to": "bob", "contents": "x"},
        "invalid",
        ("contents", "it takes to, from, content"),
    ),
    "an argument of no tool's": ("check_mail", {"limit": 5}, "invalid", ("limit", "nothing")),
    "an argument of another type": ("mailbox_send", {"to": "bob", "content": 5}, "invalid", ("content", "expected `str", "got `int`")),
    "a list of the wrong things": ("mailbox_receive", {"ack": [1]}, "invalid", ("ack", "expected `str`")),
    "an argument left out": ("mailbox_read", {}, "invalid", ("session_id", "missing")),
    "no body": ("mailbox_send", {"to": "bob"}, "bad_message", ("content, parts, a payload or attachments",)),
    "a limit too low": ("mailbox_receive", {"limit": 0}, "invalid", ("limit", ">= 1")),
    "a limit too high": ("mailbox_receive", {"limit": 101}, "bad_limit", ("limit", "between 1 and 100")),
    "a wait too long": ("mailbox_wait", {"timeout_ms": 240_001}, "bad_limit", ("timeout_ms", "between 0 and 240000, not 240001")),
    "a wait beyond all time": ("mailbox_wait", {"timeout_ms": 10**18}, "invalid", ("timeout_ms", "<= 1000000000000")),
    "a session nobody has": ("mailbox_read", {"session_id": "none"}, "not_participant", ("'none'",)),
    "a session to write in": (
        "mailbox_send",
        {"to": "bob", "content": "x", "session_id": "none"},
        "no_such_session",
        ("leave the session out",),
    ),
    "a message nobody has": ("mailbox_ack", {"message_id": "none"}, "no_such_message", ("check the id",)),
    "a status of nothing": ("mailbox_status", {"message_id": "none"}, "no_such_message", ("check the id",)),
    "a task nobody has": ("mailbox_task_update", {"task_id": "none", "state": "working"}, "no_such_task", ("'none'",)),
    "a state of no task's": ("mailbox_task_update", {"task_id": "none", "state": "nearly"}, "invalid", ("nearly", "completed")),
    "a deadline that is no time": (
        "mailbox_send",
        {"to": "bob", "type": "task", "content": "x", "deadline": "tomorrow"},
        "invalid",
        ("tomorrow", "2026-12-31T18:00:00Z"),
    ),
    "a deadline of no task's": (
        "mailbox_send",
        {"to": "bob", "content": "x", "deadline": "2999-12-31T18:00:00Z"},
        "invalid",
        ("only a task", "type `task`"),
    ),
    "a code nobody has": ("mailbox_approve", {"code": "XC-992"}, "no_such_code", ("expired",)),
    "a search for nothing": ("mailbox_search", {"query": " "}, "bad_query", ("at least one",)),
    "a character nobody can keep": ("mailbox_send", {"to": "bob", "content": "\x00"}, "bad_text", ("U+0000", "remove it")),
    "a message too large": ("mailbox_send", {"to": "bob", "content": "x" * (1 << 20)}, "too_large", ("send less",)),
}


class TestBadCalls:
    @pytest.mark.parametrize("era", ERAS)
    async def test_each_is_told_which_fix_it_needs(self, desk: Served, era: str) -> None:
        wrong: dict[str, str] = {}
        async with as_agent(desk, "alice", era=era) as alice:
            for case, (tool, arguments, code, words) in BAD_CALLS.items():
                result = await result_of(alice, tool, **arguments)
                said = text_of(result)
                if not result.is_error or not said.endswith(f"[{code}]") or not all(word in said for word in words):
                    wrong[case] = said
        assert wrong == {}

    async def test_a_lease_that_is_not_held(self, served: Served) -> None:
        async with as_agent(served, "alice") as alice, as_agent(served, "bob") as bob:
            sent = await call(alice, "mailbox_send", to="bob", content="x")
            for tool in ("mailbox_ack", "mailbox_nack"):
                said = await refusal(bob, tool, message_id=sent["id"])
                assert said.endswith("receive again. [lease_lost]")

    async def test_a_message_is_not_its_senders_to_ack(self, served: Served) -> None:
        async with as_agent(served, "alice") as alice, as_agent(served, "bob") as bob:
            sent = await call(alice, "mailbox_send", to="bob", content="x")
            await call(bob, "mailbox_receive")
            assert (await refusal(alice, "mailbox_ack", message_id=sent["id"])).endswith("[no_such_message]")
            assert (await call(bob, "mailbox_ack", message_id=sent["id"]))["status"] == "acked"

    async def test_a_session_of_others(self, served: Served) -> None:
        async with as_agent(served, "alice") as alice, as_agent(served, "eve") as eve:
            sent = await call(alice, "mailbox_send", to="bob", subject="Secret", content="x")
            assert "only its two agents" in await refusal(eve, "mailbox_read", session_id=sent["session_id"])
            assert await refusal(eve, "mailbox_send", to="bob", content="x", session_id=sent["session_id"])


class TestMailToOthers:
    async def test_who_is_not_admitted_is_told_how_to_be(self, desk: Served) -> None:
        await join(desk, "bob")
        async with as_agent(desk, "alice") as alice:
            for tool, arguments in (("send_to_agent", {"name": "bob", "msg": "x"}), ("mailbox_send", {"to": "bob", "content": "x"})):
                said = await refusal(alice, tool, **arguments)
                assert "ask for a connection" in said
                assert "allow_from" in said
                assert said.endswith("[not_admitted]")

    async def test_where_keys_are_needed_a_misspelt_name_is_guessed(self, vault: Served) -> None:
        key = await join(vault, "alice", "*")
        await join(vault, "bob", "*")
        async with client(vault, "/mcp?tools=all", key=key) as alice:
            for tool, field in (("mailbox_send", "to"), ("send_to_agent", "name"), ("mailbox_connect", "target_agent_name")):
                body = {"mailbox_send": {"content": "x"}, "send_to_agent": {"msg": "x"}}.get(tool, {})
                said = await refusal(alice, tool, **{field: "bbo"}, **body)
                assert "no agent 'bbo': did you mean 'bob'? Otherwise see" in said
                assert said.endswith("[no_such_agent]")
            assert "directory" in await refusal(alice, "mailbox_send", to="somebody-else", content="x")

    async def test_on_an_open_server_mail_to_a_new_name_is_taken_and_says_so(self, served: Served) -> None:
        async with as_agent(served, "alice") as alice:
            result = await result_of(alice, "mailbox_send", to="newcomer", content="welcome")
            assert "Nobody called newcomer has been here yet" in text_of(result)
            assert (result.structured_content or {})["recipients"][0]["unseen"] is True
            async with as_agent(served, "newcomer") as newcomer:
                assert [mail["content"] for mail in (await call(newcomer, "mailbox_receive"))["messages"]] == ["welcome"]
            assert "Nobody" not in await told(alice, "mailbox_send", to="newcomer", content="more")

    async def test_the_two_first_tools_say_so_as_well(self, desk: Served) -> None:
        async with as_agent(desk, "alice") as alice:
            assert "newcomer" in await told(alice, "send_to_agent", name="newcomer", msg="welcome")

    async def test_one_of_many_who_does_not_take_it_is_named(self, desk: Served) -> None:
        await join(desk, "bob")
        async with as_agent(desk, "alice") as alice, as_agent(desk, "carol") as carol:
            await call(carol, "mailbox_send", to="alice", content="here")
            sent = await call(alice, "mailbox_send", to="ALL", content="x")
            refused = {to["recipient"]: to.get("refusal") for to in sent["recipients"]}
            assert refused == {"bob": "not_admitted", "carol": None}
            assert "Not to bob" in await told(alice, "mailbox_send", to="ALL", content="y")

"""What tools there are at each address, how they are described, and that what they answer is what they promise."""

from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

import msgspec
import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]
from mcp.client.client import Client
from mcp.shared.exceptions import MCPError
from mcp_types import Tool

from postoffice.core.limits import Limits
from postoffice.core.tools import TOOLS
from tests.doors.served import Served, serving
from tests.engines import SQLiteEngine
from tests.mail import people, write
from tests.mcp.calling import ERAS, PER_AGENT, SHARED, as_agent, call, client, join, refusal, result_of, text_of
from tests.mcp.tour import tour

MAIL = ["mail_get", "mail_send", "mail_done", "mail_find", "task_update", "mail_agents", "mail_connect"]
FIFO = ["send_to_agent", "check_mail"]
QUEUE = ["mailbox_send", "mailbox_receive", "mailbox_wait", "mailbox_ack", "mailbox_nack"]
INBOX = ["mailbox_check", "mailbox_connect", "mailbox_approve", "mailbox_send", "mailbox_read"]
SETS = {
    "mail": MAIL,
    "fifo": FIFO,
    "queue": QUEUE,
    "inbox": INBOX,
    "tasks": ["mailbox_tasks", "mailbox_task_update"],
    "ledger": ["send_message", "post_note"],
    "fifo,inbox": [*FIFO, *INBOX],
    "queue,inbox": [*QUEUE, *(name for name in INBOX if name != "mailbox_send")],
    "fifo, mailbox_status": [*FIFO, "mailbox_status"],
    "all": list(TOOLS),
}
ADDRESSES = dict.fromkeys(SHARED, QUEUE) | dict.fromkeys(PER_AGENT, FIFO) | dict.fromkeys(("/mail", "/mail/", "/mail/x", "/mail/x/"), MAIL)


async def tools_at(served: Served, path: str, era: str = ERAS[1]) -> list[Tool]:
    async with client(served, path, era=era) as anyone:
        return (await anyone.list_tools()).tools


def names(tools: list[Tool]) -> list[str]:
    return [tool.name for tool in tools]


def size(tools: list[Tool]) -> int:
    """What a conversation pays for these tools, in characters of JSON."""
    shown = [{"name": tool.name, "description": tool.description, "inputSchema": tool.input_schema} for tool in tools]
    return len(msgspec.json.encode(shown).decode())


class TestToolsets:
    @pytest.mark.parametrize("era", ERAS)
    async def test_each_address_has_its_default(self, desk: Served, era: str) -> None:
        for path, expected in ADDRESSES.items():
            assert names(await tools_at(desk, path, era)) == expected, path

    async def test_they_are_chosen_by_the_address(self, desk: Served) -> None:
        for wanted, expected in SETS.items():
            for path in (SHARED[0], PER_AGENT[1]):
                assert names(await tools_at(desk, f"{path}?tools={wanted}")) == expected, wanted

    async def test_an_unknown_set_is_refused_and_the_known_ones_are_named(self, desk: Served) -> None:
        async with desk.client() as http:
            for accept in ("application/json", "application/json, text/event-stream"):
                answer = await http.post("/mcp?tools=queue,bogus", json={"tool": "mailbox_check"}, headers={"Accept": accept})
                assert answer.status_code == 422
                assert "'bogus'" in answer.text
                assert "mail, fifo, queue, inbox" in answer.text

    @pytest.mark.parametrize("era", ERAS)
    async def test_every_tool_can_be_called_everywhere_listed_or_not(self, desk: Served, era: str) -> None:
        async with client(desk, "/agents/x/mcp?tools=fifo", era=era) as few:
            assert (await call(few, "mailbox_send", to="bob", content="hi"))["recipients"]
            with pytest.raises(MCPError, match="send_to_agent, check_mail"):
                await few.call_tool("no_such_tool", {})

    async def test_no_tool_asks_who_calls_where_address_or_key_says_it(self, desk: Served, vault: Served) -> None:
        def asks(tools: list[Tool]) -> bool:
            return any(tool.input_schema["properties"].keys() & {"agent_id", "from"} for tool in tools)

        assert not asks(await tools_at(desk, "/agents/x/mcp?tools=all"))
        assert asks(await tools_at(desk, "/mcp?tools=all"))
        async with client(vault, "/mcp?tools=all", key=await join(vault, "alice")) as alice:
            assert not asks((await alice.list_tools()).tools)
            assert (await call(alice, "mailbox_receive", agent_id="alice"))["messages"] == []
        async with client(vault, "/mcp?tools=all", key=vault.owner_key) as owner:
            assert asks((await owner.list_tools()).tools)


class TestDescriptions:
    async def test_every_tool_says_what_it_does_takes_and_gives(self, desk: Served) -> None:
        for tool in await tools_at(desk, "/mcp?tools=all"):
            assert tool.description, tool.name
            assert tool.description.endswith("."), tool.name
            assert tool.annotations is not None
            hints = tool.annotations
            said = (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint, hints.open_world_hint)
            assert None not in said, tool.name
            for schema in (tool.input_schema, tool.output_schema):
                assert schema is not None, tool.name
                Draft202012Validator.check_schema(schema)
                assert schema["type"] == "object"
            assert tool.title
            assert tool.input_schema.get("additionalProperties", False) is False
            for name, given in tool.input_schema["properties"].items():
                assert given["description"], (tool.name, name)

    async def test_tools_that_take_nothing_away_say_so(self, desk: Served) -> None:
        hints = {tool.name: tool.annotations for tool in await tools_at(desk, "/mcp?tools=all")}
        looking = {name for name, hint in hints.items() if hint is not None and hint.read_only_hint}
        assert looking == {
            "mail_find",
            "mail_agents",
            "mailbox_check",
            "mailbox_agents",
            "mailbox_tasks",
            "mailbox_status",
            "mailbox_search",
        }
        assert hints["check_mail"] is not None
        assert hints["check_mail"].destructive_hint

    async def test_one_send_serves_both_seeds(self, desk: Served) -> None:
        (send,) = [tool for tool in await tools_at(desk, "/mcp") if tool.name == "mailbox_send"]
        assert send.input_schema["required"] == ["to"]
        seeds = {"from", "to", "type", "payload", "correlation_id", "subject", "content", "session_id"}
        assert seeds <= send.input_schema["properties"].keys()

    async def test_a_wait_is_240_seconds_at_most(self, desk: Served) -> None:
        (wait,) = [tool for tool in await tools_at(desk, "/mcp") if tool.name == "mailbox_wait"]
        assert wait.input_schema["properties"]["timeout_ms"] == {
            "description": "How long to wait.",
            "type": "integer",
            "minimum": 0,
            "maximum": 240_000,
            "default": 25_000,
        }

    async def test_what_they_say_that_they_take_is_what_the_settings_allow(self, tmp_path: Path) -> None:
        wide = Limits(batch=500, wait_most=timedelta(minutes=10), visibility_most=timedelta(days=2))
        async with serving(SQLiteEngine(tmp_path), limits=wide) as served:
            takes = {tool.name: tool.input_schema["properties"] for tool in await tools_at(served, "/mcp")}
            assert takes["mailbox_wait"]["timeout_ms"]["maximum"] == 600_000
            assert takes["mailbox_nack"]["delay_ms"]["maximum"] == 172_800_000
            assert [takes[tool]["limit"]["maximum"] for tool in ("mailbox_wait", "mailbox_receive")] == [500, 500]
            (alice,) = await people(served.office, "alice")
            for number in range(120):
                await write(served.office, alice, "bob", str(number))
            async with as_agent(served, "bob") as bob:
                taken = (await call(bob, "mailbox_wait", limit=110, timeout_ms=500_000))["messages"]
                assert len(taken) == 110
                given = await call(bob, "mailbox_nack", message_id=taken[0]["id"], delay_ms=100_000_000)
                assert given["status"] == "held"

    async def test_only_what_may_be_repeated_without_harm_says_so(self, desk: Served) -> None:
        """Sending the same words twice without an id is two messages."""
        hints = {tool.name: tool.annotations for tool in await tools_at(desk, "/mcp?tools=all")}
        harmless = {name for name, hint in hints.items() if hint is not None and hint.idempotent_hint and not hint.read_only_hint}
        assert harmless == {"mail_done", "mail_release", "mail_reserve", "mailbox_ack", "mailbox_read"}

    @pytest.mark.parametrize("era", ERAS)
    async def test_every_conversation_pays_little_for_them(self, desk: Served, era: str) -> None:
        assert size(await tools_at(desk, "/agents/x/mcp", era)) <= 1_400
        for default in ("/mcp", "/mcp?tools=inbox"):
            assert size(await tools_at(desk, default, era)) <= 9_000, default

    @pytest.mark.parametrize("era", ERAS)
    async def test_those_for_minds_cost_next_to_nothing(self, desk: Served, era: str) -> None:
        """Of o200k's tokens a definition takes about one for each 4.5 characters: the whole set stays under 1,000. It takes 823, and its first three 473."""
        tools = await tools_at(desk, "/mail/x", era)
        assert size(tools) <= 3_560
        assert size(tools[:3]) <= 2_060

    async def test_nothing_agents_write_is_ever_in_them(self, desk: Served) -> None:
        before = await tools_at(desk, "/agents/x/mcp?tools=all")
        async with desk.client() as http:
            card = {"name": "eve-INJECTED", "description": "INJECTED", "capabilities": ["INJECTED"], "allow_from": ["*"]}
            assert (await http.post("/agents/register", json=card)).status_code == 201
        async with as_agent(desk, "alice") as alice:
            await call(alice, "mailbox_send", to="eve-INJECTED", subject="INJECTED", content="INJECTED")
            await call(alice, "mailbox_send", to="x", subject="INJECTED", content="INJECTED")
        after = await tools_at(desk, "/agents/x/mcp?tools=all")
        assert after == before
        assert "INJECTED" not in repr(after)


class TestEveryTool:
    @pytest.mark.parametrize("era", ERAS)
    async def test_it_answers_what_its_schema_promises(self, served: Served, era: str) -> None:
        used: set[str] = set()
        async with AsyncExitStack() as stack:
            agents: dict[str, Client] = {
                name: await stack.enter_async_context(as_agent(served, name, era=era)) for name in ("alice", "bob", "carol", "dora", "emil")
            }
            schemas = {tool.name: tool.output_schema for tool in (await agents["alice"].list_tools()).tools}

            async def checked(agent: str, tool: str, **arguments: Any) -> Any:
                result = await result_of(agents[agent], tool, **arguments)
                assert not result.is_error, (tool, result.content)
                assert text_of(result)
                Draft202012Validator(schemas[tool] or False).validate(result.structured_content)
                used.add(tool)
                return result.structured_content

            await tour(checked)
        assert used == set(TOOLS)

    async def test_they_all_work_at_the_shared_address_by_a_name_in_the_call(self, desk: Served) -> None:
        async with client(desk, "/mcp?tools=all") as anyone:

            async def named(agent: str, tool: str, **arguments: Any) -> Any:
                me = {"from_": agent} if tool == "mailbox_send" else {"agent_id": agent}
                return await call(anyone, tool, **arguments, **me)

            async def fifo_elsewhere(agent: str, tool: str, **arguments: Any) -> Any:
                if tool not in FIFO:
                    return await named(agent, tool, **arguments)
                async with as_agent(desk, agent) as own:
                    return await call(own, tool, **arguments)

            await tour(fifo_elsewhere)


class TestAModelThatFillsInEveryArgument:
    async def test_sends_as_many_messages_as_it_writes(self, served: Served) -> None:
        """An empty id was an id: the same words said twice were one message, and other words were refused."""
        async with as_agent(served, "alice") as alice, as_agent(served, "bob") as bob:
            for words in ("ready?", "ready?", "answer me"):
                await call(alice, "mailbox_send", to="bob", content=words, id="", correlation_id="", session_id="", reply_to="")
            await call(alice, "send_to_agent", name="bob", msg="ready?", msg_id="")
            mail = (await call(bob, "mailbox_wait", limit=10, correlation_id="", session_id="", timeout_ms=0))["messages"]
            assert [item["content"] for item in mail] == ["ready?", "ready?", "answer me", "ready?"]

    @pytest.mark.parametrize("none", [None, ""], ids=["null", "empty"])
    async def test_means_none_by_nothing(self, served: Served, none: str | None) -> None:
        """What is optional had to be left out: an empty name was somebody else's, and clients that require all of it could not even wait."""
        async with as_agent(served, "alice") as alice, as_agent(served, "bob") as bob, as_agent(served, "carol") as carol:
            tools = {tool.name: tool.input_schema for tool in (await alice.list_tools()).tools}

            async def filled(caller: Client, tool: str, **given: Any) -> Any:
                empty = dict.fromkeys((name for name in tools[tool]["properties"] if name != "payload"), none)
                return await call(caller, tool, **empty | given)

            sent = await filled(alice, "mailbox_send", to="bob", content="paint", type="task")
            await filled(alice, "send_message", to_agent="bob", subject="x")
            await filled(alice, "send_to_agent", name="bob", msg="x")
            await filled(alice, "post_note", entity_id="p", entity_type="phase", note="x")
            await filled(alice, "mailbox_connect", target_agent_name="bob")
            await filled(alice, "mailbox_status", message_id=sent["id"])
            (mail,) = (await filled(bob, "mailbox_wait"))["messages"]
            await filled(bob, "mailbox_nack", message_id=mail["id"])
            assert len((await filled(bob, "mailbox_receive"))["messages"]) == 3
            await filled(bob, "mailbox_ack", message_id=mail["id"])
            await filled(bob, "mailbox_check")
            await filled(bob, "mailbox_read", session_id=mail["session_id"])
            await filled(bob, "mailbox_agents")
            await filled(bob, "mailbox_search", query="paint")
            assert len((await filled(bob, "mailbox_tasks"))["tasks"]) == 1
            await filled(bob, "mailbox_task_update", task_id=mail["id"], state="working")
            await filled(bob, "mailbox_forward", message_id=mail["id"], to="carol")
            assert [item["content"] for item in (await call(carol, "mailbox_receive"))["messages"]] == ["paint"]

    @pytest.mark.parametrize("number", [2.0, "2", "2.0"])
    async def test_may_write_a_whole_number_in_other_ways(self, desk: Served, number: object) -> None:
        """The schema says integer, and to a schema 2.0 is one: clients that know no other numbers were refused."""
        async with as_agent(desk, "alice") as alice, as_agent(desk, "bob") as bob:
            for _ in range(3):
                await call(alice, "mailbox_send", to="bob", content="x", type="1", priority=number, payload={"n": number})
            mail = (await call(bob, "mailbox_wait", limit=number, timeout_ms=number))["messages"]
            assert [(item["type"], item["priority"], item["payload"]) for item in mail] == [("1", 2, {"n": number})] * 2
            assert (await call(bob, "mailbox_check", unread_only="true"))["sessions"]

    @pytest.mark.parametrize("number", [2.5, "two", True, 1e300])
    async def test_is_refused_a_number_that_is_not_whole(self, desk: Served, number: object) -> None:
        async with as_agent(desk, "alice") as alice:
            assert "mailbox_receive: limit is not valid" in await refusal(alice, "mailbox_receive", limit=number)

    async def test_is_not_told_that_no_mail_waits_where_there_is_no_such_session(self, served: Served) -> None:
        async with as_agent(served, "alice") as alice, as_agent(served, "bob") as bob:
            await call(alice, "mailbox_send", to="bob", content="ready?")
            for tool in ("mailbox_receive", "mailbox_wait"):
                assert "leave the session out" in await refusal(bob, tool, session_id="none")

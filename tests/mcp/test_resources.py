"""Mailboxes as resources, word when they change, and the prompt: each agent sees its own."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.subscriptions import ResourceUpdated, SubscriptionLost
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent, TextResourceContents

from postoffice.core.limits import Limits
from tests.doors.served import Served, serving
from tests.engines import SQLiteEngine
from tests.mail import people, write
from tests.mcp.calling import ERAS, PATIENCE, as_agent, call, client, join, standing_of

INBOX = "mailbox://bob/inbox"


async def read(caller: Client, uri: str) -> tuple[Any, str]:
    """A resource for programs, and for a model."""
    raw, told = (await caller.read_resource(uri)).contents
    assert isinstance(raw, TextResourceContents)
    assert isinstance(told, TextResourceContents)
    assert (raw.mime_type, told.mime_type) == ("application/json", "text/plain")
    return json.loads(raw.text), told.text


class TestReading:
    @pytest.mark.parametrize("era", ERAS)
    async def test_an_agent_finds_its_own(self, desk: Served, era: str) -> None:
        async with as_agent(desk, "bob", era=era) as bob:
            assert [resource.uri for resource in (await bob.list_resources()).resources] == [INBOX]
            shapes = {shape.uri_template for shape in (await bob.list_resource_templates()).resource_templates}
            assert shapes == {"mailbox://{agent}/inbox", "mailbox://{agent}/sessions/{id}"}

    @pytest.mark.parametrize("era", ERAS)
    async def test_looking_settles_nothing(self, served: Served, era: str) -> None:
        async with as_agent(served, "bob", era=era) as bob, as_agent(served, "alice", era=era) as alice:
            sent = await call(alice, "mailbox_send", to="bob", subject="Lunch", content="Noon?\u202e")
            for _ in range(2):
                inbox, told = await read(bob, INBOX)
                (session,) = inbox["sessions"]
                assert (session["subject"], session["unread_count"]) == ("Lunch", 1)
                assert "\u202e" not in told
                assert "from alice (not verified)" in told
                history, told = await read(bob, f"mailbox://bob/sessions/{sent['session_id']}")
                (line,) = history["messages"]
                assert (line["content"], line["is_read"]) == ("Noon?\u202e", False)
                assert "\u202e" not in told
            assert await standing_of(served, "alice", sent["id"]) == ("pending", 0)
            assert len((await call(bob, "mailbox_receive"))["messages"]) == 1

    async def test_what_is_anothers_is_refused(self, served: Served) -> None:
        async with as_agent(served, "alice") as alice, as_agent(served, "eve") as eve:
            sent = await call(alice, "mailbox_send", to="bob", content="secret")
            session = sent["session_id"]
            for uri in (
                INBOX,
                f"mailbox://bob/sessions/{session}",
                f"mailbox://eve/sessions/{session}",
                f"mailbox://alice/sessions/{session}",
            ):
                with pytest.raises(MCPError) as refused:
                    await eve.read_resource(uri)
                assert "secret" not in str(refused.value)
            for uri in ("mailbox://eve/outbox", "mailbox://eve/sessions/none", "file:///etc/passwd", "mailbox://eve/sessions/"):
                with pytest.raises(MCPError):
                    await eve.read_resource(uri)

    async def test_nobody_in_particular_has_nothing(self, desk: Served) -> None:
        await join(desk, "bob")
        async with client(desk) as anyone:
            assert (await anyone.list_resources()).resources == []
            with pytest.raises(MCPError):
                await anyone.read_resource(INBOX)

    async def test_spelling_is_no_way_around(self, desk: Served) -> None:
        async with as_agent(desk, "Bob") as bob:
            inbox, _ = await read(bob, "mailbox://BOB/inbox")
            assert inbox["sessions"] == []


class TestListening:
    async def test_new_mail_is_told(self, served: Served) -> None:
        (alice,) = await people(served.office, "alice")
        async with as_agent(served, "bob") as bob, asyncio.timeout(PATIENCE), bob.listen(resource_subscriptions=[INBOX]) as heard:
            for number in range(3):
                await write(served.office, alice, "bob", str(number))
                assert await anext(aiter(heard)) == ResourceUpdated(uri=INBOX)
            assert len((await call(bob, "mailbox_receive"))["messages"]) == 3

    async def test_new_mail_is_told_where_nobody_may_wait_for_long(self, tmp_path: Path) -> None:
        async with serving(SQLiteEngine(tmp_path), limits=Limits(wait=timedelta(0), wait_most=timedelta(0))) as strict:
            (alice,) = await people(strict.office, "alice")
            async with as_agent(strict, "bob") as bob, asyncio.timeout(PATIENCE), bob.listen(resource_subscriptions=[INBOX]) as heard:
                await write(strict.office, alice, "bob")
                assert await anext(aiter(heard)) == ResourceUpdated(uri=INBOX)

    async def test_a_session_is_told_of_its_own_mail_only(self, served: Served) -> None:
        (alice,) = await people(served.office, "alice")
        one = (await write(served.office, alice, "bob", subject="one")).session_id
        uri = f"mailbox://bob/sessions/{one}"
        async with as_agent(served, "bob") as bob, asyncio.timeout(PATIENCE), bob.listen(resource_subscriptions=[uri, INBOX]) as heard:
            await write(served.office, alice, "bob", subject="two")
            assert await anext(aiter(heard)) == ResourceUpdated(uri=INBOX)
            await write(served.office, alice, "bob", subject="one")
            told = {await anext(aiter(heard)), await anext(aiter(heard))}
            assert told == {ResourceUpdated(uri=uri), ResourceUpdated(uri=INBOX)}

    async def test_nobody_listens_at_anothers_door(self, desk: Served) -> None:
        async with as_agent(desk, "eve") as eve, asyncio.timeout(PATIENCE):
            for wanted in ([INBOX], ["mailbox://eve/inbox", INBOX], ["mailbox://bob/sessions/x"]):
                with pytest.raises(MCPError):
                    async with eve.listen(resource_subscriptions=wanted):
                        pass

    async def test_a_key_that_ends_ends_the_listening(self, vault: Served) -> None:
        key = await join(vault, "bob", "*")
        async with as_agent(vault, "bob", key=key) as bob, asyncio.timeout(PATIENCE), bob.listen(resource_subscriptions=[INBOX]) as heard:
            await vault.office.revoke_keys(await vault.office.identify(key=key))
            with pytest.raises((SubscriptionLost, MCPError)):
                [event async for event in heard]

    async def test_an_office_that_closes_says_goodbye(self, desk: Served) -> None:
        async with as_agent(desk, "bob") as bob, asyncio.timeout(PATIENCE), bob.listen(resource_subscriptions=[INBOX]) as heard:
            desk.office.drain()
            assert [event async for event in heard] == []


class TestThePrompt:
    @pytest.mark.parametrize("era", ERAS)
    async def test_it_teaches_the_loop(self, desk: Served, era: str) -> None:
        async with client(desk, "/mail/bob", era=era) as bob:
            (message,) = (await bob.get_prompt("mailbox_loop")).messages
            assert isinstance(message.content, TextContent)
            assert "mailbox_" not in message.content.text
            steps = [message.content.text.index(word) for word in ("mail_get", "mail_send", "mail_done")]
            assert steps == sorted(steps)
        async with client(desk, era=era) as anyone:
            (prompt,) = (await anyone.list_prompts()).prompts
            assert prompt.name == "mailbox_loop"
            (message,) = (await anyone.get_prompt("mailbox_loop")).messages
            assert isinstance(message.content, TextContent)
            steps = [message.content.text.index(word) for word in ("mailbox_wait", "do what", "mailbox_send", "mailbox_ack")]
            assert steps == sorted(steps)
            with pytest.raises(MCPError, match="mailbox_loop"):
                await anyone.get_prompt("another")

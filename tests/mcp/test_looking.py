"""Looking without taking: nothing that is there is left out, and what does not fit into one answer is said to go on."""

from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client

from postoffice.core.limits import Limits
from tests.doors.served import Served, serving
from tests.engines import Engine, SQLiteEngine
from tests.mail import people, write
from tests.mcp.calling import ERAS, as_agent, call, join, refusal, told
from tests.mcp.test_fencing import HEAD, outside


class TestAnEmptyMailbox:
    @pytest.mark.parametrize("era", ERAS)
    async def test_is_truly_empty(self, served: Served, era: str) -> None:
        async with as_agent(served, "alice", era=era) as alice, as_agent(served, "bob", era=era) as bob:
            assert "empty" in await told(bob, "mailbox_check")
            await call(bob, "mailbox_send", to="bob", content="Remember the milk")
            await call(alice, "post_note", entity_id="T-7", entity_type="task", note="Begun", notify=["bob"])
            for arguments in ({}, {"unread_only": True}):
                looked = await call(bob, "mailbox_check", **arguments)
                assert (looked["sessions"], [note["content"] for note in looked["notes"]]) == ([], ["Remember the milk", "Begun"])
            said = await told(bob, "mailbox_check")
            assert outside(said) == ["Outside of sessions: 2 waiting."]
            assert [match[3] for line in said.split("\n") if (match := HEAD.fullmatch(line))] == ["bob", "alice"]
            await call(alice, "mailbox_send", to="bob", content="Noon?")
            assert len((await call(bob, "mailbox_check"))["notes"]) == 2
            await call(bob, "mailbox_receive", ack=[mail["id"] for mail in (await call(bob, "mailbox_receive"))["messages"]])
            assert (await call(bob, "mailbox_check"))["notes"] == []
            assert await told(bob, "mailbox_check", unread_only=True) == "Nothing is unread, and nobody asks to connect."
            assert "with alice: 0 unread" in await told(bob, "mailbox_check")


class TestMoreThanOneAnswerHolds:
    async def test_a_note_is_seen_behind_any_number_of_letters(self, engine: Engine) -> None:
        async with serving(engine, limits=Limits(page=3)) as strict:
            (alice,) = await people(strict.office, "alice")
            for number in range(5):
                await write(strict.office, alice, "bob", subject=f"hole {number}")
            await strict.office.note(alice, "T-7", "task", "Begun", ["bob"])
            async with as_agent(strict, "bob") as bob:
                assert [note["content"] for note in (await call(bob, "mailbox_check"))["notes"]] == ["Begun"]

    async def all_of(self, caller: Client, tool: str, listed: str, **arguments: Any) -> list[Any]:
        """The list in all its answers, each of which says that it goes on."""
        found: list[Any] = []
        cursor: str | None = None
        while True:
            asked = arguments | ({} if cursor is None else {"cursor": cursor})
            said, answer = await told(caller, tool, **asked), await call(caller, tool, **asked)
            found += answer[listed]
            cursor = answer["cursor"]
            assert (f"There are more: cursor {cursor}." in said) == (cursor is not None)
            if cursor is None:
                return found

    async def test_is_found_by_its_cursor(self, tmp_path: Path) -> None:
        async with serving(SQLiteEngine(tmp_path), limits=Limits(page=3)) as strict:
            (alice,) = await people(strict.office, "alice")
            sent = [await write(strict.office, alice, "bob", "dig", subject=f"hole {number}", type="task") for number in range(5)]
            async with as_agent(strict, "bob") as bob, as_agent(strict, "alice") as asker:
                ids = [one.message_id for one in reversed(sent)]
                assert [task["message_id"] for task in await self.all_of(bob, "mailbox_tasks", "tasks")] == ids
                assert len(await self.all_of(asker, "mailbox_tasks", "tasks", asked_by_me=True, state="pending")) == 5
                sessions = await self.all_of(bob, "mailbox_check", "sessions")
                assert [session["subject"] for session in sessions] == [f"hole {number}" for number in (4, 3, 2, 1, 0)]
                for tool in ("mailbox_tasks", "mailbox_check"):
                    assert (await refusal(bob, tool, cursor="nonsense")).endswith("[bad_cursor]")


async def test_the_directory_is_not_read_in_anothers_name(desk: Served) -> None:
    key = await join(desk, "keyed")
    async with as_agent(desk, "alice") as alice, as_agent(desk, "keyed", key=key) as keyed:
        assert (await call(alice, "mailbox_agents", agent_id="Alice"))["agents"]
        for caller in (alice, keyed):
            assert (await refusal(caller, "mailbox_agents", agent_id="bob")).endswith("[not_you]")

"""`mailbox_wait`: wakes with the mail, is empty in time, and says now and then that it is still there."""

import asyncio
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path

import pytest

from postoffice.core.limits import Limits
from postoffice.doors.mcp import call as calls
from tests.doors.callers import refused
from tests.doors.served import Served, serving
from tests.engines import SQLiteEngine
from tests.mail import people, write
from tests.mcp.calling import ERAS, PATIENCE, as_agent, call, join, post, refusal, result_of, told, waiting

LONG = 60_000


class TestWaiting:
    @pytest.mark.parametrize("era", ERAS)
    async def test_mail_wakes_it(self, served: Served, era: str) -> None:
        """By the hint alone: the office's own look around comes once an hour here."""
        async with as_agent(served, "bob", era=era) as bob, asyncio.timeout(PATIENCE):
            task = asyncio.create_task(call(bob, "mailbox_wait", timeout_ms=LONG))
            await waiting(served, "bob")
            (alice,) = await people(served.office, "alice")
            await write(served.office, alice, "bob", "wake up")
            (mail,) = (await task)["messages"]
            assert (mail["content"], mail["status"], mail["attempt"]) == ("wake up", "leased", 1)

    async def test_a_plain_post_waits_as_well(self, served: Served) -> None:
        async with served.client() as http, asyncio.timeout(PATIENCE):
            task = asyncio.create_task(post(http, "/agents/bob/mcp", "mailbox_wait", timeout_ms=LONG))
            await waiting(served, "bob")
            (alice,) = await people(served.office, "alice")
            await write(served.office, alice, "bob", "wake up")
            assert [mail["content"] for mail in (await task).json()["messages"]] == ["wake up"]

    @pytest.mark.parametrize("era", ERAS)
    async def test_nothing_in_time_is_an_empty_answer(self, desk: Served, era: str) -> None:
        async with as_agent(desk, "bob", era=era) as bob:
            for timeout in (0, 50):
                assert await call(bob, "mailbox_wait", timeout_ms=timeout) == {"messages": [], "acked": []}
            assert await told(bob, "mailbox_wait", timeout_ms=0) == "No messages are waiting."

    async def test_mail_for_somebody_else_or_of_another_mark_does_not_end_it(self, served: Served) -> None:
        async with as_agent(served, "bob") as bob, asyncio.timeout(PATIENCE):
            task = asyncio.create_task(call(bob, "mailbox_wait", timeout_ms=LONG, correlation_id="mine"))
            await waiting(served, "bob")
            (alice,) = await people(served.office, "alice")
            await write(served.office, alice, "carol", "not his")
            await write(served.office, alice, "bob", "no mark")
            await write(served.office, alice, "bob", "another mark", correlation_id="other")
            await write(served.office, alice, "bob", "his", correlation_id="mine")
            assert [mail["content"] for mail in (await task)["messages"]] == ["his"]

    async def test_one_is_taken_unless_more_are_asked_for(self, desk: Served) -> None:
        (alice,) = await people(desk.office, "alice")
        for number in range(3):
            await write(desk.office, alice, "bob", str(number))
        async with as_agent(desk, "bob") as bob:
            assert len((await call(bob, "mailbox_wait"))["messages"]) == 1
            assert len((await call(bob, "mailbox_wait", limit=5))["messages"]) == 2

    @pytest.mark.parametrize("era", ERAS)
    async def test_what_is_not_asked_for_goes_by_the_settings(self, tmp_path: Path, era: str) -> None:
        """An office that gives out less, or lets nobody wait for long, is no reason to be refused."""
        few = Limits(receive=3, batch=5, wait=timedelta(0), wait_most=timedelta(seconds=20))
        async with serving(SQLiteEngine(tmp_path), limits=few) as strict:
            (alice,) = await people(strict.office, "alice")
            for number in range(4):
                await write(strict.office, alice, "bob", str(number))
            async with as_agent(strict, "bob", era=era) as bob, asyncio.timeout(PATIENCE):
                assert len((await call(bob, "mailbox_receive"))["messages"]) == 3
                assert len((await call(bob, "mailbox_wait"))["messages"]) == 1
                assert (await call(bob, "mailbox_wait"))["messages"] == []
                assert (await refusal(bob, "mailbox_receive", limit=6)).endswith("[bad_limit]")

    async def test_many_waiters_each_get_their_own(self, served: Served) -> None:
        async with AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(as_agent(served, "bob", era=ERAS[n % 2])) for n in range(8)]
            tasks = [asyncio.create_task(call(one, "mailbox_wait", timeout_ms=LONG)) for one in clients]
            await waiting(served, "bob", 8)
            (alice,) = await people(served.office, "alice")
            await asyncio.gather(*(write(served.office, alice, "bob", str(number)) for number in range(8)))
            async with asyncio.timeout(PATIENCE):
                got = [[mail["content"] for mail in answer["messages"]] for answer in await asyncio.gather(*tasks)]
        assert sorted(content for contents in got for content in contents) == [str(number) for number in range(8)]
        assert {len(contents) for contents in got} == {1}

    async def test_a_key_that_is_revoked_meanwhile_takes_nothing(self, vault: Served) -> None:
        key = await join(vault, "bob", "*")
        alice = await vault.office.identify(key=await join(vault, "alice"))
        async with vault.client(key=key) as http, asyncio.timeout(PATIENCE):
            task = asyncio.create_task(post(http, "/agents/bob/mcp", "mailbox_wait", timeout_ms=LONG))
            await waiting(vault, "bob")
            await vault.office.revoke_keys(await vault.office.identify(key=key))
            refused(await task, 401, "bad_key")
            await write(vault.office, alice, "bob")
            assert (await vault.office.counts(vault.office.owner(), of="bob")).pending == 1

    @pytest.mark.parametrize(("path", "said"), [("/agents/bob/mcp", {}), ("/mcp", {"agent_id": "bob"})])
    async def test_a_bare_name_that_gets_a_key_meanwhile_takes_nothing(self, desk: Served, path: str, said: dict[str, str]) -> None:
        async with desk.client() as http, asyncio.timeout(PATIENCE):
            task = asyncio.create_task(post(http, path, "mailbox_wait", timeout_ms=LONG, **said))
            await waiting(desk, "bob")
            await desk.office.register("bob", by=desk.office.owner())
            refused(await task, 401, "key_required")

    async def test_an_office_that_closes_lets_it_go(self, desk: Served) -> None:
        async with as_agent(desk, "bob") as bob, asyncio.timeout(PATIENCE):
            task = asyncio.create_task(call(bob, "mailbox_wait", timeout_ms=LONG))
            await waiting(desk, "bob")
            desk.office.drain()
            assert (await task)["messages"] == []


class TestProgress:
    @pytest.mark.parametrize(("era", "arguments", "lasts"), [(ERAS[0], {"timeout_ms": LONG}, LONG / 1000), (ERAS[1], {}, 25)])
    async def test_a_client_that_asks_hears_that_it_is_still_served(
        self, served: Served, era: str, arguments: dict[str, int], lasts: float, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(calls, "_PROGRESS_SECONDS", 0.05)
        heard: list[tuple[float, float | None]] = []
        enough = asyncio.Event()

        async def progress(done: float, total: float | None, _: str | None) -> None:
            heard.append((done, total))
            if len(heard) >= 3:
                enough.set()

        async with as_agent(served, "bob", era=era) as bob, asyncio.timeout(PATIENCE):
            task = asyncio.create_task(bob.call_tool("mailbox_wait", arguments, progress_callback=progress))
            await enough.wait()
            (alice,) = await people(served.office, "alice")
            await write(served.office, alice, "bob", "at last")
            result = await task
        assert [mail["content"] for mail in (result.structured_content or {})["messages"]] == ["at last"]
        assert [done for done, _ in heard] == sorted({done for done, _ in heard})
        assert {total for _, total in heard} == {lasts}

    async def test_a_timeout_after_progress_is_still_an_empty_answer(self, desk: Served, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(calls, "_PROGRESS_SECONDS", 0.02)
        heard: list[float] = []

        async def progress(done: float, _: float | None, __: str | None) -> None:
            heard.append(done)

        async with as_agent(desk, "bob") as bob:
            result = await bob.call_tool("mailbox_wait", {"timeout_ms": 200}, progress_callback=progress)
            assert result.structured_content == {"messages": [], "acked": []}
            assert heard
            heard.clear()
            await result_of(bob, "mailbox_wait", timeout_ms=100)
            assert heard == []

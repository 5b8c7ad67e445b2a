"""Between two agents at home in the files: delivered without the office, which keeps a settled copy."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest

from postoffice.bridges.files import bridge
from postoffice.core.errors import Unavailable
from postoffice_files import task_update
from postoffice_files.clock import parse_instant
from tests.doors.callers import Callers, done, send, take
from tests.doors.served import serving
from tests.engines import Engine, SQLiteEngine
from tests.files.agent import FileAgent, drop, text_of
from tests.files.conftest import Settle
from tests.files.waiting import known
from tests.proof.patience import until

CALLBACK = {"session_id": "feishu:user_123", "channel": "feishu"}


@pytest.fixture
async def owner(callers: Callers) -> httpx.AsyncClient:
    return await callers.owner()


async def history(owner: httpx.AsyncClient, one: str, other: str, count: int) -> list[dict[str, Any]]:
    """What the office keeps of two agents' mail, oldest first, once it is so much."""
    lines: list[dict[str, Any]] = []

    async def enough() -> bool:
        lines.clear()
        shown = await owner.get("/search", params={"q": "word", "everyone": "true", "limit": 200})
        lines.extend(hit["message"] for hit in done(shown)["results"] if {hit["message"]["from"], hit["message"]["to"]} == {one, other})
        return len(lines) >= count

    await until(enough)
    assert len(lines) == count
    return lines[::-1]


class TestCopies:
    async def test_the_office_keeps_what_was_said_and_hands_it_to_nobody(
        self, callers: Callers, owner: httpx.AsyncClient, at_home: Settle
    ) -> None:
        one, other = at_home("one"), at_home("other")
        for n in range(3):
            one.send("other", f"word {n}", subject="Build")
        assert [text_of(message) for message in await other.take(3)] == [f"word {n}" for n in range(3)]
        kept = await history(owner, "one", "other", 3)
        assert [letter["content"] for letter in kept] == [f"word {n}" for n in range(3)]
        (as_other,) = await callers.named("other")
        (session,) = done(await as_other.get("/inbox"))["sessions"]
        assert (session["subject"], session["unread_count"]) == ("Build", 0)
        assert await take(as_other) == []
        (standing,) = done(await owner.get(f"/messages/{kept[0]['id']}/status"))["standings"]
        assert (standing["recipient"], standing["state"], standing["attempts"]) == ("other", "acked", 0)
        assert other.waiting == []

    @pytest.mark.usefixtures("deaf")
    async def test_what_was_handled_before_the_system_tells_of_a_new_folder_is_kept(self, tmp_path: Path, root: Path) -> None:
        """News of a folder comes once it is watched, and that takes the system a moment."""
        async with serving(SQLiteEngine(tmp_path), files=root) as served, Callers(served) as callers:
            owner = await callers.owner()
            one, other = FileAgent(root, "one").join(), FileAgent(root, "other").join()
            await known(owner, "one", "other")
            one.send("other", "word")
            await other.take()
            await history(owner, "one", "other", 1)

    async def test_a_reply_is_kept_in_the_conversation_it_answers(self, owner: httpx.AsyncClient, at_home: Settle) -> None:
        one, other = at_home("one"), at_home("other")
        one.send("other", "word", subject="Build")
        (message,) = await other.take()
        await history(owner, "one", "other", 1)
        other.send("one", "word back", reply_to=message["id"])
        await one.take()
        asked, answered = await history(owner, "one", "other", 2)
        assert answered["reply_to"] == asked["client_id"]
        assert answered["subject"] == "Build"

    @pytest.mark.parametrize("name", ["anything.msg.json", "1745659200_one.msg.json"])
    async def test_a_file_of_any_name_is_kept_unless_it_is_old(
        self, owner: httpx.AsyncClient, at_home: Settle, root: Path, name: str
    ) -> None:
        one = at_home("one")
        at_home("other")
        drop(root, "other", {"from": "one", "content": "word by hand"}, name)
        one.send("other", "word by the library")
        old = name.startswith("1745659200")  # April 2025: the office may have forgotten by now that it has it
        assert len(await history(owner, "one", "other", 1 if old else 2)) == (1 if old else 2)

    async def test_a_name_that_comes_again_is_kept_again(self, owner: httpx.AsyncClient, at_home: Settle, root: Path) -> None:
        at_home("one")
        other = at_home("other")
        for count in range(1, 4):
            drop(root, "other", {"from": "one", "content": "word of the night"}, "nightly.msg.json")
            await other.take()
            await history(owner, "one", "other", count)

    async def test_a_file_written_in_place_is_kept_once_it_is_whole(self, owner: httpx.AsyncClient, at_home: Settle) -> None:
        one, other = at_home("one"), at_home("other")
        with (other.home / "inbox" / "slow.msg.json").open("w") as file:
            file.write('{"from": "one", ')
            file.flush()
            one.send("other", "word meanwhile")
            await history(owner, "one", "other", 1)
            file.write('"content": "word by word"}')
        await history(owner, "one", "other", 2)

    async def test_a_report_on_mail_more_than_a_week_old_is_kept(self, owner: httpx.AsyncClient, at_home: Settle) -> None:
        """It bears the time of what it answers in its name, so that it is sent once, and its own within."""
        one = at_home("one")
        at_home("other")
        now = datetime.now(UTC)
        asked = int((now - timedelta(days=8)).timestamp()) * 1_000_000
        one.mail.deliver("one", "other", {"content": "word at last", "timestamp": now.isoformat()}, at=asked, key="last")
        await history(owner, "one", "other", 1)

    async def test_no_rate_keeps_out_what_is_delivered_already(self, tmp_path: Path, root: Path) -> None:
        one, other = FileAgent(root, "one").join(), FileAgent(root, "other").join()
        async with serving(SQLiteEngine(tmp_path), files=root, limits={"sends_per_minute": 2}) as served, Callers(served) as callers:
            owner = await callers.owner()
            await known(owner, "one", "other")
            for n in range(5):
                one.send("other", f"word {n}")
            await other.take(5)
            await history(owner, "one", "other", 5)

    async def test_what_was_handled_while_the_office_could_not_keep_it_is_kept_later(
        self, callers: Callers, owner: httpx.AsyncClient, at_home: Settle, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one, other = at_home("one"), at_home("other")
        await known(owner, "one", "other")
        tried: list[object] = []

        async def away(*given: object) -> None:
            tried.append(given)
            raise Unavailable(why="the database is away")

        with monkeypatch.context() as outage:
            outage.setattr(callers.served.office, "send", away)
            one.send("other", "word in between")
            await other.take()
            await until(lambda: tried)
        await history(owner, "one", "other", 1)

    async def test_what_was_written_while_the_office_was_closed_is_kept_in_order(self, engine: Engine, root: Path) -> None:
        """The one who asked comes first in the alphabet, so its inbox, with the answer, is looked into first."""
        asker, doer = FileAgent(root, "asker").join(), FileAgent(root, "doer").join()
        asker.send("doer", "word: do it", type="task", task={"id": "t1"})
        (task,) = await doer.take()
        doer.mail.send("doer", "asker", task_update(task, "working", "word: at it"))
        doer.mail.send("doer", "asker", task_update(task, "completed", "word: done"))
        await asker.take(2)
        for _ in range(2):  # and once, however often it is opened
            async with serving(engine, files=root) as served, Callers(served) as callers:
                owner = await callers.owner()
                kept = await history(owner, "asker", "doer", 3)
                assert [letter["content"] for letter in kept] == ["word: do it", "word: at it", "word: done"]
                shown = done(await owner.get("/tasks/t1"))
                assert (shown["state"], shown["requester"], shown["assignee"]) == ("completed", "asker", "doer")
        assert (asker.waiting, doer.waiting) == ([], [])

    async def test_what_came_through_the_office_is_not_kept_twice(self, engine: Engine, root: Path) -> None:
        """A file agent's name may be used at another door of an open server; the office hands that over as a file."""
        one, other = FileAgent(root, "one").join(), FileAgent(root, "other").join()
        for count in (2, 3):
            async with serving(engine, files=root) as served, Callers(served) as callers:
                owner = await callers.owner()
                await known(owner, "one", "other")
                if count == 2:
                    (as_one,) = await callers.named("one")
                    await send(as_one, "other", "word through the door")
                    await other.take()
                one.send("other", "word by file")
                await other.take()
                assert len(await history(owner, "one", "other", count)) == count

    async def test_an_empty_message_is_kept_as_empty(self, callers: Callers, at_home: Settle) -> None:
        one, other = at_home("one"), at_home("other")
        one.send("other", {"parts": []}, subject="Nothing")
        await other.take()
        (as_other,) = await callers.named("other")

        async def kept() -> bool:
            return [session["subject"] for session in done(await as_other.get("/inbox"))["sessions"]] == ["Nothing"]

        await until(kept)


class TestTasks:
    async def test_a_task_between_them_is_among_the_tasks(self, owner: httpx.AsyncClient, at_home: Settle) -> None:
        asker, doer = at_home("asker"), at_home("doer")
        asker.send("doer", "do it", type="task", task={"id": "t1"}, callback=CALLBACK)
        (task,) = await doer.take()

        async def becomes(state: str) -> dict[str, Any]:
            shown: dict[str, Any] = {}

            async def so() -> bool:
                tasks = done(await owner.get("/tasks", params={"assignee": "doer"}))["tasks"]
                shown.update(tasks[0] if tasks else {})
                return bool(shown.get("state") == state)

            await until(so)
            return shown

        assert (await becomes("pending"))["callback"] == CALLBACK
        for state in ("accepted", "working", "completed"):
            doer.mail.send("doer", "asker", task_update(task, state, f"now {state}"))
            shown = await becomes(state)
            assert shown["steps"][-1]["text"] == f"now {state}"
        assert [update["callback"] for update in await asker.take(3)] == [CALLBACK] * 3

    async def test_what_is_said_of_one_while_it_is_still_to_be_kept_is_kept_after_it(
        self, tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """There may be a week's files to keep, and the system tells of a new one meanwhile."""
        monkeypatch.setattr(bridge, "_COPIES_AT_ONCE", 2)
        asker, doer = FileAgent(root, "asker").join(), FileAgent(root, "doer").join()
        for n in range(100):
            asker.send("doer", f"word {n}")
        asker.send("doer", "do it", type="task", task={"id": "t1"})
        *_, task = await doer.take(101)
        async with serving(SQLiteEngine(tmp_path), files=root) as served, Callers(served) as callers:
            owner = await callers.owner()

            async def begun() -> bool:
                return bool(done(await owner.get("/search", params={"q": "word", "everyone": "true"}))["results"])

            await until(begun)
            doer.mail.send("doer", "asker", task_update(task, "completed", "done"))
            await asker.take()

            async def completed() -> bool:
                return [task["state"] for task in done(await owner.get("/tasks", params={"assignee": "doer"}))["tasks"]] == ["completed"]

            await until(completed)

    async def test_reports_that_bear_the_time_of_their_task_are_kept_after_it(self, tmp_path: Path, root: Path) -> None:
        """As nanobot's do, so that each is sent once: by their names they come before it."""
        asker, doer = FileAgent(root, "asker").join(), FileAgent(root, "doer").join()
        asker.send("doer", "do it", type="task", task={"id": "t1"})
        (task,) = await doer.take()
        at = parse_instant(task["timestamp"])
        for order, state in enumerate(("accepted", "working", "completed")):
            doer.mail.deliver("doer", "asker", task_update(task, state, f"now {state}"), at=at, key=state, order=order)
        await asker.take(3)
        async with serving(SQLiteEngine(tmp_path), files=root) as served, Callers(served) as callers:
            owner = await callers.owner()

            async def completed() -> bool:
                answer = await owner.get("/tasks/t1")
                return answer.status_code == 200 and done(answer)["state"] == "completed"

            await until(completed)
            steps = done(await owner.get("/tasks/t1"))["steps"][-3:]
            assert [step["text"] for step in steps] == ["now accepted", "now working", "now completed"]

    async def test_one_not_finished_in_time_is_reported_to_its_asker_once(self, engine: Engine, root: Path) -> None:
        asker, doer = FileAgent(root, "asker").join(), FileAgent(root, "doer").join()
        async with serving(engine, files=root) as served, Callers(served) as callers:
            owner = await callers.owner()
            deadline = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
            asker.send("doer", "do it", type="task", task={"id": "t1", "state": "pending", "deadline": deadline})
            await doer.take()

            async def kept() -> bool:
                return bool(done(await owner.get("/tasks", params={"assignee": "doer"}))["tasks"])

            await until(kept)
            await engine.advance(timedelta(hours=2))
            for _ in range(3):
                await served.office.upkeep.sweep()
            (notice,) = await asker.take()
            assert notice["from"] == "system"
            assert "t1" in text_of(notice)
            asker.send("asker", "to myself")
            assert [text_of(message) for message in await asker.take()] == ["to myself"]

"""The same cards and signs of life on both sides, and where each agent is at home."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest

from postoffice.bridges.files import directory
from postoffice.bridges.files.tree import Tree
from postoffice_files import MailboxManager
from tests.cli.home import Home, opened
from tests.doors.callers import Callers, done, send, take
from tests.doors.served import Served, serving
from tests.engines import Engine, SQLiteEngine
from tests.files.agent import FileAgent, drop, registry_of, text_of
from tests.files.conftest import Settle
from tests.files.waiting import arrived, stands
from tests.mcp.calling import call, client
from tests.proof.patience import until

CARD = {"description": "writes code", "capabilities": ["code_write", "review"], "max_concurrent_tasks": 2}


async def listed(anyone: httpx.AsyncClient, name: str, **wanted: Any) -> dict[str, Any]:
    """An agent as REST shows it, once it is as wanted."""
    shown: dict[str, Any] = {}

    async def so() -> bool:
        answer = await anyone.get(f"/agents/{name}")
        shown.clear()
        shown.update(answer.json() if answer.status_code == 200 else {})
        return bool(shown) and all(shown[field] == value for field, value in wanted.items())

    await until(so)
    return shown


async def carded(mail: MailboxManager, name: str, **wanted: Any) -> dict[str, Any]:
    """An agent as the registry shows it, once it is as wanted."""
    shown: dict[str, Any] = {}

    def so() -> bool:
        card = mail.get_agent(name)
        shown.update(card or {})
        return card is not None and all(card[field] == value for field, value in wanted.items())

    await until(so)
    return shown


class TestFileAgents:
    async def test_its_card_and_presence_are_shown_by_rest(self, callers: Callers, at_home: Settle) -> None:
        at_home("coder", **CARD)
        (alice,) = await callers.named("alice")
        shown = await listed(alice, "coder", presence="idle", **CARD)
        assert (shown["has_key"], shown["current_tasks"]) == (False, 0)
        assert "coder" in {agent["name"] for agent in done(await alice.get("/agents"))["agents"]}

    async def test_a_changed_card_is_carried_over(self, callers: Callers, at_home: Settle) -> None:
        coder = at_home("coder", **CARD)
        (alice,) = await callers.named("alice")
        await listed(alice, "coder", **CARD)
        coder.join(description="reviews code", allow_from=["boss"])
        await listed(alice, "coder", description="reviews code", capabilities=[], max_concurrent_tasks=3)
        refusal = await alice.post("/messages/send", json={"to": "coder", "subject": "x", "content": "y"})
        assert (refusal.status_code, refusal.json()["code"]) == (403, "not_admitted")

    async def test_it_is_offline_when_it_says_so_and_back_with_its_next_heartbeat(self, callers: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await callers.named("alice")
        await listed(alice, "coder", presence="idle")
        coder.mail.update_status("coder", "offline")
        await listed(alice, "coder", presence="offline")
        coder.mail.update_status("coder", "idle")
        await listed(alice, "coder", presence="idle")

    async def test_it_is_offline_when_its_heartbeat_stops(self, callers: Callers, at_home: Settle, root: Path) -> None:
        at_home("coder")
        (alice,) = await callers.named("alice")
        await listed(alice, "coder", presence="idle")
        with registry_of(root) as cards:
            cards["coder"]["last_heartbeat"] = "2026-01-01T00:00:00Z"
        await listed(alice, "coder", presence="offline")
        # So it is for whoever reads the file itself.
        await until(lambda: json.loads((root / "_registry.json").read_text())["coder"]["status"] == "offline")

    async def test_a_heartbeat_is_a_sign_of_life_in_the_office(self, desk: Served, callers: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await callers.named("alice")
        await listed(alice, "coder", presence="idle")
        before = (await desk.office.agent("coder")).last_seen

        async def seen() -> bool:
            coder.mail.heartbeat("coder")
            await desk.office._presences.flush(desk.office.store)
            return (await desk.office.agent("coder")).last_seen != before

        await until(seen)

    async def test_it_is_busy_with_the_tasks_of_any_door(self, callers: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await callers.named("alice")
        await send(alice, "coder", "do it", type="task", task={"id": "t1"})
        (task,) = await coder.take()
        coder.send("alice", "", type="task_update", task={"id": "t1", "state": "working"}, reply_to=task["id"])
        await listed(alice, "coder", presence="busy", current_tasks=1)
        coder.send("alice", "", type="task_update", task={"id": "t1", "state": "completed"}, reply_to=task["id"])
        await listed(alice, "coder", presence="idle", current_tasks=0)

    async def test_agents_that_join_while_it_runs_are_served(self, callers: Callers, at_home: Settle) -> None:
        (alice,) = await callers.named("alice")
        for name in ("one", "two", "three"):
            agent = at_home(name)
            await send(alice, name, f"welcome {name}")
            assert [text_of(message) for message in await agent.take()] == [f"welcome {name}"]

    async def test_mcp_shows_it(self, desk: Served, callers: Callers, at_home: Settle) -> None:
        at_home("coder", **CARD)
        (alice,) = await callers.named("alice")
        await listed(alice, "coder", presence="idle")
        async with client(desk, "/mcp") as anyone:
            shown = (await call(anyone, "mailbox_agents", agent_id="alice"))["agents"]
        (coder,) = [agent for agent in shown if agent["name"] == "coder"]
        assert {field: coder[field] for field in CARD} | {"presence": coder["presence"]} == CARD | {"presence": "idle"}


class TestTheCommand:
    async def test_it_shows_file_agents_with_their_cards_and_presence(self, tmp_path: Path) -> None:
        root = tmp_path / "mailboxes"
        FileAgent(root, "coder").join(**CARD)
        FileAgent(root, "gone").join().mail.update_status("gone", "offline")
        with opened(tmp_path / "data", "--files", str(root)) as office:
            home = Home(tmp_path / "home", office)
            agents: dict[str, Any] = {}

            async def both() -> bool:
                answer = await asyncio.to_thread(home.ask, "agents", "--as", "alice")
                agents.update({agent["name"]: agent for agent in answer["agents"]})
                return {"coder", "gone"} <= agents.keys() and agents["gone"]["presence"] == "offline"

            await until(both)
        assert (agents["coder"]["description"], agents["coder"]["presence"]) == ("writes code", "idle")


class TestOfficeAgents:
    async def test_they_are_in_the_registry_with_their_cards(self, callers: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        await callers.join("reviewer", description="reviews", capabilities=["review"], allow_from=["coder"], max_concurrent_tasks=7)
        card = await carded(coder.mail, "reviewer", home="office")
        assert (card["description"], card["capabilities"], card["allow_from"]) == ("reviews", ["review"], ["coder"])
        assert (card["max_concurrent_tasks"], card["current_tasks"]) == (7, [])
        await callers.join("hermit")
        assert (await carded(coder.mail, "hermit"))["allow_from"] == []

    async def test_they_are_online_offline_and_busy_as_the_office_has_it(self, callers: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await callers.named("alice")
        done(await alice.get("/agents/me"))
        await carded(coder.mail, "alice", status="idle")
        assert "alice" in {card["agent_id"] for card in coder.mail.list_online_agents()}
        done(await alice.post("/agents/me/leave"))
        await carded(coder.mail, "alice", status="offline")
        assert "alice" not in {card["agent_id"] for card in coder.mail.list_online_agents()}
        coder.send("alice", "do it", type="task", task={"id": "t1"})
        await until(lambda: not FileAgent(coder.home.parent, "alice").waiting)
        done(await alice.post("/tasks/t1/update", json={"state": "working"}))
        await carded(coder.mail, "alice", status="busy", current_tasks=["t1"])

    async def test_the_office_and_its_owner_are_nobody_s_correspondents(self, callers: Callers, at_home: Settle, root: Path) -> None:
        coder = at_home("coder")
        (bob,), owner = await callers.named("bob"), await callers.owner()
        for caller in (owner, bob):
            done(await caller.get("/agents/me"))
        await carded(coder.mail, "bob")
        assert {"system", "owner"}.isdisjoint(json.loads((root / "_registry.json").read_text()))

    async def test_whoever_keeps_the_registry_otherwise_loses_nobody(self, callers: Callers, at_home: Settle, root: Path) -> None:
        coder = at_home("coder")
        (alice,) = await callers.named("alice")
        done(await alice.get("/agents/me"))
        await carded(coder.mail, "alice")
        (root / "_registry.json").write_text("{}")
        await carded(coder.mail, "alice")
        coder.mail.heartbeat("coder")
        assert (await carded(coder.mail, "coder")).get("home") is None

    async def test_one_that_cannot_have_a_folder_keeps_nobody_else_out(self, callers: Callers, at_home: Settle, root: Path) -> None:
        (root / "elsewhere").mkdir(parents=True)
        (root / "linked").symlink_to(root / "elsewhere")
        coder = at_home("coder")
        dotted, linked, alice = await callers.named("dotted.", "linked", "alice")
        for agent in (dotted, linked, alice):
            done(await agent.get("/agents/me"))
        await carded(coder.mail, "alice")
        coder.send("alice", "hello")

        async def came() -> bool:
            return bool(await take(alice))

        await until(came)


class TestMovingOut:
    @pytest.fixture
    def _at_once(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(directory, "_CARDLESS_SECONDS", 0.0)

    def forget(self, root: Path, name: str) -> None:
        """Take a card out of the registry, as somebody with an editor does."""
        with registry_of(root) as cards:
            del cards[name]

    @pytest.mark.usefixtures("_at_once")
    async def test_what_it_has_not_handled_waits_in_the_office_again(self, callers: Callers, at_home: Settle, root: Path) -> None:
        coder = at_home("coder")
        alice, same = await callers.named("alice", "coder")
        refs = [(await send(alice, "coder", text))["message_id"] for text in ("done", "refused", "left")]
        first, second, _ = await coder.hold(3)
        coder.done(first)
        coder.mail.refuse("coder", second["filename"], "no")
        self.forget(root, "coder")
        for ref, state in zip(refs, ("acked", "dead", "pending"), strict=True):
            await stands(alice, ref, state)
        assert [letter["content"] for letter in await take(same)] == ["left"]
        await until(lambda: not coder.waiting)

    async def test_what_it_has_not_handled_waits_again_also_if_it_moved_out_while_nobody_served(
        self, engine: Engine, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(directory, "_CARDLESS_SECONDS", 0.5)  # some looks around before it is clear that it has
        coder = FileAgent(root, "coder").join()
        async with serving(engine, files=root) as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            refs = [(await send(alice, "coder", text))["message_id"] for text in ("done", "refused", "left")]
            first, second = await coder.hold(2)
            for ref in refs:
                await stands(alice, ref, "leased")
        coder.done(first)
        coder.mail.refuse("coder", second["filename"], "no")
        self.forget(root, "coder")
        async with serving(engine, files=root) as served, Callers(served) as callers:
            alice, same = await callers.named("alice", "coder")
            for ref, state in zip(refs, ("acked", "dead", "pending"), strict=True):
                await stands(alice, ref, state)
            assert [letter["content"] for letter in await take(same)] == ["left"]
            await until(lambda: not coder.waiting)

    async def test_what_lies_here_waits_for_a_card_that_was_lost_while_nobody_served(self, tmp_path: Path, root: Path) -> None:
        engine, coder, writer = SQLiteEngine(tmp_path), FileAgent(root, "coder").join(), FileAgent(root, "writer").join()
        async with serving(engine, files=root) as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            ref = (await send(alice, "coder", "patience"))["message_id"]
            await until(lambda: coder.waiting)
            await stands(alice, ref, "leased")
        self.forget(root, "coder")
        writer.send("dora", "hello")
        async with serving(engine, files=root) as served, Callers(served) as callers:
            alice, dora = await callers.named("alice", "dora")
            await arrived(dora)  # whose folder is looked into after coder's
            coder.join()
            assert [text_of(message) for message in await coder.take()] == ["patience"]
            await stands(alice, ref, "acked")

    @pytest.mark.usefixtures("_at_once")
    async def test_one_whose_mail_cannot_be_taken_back_for_now_keeps_nobody_waiting_and_may_come_back(
        self, callers: Callers, at_home: Settle, root: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        coder, writer = at_home("coder"), at_home("writer")
        (alice,) = await callers.named("alice")
        ref = (await send(alice, "coder", "patience"))["message_id"]
        await until(lambda: coder.waiting)
        await stands(alice, ref, "leased")
        tried: list[str] = []

        async def refuse(_: Tree, agent: str, __: list[str]) -> dict[str, str]:
            tried.append(agent)
            raise PermissionError(13, "Permission denied")

        with monkeypatch.context() as locked:
            locked.setattr(Tree, "reasons", refuse)
            self.forget(root, "coder")
            await until(lambda: tried)
            writer.send("alice", "hello")
            await arrived(alice)
            coder.join()
            await send(alice, "coder", "welcome")
            assert [text_of(message) for message in await coder.hold(2)] == ["patience", "welcome"]

    @pytest.mark.usefixtures("_at_once")
    async def test_one_that_took_its_folder_along_has_handled_nothing_by_that(self, engine: Engine, root: Path) -> None:
        coder = FileAgent(root, "coder").join()
        async with serving(engine, files=root) as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            ref = (await send(alice, "coder", "left"))["message_id"]
            await stands(alice, ref, "leased")
            await until(lambda: coder.waiting)
        self.forget(root, "coder")
        shutil.rmtree(coder.home)
        async with serving(engine, files=root) as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            await stands(alice, ref, "pending")

    @pytest.mark.usefixtures("_at_once")
    @pytest.mark.parametrize("what", ["", "inbox"])
    async def test_what_was_in_a_folder_that_is_none_any_more_waits_in_the_office_again(
        self, callers: Callers, at_home: Settle, root: Path, what: str
    ) -> None:
        coder = at_home("coder")
        (alice,) = await callers.named("alice")
        ref = (await send(alice, "coder", "left"))["message_id"]
        await until(lambda: coder.waiting)  # it is leased before it lies there
        (coder.home / what).rename(root.parent / "elsewhere")
        (coder.home / what).symlink_to(root.parent / "elsewhere")
        self.forget(root, "coder")
        await stands(alice, ref, "pending")
        assert list((root.parent / "elsewhere").rglob("*.msg.json"))

    @pytest.mark.usefixtures("_at_once")
    async def test_one_that_comes_back_gets_it_as_a_file_again(self, callers: Callers, at_home: Settle, root: Path) -> None:
        coder = at_home("coder")
        (alice,) = await callers.named("alice")
        ref = (await send(alice, "coder", "patience"))["message_id"]
        await until(lambda: coder.waiting)
        self.forget(root, "coder")
        await stands(alice, ref, "pending")
        coder.join()
        assert [text_of(message) for message in await coder.take()] == ["patience"]
        await stands(alice, ref, "acked")

    async def test_a_card_that_is_missing_for_a_moment_moves_nobody_out(self, callers: Callers, at_home: Settle, root: Path) -> None:
        """Seed 002's own writers drop cards of others, who enter themselves again with their next heartbeat."""
        coder = at_home("coder")
        (alice,) = await callers.named("alice")
        await send(alice, "coder", "one")
        await until(lambda: coder.waiting)
        before = coder.waiting
        self.forget(root, "coder")
        await carded(coder.mail, "alice")
        await send(alice, "coder", "two")
        await until(lambda: len(coder.waiting) == 2)
        coder.mail.heartbeat("coder")
        assert before[0] in coder.waiting
        assert [text_of(message) for message in await coder.take(2)] == ["one", "two"]

    async def test_a_registry_that_cannot_be_read_moves_nobody_out(self, callers: Callers, at_home: Settle, root: Path) -> None:
        coder = at_home("coder")
        (alice,) = await callers.named("alice")
        await send(alice, "coder", "one")
        await until(lambda: coder.waiting)
        (root / "_registry.json").write_text('{"coder": {"agent_id"')
        await send(alice, "coder", "two")
        await until(lambda: len(coder.waiting) == 2)
        coder.send("alice", "still here")

        async def came() -> bool:
            return [letter["content"] for letter in await take(alice)] == ["still here"]

        await until(came)
        coder.mail.heartbeat("coder")
        assert [text_of(message) for message in await coder.take(2)] == ["one", "two"]

    async def test_a_stranger_s_file_waits_while_nobody_knows_who_is_at_home(self, tmp_path: Path, root: Path) -> None:
        root.mkdir()
        (root / "_registry.json").write_text("torn")
        drop(root, "alice", {"from": "coder", "content": "am I known?"})
        async with serving(SQLiteEngine(tmp_path), files=root) as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            await until(lambda: list((root / "alice" / "claims").glob("*")) if (root / "alice" / "claims").exists() else [])
            assert not list((root / "alice" / "bad").iterdir())
            FileAgent(root, "coder").join()

            async def came() -> bool:
                return [letter["content"] for letter in await take(alice)] == ["am I known?"]

            await until(came)

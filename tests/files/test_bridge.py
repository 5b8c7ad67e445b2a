"""Mail crosses between the files and every other door: what arrives, in which order, and what becomes of it."""

import asyncio
import json
import math
import time
from pathlib import Path
from typing import Any

import pytest

from postoffice.bridges.files import bridge
from postoffice.bridges.files.lying import File
from postoffice.bridges.files.tree import Tree
from postoffice.office.deliveries import Deliveries
from postoffice_files.home import make
from tests.doors.callers import Callers, done, send, take
from tests.doors.served import Served, serving
from tests.doors.sockets import heard_of, plugged
from tests.engines import Engine, SQLiteEngine
from tests.files.agent import FileAgent, drop, text_of
from tests.files.conftest import Settle
from tests.files.waiting import arrived, known, standing, stands
from tests.mcp.calling import call, client, post
from tests.proof.patience import BOUND, until

PARTS = [{"type": "text", "text": "Grüße 👋"}, {"type": "data", "data": {"n": [1, None, {"x": 0.5}]}}, {"type": "file", "path": "/a/b c"}]


class TestToTheFiles:
    async def test_a_letter_from_rest_lies_in_the_inbox_in_the_seed_s_json(self, everywhere: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await everywhere.named("alice")
        sent = await send(alice, "coder", "Lunch?", id="lunch-1", correlation_id="c-1", metadata={"k": [1]})
        await until(lambda: coder.waiting)
        (path,) = coder.waiting
        written = json.loads(path.read_text())
        assert list(written)[:12] == [
            "id",
            "from",
            "to",
            "timestamp",
            "type",
            "ttl",
            "trace",
            "task",
            "content",
            "callback",
            "reply_to",
            "metadata",
        ]
        assert [written[name] for name in ("id", "from", "to", "type", "ttl", "trace")] == [
            "lunch-1",
            "alice",
            "coder",
            "message",
            3,
            ["alice"],
        ]
        assert written["content"] == {"parts": [{"type": "text", "text": "Lunch?"}]}
        assert (written["subject"], written["correlation_id"], written["metadata"]) == ("Lunch", "c-1", {"k": [1]})
        assert (written["message_id"], written["session_id"]) == (sent["message_id"], sent["session_id"])
        assert written["from_verified"] is False

    async def test_a_letter_to_a_list_lies_in_the_inbox_and_is_answered_to_its_author(self, callers: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await callers.named("alice")
        await known(alice, "coder")
        done(await alice.post("/lists", json={"name": "#crew", "members": ["coder"]}), 201)
        sent = done(await alice.post("/messages/send", json={"to": "#crew", "content": "who is in?"}), 201)
        (message,) = await coder.hold()
        assert (message["list"], message["session_id"], text_of(message)) == ("#crew", sent["session_id"], "who is in?")
        coder.send("alice", "me", reply_to=message["id"], session_id=message["session_id"])
        coder.done(message)
        assert (await stands(alice, sent["message_id"], "acked"))["recipient"] == "coder"
        (answer,) = await arrived(alice)
        assert answer["content"] == "me"

    @pytest.mark.parametrize("name", ["a..b", "bob.", "x...", "1.2"])
    async def test_whatever_the_sender_is_called_its_letter_is_read_and_can_be_answered(
        self, callers: Callers, at_home: Settle, name: str
    ) -> None:
        coder = at_home("coder")
        (sender,) = await callers.named(name)
        sent = await send(sender, "coder", "read me")
        (message,) = await coder.hold()
        assert (message["from"], text_of(message)) == (name, "read me")
        assert (await stands(sender, sent["message_id"], "leased"))["attempts"] == 1
        coder.send(name, "read", reply_to=message["id"])
        assert [letter["content"] for letter in await arrived(sender)] == ["read"]

    async def test_what_a_letter_carries_is_named_in_its_file_and_fetched_over_rest(self, everywhere: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        alice, agent = await everywhere.named("alice", "coder")
        brought = done(await alice.post("/attachments", params={"name": "x.txt"}, content=b"the bytes"), 201)
        await send(alice, "coder", "Look", attachments=[brought])
        await until(lambda: coder.waiting)
        (path,) = coder.waiting
        assert json.loads(path.read_text())["attachments"] == [brought]
        assert (await agent.get(f"/attachments/{brought['digest']}")).content == b"the bytes"

    async def test_what_is_handed_over_is_leased_until_it_is_processed(self, everywhere: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await everywhere.named("alice")
        sent = await send(alice, "coder")
        (message,) = await coder.hold()
        leased = await stands(alice, sent["message_id"], "leased")
        assert leased["due_at"] is None
        coder.done(message)
        acked = await stands(alice, sent["message_id"], "acked")
        assert acked["attempts"] == 1

    async def test_a_task_that_is_canceled_has_failed_for_that_reason(self, everywhere: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await everywhere.named("alice")
        asked = await send(alice, "coder", type="task")
        (message,) = await coder.hold()
        canceled = {"state": "canceled", "content": "no need"}
        assert done(await alice.post(f"/tasks/{asked['message_id']}/update", json=canceled))["state"] == "canceled"
        (told,) = await coder.take()
        assert (told["type"], told["task"], text_of(told)) == ("task_update", {"id": asked["message_id"], "state": "failed"}, "no need")
        assert told["metadata"] == {"reason": "canceled"}
        coder.done(message)
        await stands(alice, asked["message_id"], "acked")

    async def test_what_is_gone_is_acked(self, everywhere: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await everywhere.named("alice")
        sent = await send(alice, "coder")
        await until(lambda: coder.waiting)
        coder.waiting[0].unlink()
        await stands(alice, sent["message_id"], "acked")

    async def test_what_is_set_aside_is_dead_for_that_reason_and_its_sender_told_once(self, everywhere: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await everywhere.named("alice")
        sent = await send(alice, "coder")
        (message,) = await coder.hold()
        coder.mail.refuse("coder", message["filename"], "I do not speak that language")
        dead = await stands(alice, sent["message_id"], "dead")
        assert dead["reason"] == "I do not speak that language"
        (notice,) = await take(alice)
        assert (notice["from"], notice["reply_to"]) == ("system", sent["message_id"])
        assert "I do not speak that language" in notice["content"]
        # The library's own notice to alice, who is not at home in the files, is taken out of the way.
        await until(lambda: not list((coder.home.parent / "alice" / "inbox").iterdir()))
        assert await take(alice) == []

    async def test_what_failed_too_often_is_dead_too(self, everywhere: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await everywhere.named("alice")
        sent = await send(alice, "coder")
        (message,) = await coder.hold()
        while not coder.mail.fail("coder", message["filename"], "out of memory"):
            (message,) = await coder.hold()
        assert (await stands(alice, sent["message_id"], "dead"))["reason"] == "out of memory"

    async def test_a_dead_letter_that_is_requeued_is_a_new_file(self, everywhere: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await everywhere.named("alice")
        owner = await everywhere.owner()
        sent = await send(alice, "coder", "again")
        for _ in range(2):
            (message,) = await coder.hold()
            assert text_of(message) == "again"
            coder.mail.refuse("coder", message["filename"], "not today")
            await stands(alice, sent["message_id"], "dead")
            done(await owner.post(f"/dead-letters/{sent['message_id']}/requeue", params={"of": "coder"}))
        await coder.take()
        await stands(alice, sent["message_id"], "acked")
        assert len(list((coder.home / "bad").glob("*.msg.json"))) == 2

    async def test_a_tool_posted_plainly_reaches_the_files(self, everywhere: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        http = await everywhere.client()
        assert done(await post(http, "/agents/alice/mcp", "send_to_agent", name="coder", msg="hello", msg_id="m-1")) == "m-1"
        (message,) = await coder.take()
        assert (message["id"], message["from"], text_of(message)) == ("m-1", "alice", "hello")

    async def test_an_mcp_client_s_payload_reaches_the_files(self, desk: Served, at_home: Settle) -> None:
        coder = at_home("coder")
        async with client(desk, "/mcp") as anyone:
            await call(anyone, "mailbox_send", from_="alice", to="coder", payload={"deep": [None, {"n": 1}]})
            await call(anyone, "mailbox_send", from_="alice", to="coder", content="see below", payload=[1, 2])
        bare, both = await coder.take(2)
        assert bare["content"]["parts"] == [{"type": "data", "data": {"deep": [None, {"n": 1}]}}]
        assert (text_of(both), both["payload"]) == ("see below", [1, 2])

    async def test_a_broadcast_reaches_the_files(self, everywhere: Callers, at_home: Settle) -> None:
        coder, writer = at_home("coder"), at_home("writer")
        (alice,) = await everywhere.named("alice")
        await known(alice, "coder", "writer")
        await send(alice, "ALL", "to whom it may concern")
        for one in (coder, writer):
            assert text_of((await one.take())[0]) == "to whom it may concern"

    async def test_mail_older_than_the_agent_is_handed_over_when_it_moves_in(self, everywhere: Callers, at_home: Settle) -> None:
        (alice,) = await everywhere.named("alice")
        for text in ("one", "two"):
            await send(alice, "late", text)
        late = at_home("late")
        assert [text_of(message) for message in await late.take(2)] == ["one", "two"]


class TestFromTheFiles:
    async def test_a_file_is_received_over_rest_as_it_was_written(self, callers: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await callers.named("alice")
        fields = {
            "subject": "Build",
            "correlation_id": "c-9",
            "context": {"c": 1},
            "metadata": {"m": 1},
            "ref_id": "T1",
            "ref_type": "task",
        }
        id = coder.send("alice", "It is green.", payload={"n": 1}, priority=2, type="status", **fields)
        (letter,) = await arrived(alice)
        assert (letter["from"], letter["content"], letter["payload"], letter["client_id"]) == ("coder", "It is green.", {"n": 1}, id)
        assert (letter["priority"], letter["type"], letter["from_verified"]) == (2, "status", False)
        assert {name: letter[name] for name in fields} == fields
        await until(lambda: (coder.home.parent / "alice" / "processed").exists() and not FileAgent(coder.home.parent, "alice").waiting)

    async def test_a_file_is_checked_for_by_mcp(self, desk: Served, at_home: Settle) -> None:
        coder = at_home("coder")
        id = coder.send("alice", "hello")
        async with desk.client() as http:

            async def mail() -> Any:
                return done(await post(http, "/agents/alice/mcp", "check_mail"))

            found: list[Any] = []

            async def came() -> bool:
                found.append(await mail())
                return found[-1] is not None

            await until(came)
        assert (found[-1]["from"], found[-1]["content"], found[-1]["id"]) == ("coder", "hello", id)

    async def test_a_file_ends_a_wait(self, desk: Served, at_home: Settle) -> None:
        coder = at_home("coder")
        async with client(desk, "/mcp") as anyone:
            waiting = asyncio.create_task(call(anyone, "mailbox_wait", agent_id="alice", timeout_ms=20_000))
            coder.send("alice", "wake up")
            assert [message["content"] for message in (await waiting)["messages"]] == ["wake up"]

    async def test_a_file_is_news_on_a_websocket(self, desk: Served, at_home: Settle) -> None:
        coder = at_home("coder")
        async with plugged(desk.ws_url, agent="alice") as socket:
            coder.send("alice", "news", subject="Build")
            frame = await heard_of(socket, "new_message")
        assert (frame["from_agent"], frame["content"], frame["subject"]) == ("coder", "news", "Build")

    async def test_the_seed_s_plainest_file_will_do(self, callers: Callers, at_home: Settle, root: Path) -> None:
        at_home("coder")
        (alice,) = await callers.named("alice")
        drop(root, "alice", {"from": "coder", "content": "by hand"}, "1745659200_coder.msg.json")
        drop(root, "alice", {"from": "coder", "content": "by hand too"}, "anything.msg.json")
        letters = await arrived(alice, 2)
        assert sorted(letter["content"] for letter in letters) == ["by hand", "by hand too"]
        assert "msg_1745659200_coder" in {letter["client_id"] for letter in letters}

    async def test_the_same_words_under_the_same_name_are_another_message_another_night(
        self, callers: Callers, at_home: Settle, root: Path
    ) -> None:
        at_home("nightly")
        (alice,) = await callers.named("alice")
        for _ in range(3):
            drop(root, "alice", {"from": "nightly", "content": "The build is red."}, "red.msg.json")
            assert [letter["content"] for letter in await arrived(alice)] == ["The build is red."]
            await until(lambda: not list((root / "alice" / "inbox").iterdir()))

    async def test_nobody_has_to_be_known_to_get_a_file_on_an_open_server(self, callers: Callers, at_home: Settle) -> None:
        at_home("coder").send("newcomer", "welcome")
        (newcomer,) = await callers.named("newcomer")
        assert [letter["content"] for letter in await arrived(newcomer)] == ["welcome"]

    async def test_a_reply_lands_in_the_conversation_it_answers(self, callers: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await callers.named("alice")
        for subject in ("Lunch", "Build", "Travel"):
            await send(alice, "coder", subject, subject=subject)
        for message in await coder.take(3):
            coder.send("alice", f"re {text_of(message)}", reply_to=message["id"])
        for letter in await arrived(alice, 3):
            shown = done(await alice.get(f"/sessions/{letter['session_id']}/history"))
            assert letter["content"] == f"re {shown['subject']}"
            assert {line["content"] for line in shown["messages"]} == {shown["subject"], f"re {shown['subject']}"}

    async def test_a_reply_to_something_unknown_is_a_letter_all_the_same(self, callers: Callers, at_home: Settle) -> None:
        (alice,) = await callers.named("alice")
        at_home("coder").send("alice", "as you said", reply_to="never-sent")
        (letter,) = await arrived(alice)
        assert (letter["content"], letter["reply_to"]) == ("as you said", "never-sent")


class TestBothWays:
    async def test_parts_of_every_kind_arrive_as_they_were(self, everywhere: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await everywhere.named("alice")
        body = {"to": "coder", "parts": PARTS}
        done(await alice.post("/messages/send", json=body), 201)
        (message,) = await coder.take()
        assert message["content"] == {"parts": PARTS}
        coder.send("alice", {"parts": PARTS})
        (letter,) = await arrived(alice)
        assert (letter["content"], letter["parts"]) == (None, PARTS)

    async def test_words_beside_parts_are_the_first_of_them_and_stand_there_once(self, everywhere: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await everywhere.named("alice")
        table = {"type": "data", "data": {"n": 1}}
        await send(alice, "coder", "See the table.", parts=[table])
        await send(alice, "coder", "See the table.", parts=[table, {"type": "text", "text": "See the table."}])
        await send(alice, "coder", "", parts=[table])
        said = [message["content"]["parts"] for message in await coder.hold(3)]
        words = {"type": "text", "text": "See the table."}
        assert said == [[words, table], [table, words], [table]]

    async def test_a_payload_alone_comes_back_as_it_went(self, everywhere: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await everywhere.named("alice")
        for payload in ({"a": [1]}, [None], "text", 0, False, None):
            done(await alice.post("/messages/send", json={"to": "coder", "payload": payload}), 201)
            (message,) = await coder.take()
            assert message["content"]["parts"] == [{"type": "data", "data": payload}]
            if payload is None:
                continue  # what is null in a file is not there
            coder.send("alice", None, payload=payload)
            (letter,) = await arrived(alice)
            assert (letter["content"], letter["payload"]) == (None, payload)

    async def test_a_hundred_messages_keep_their_order(self, everywhere: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await everywhere.named("alice")
        for n in range(100):
            coder.send("alice", f"up {n}")
            await send(alice, "coder", f"down {n}")
        assert [text_of(message) for message in await coder.take(100)] == [f"down {n}" for n in range(100)]
        assert [letter["content"] for letter in await arrived(alice, 100)] == [f"up {n}" for n in range(100)]

    async def test_a_hundred_messages_accepted_together_keep_the_mailbox_s_order(self, everywhere: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await everywhere.named("alice")
        batch = {"messages": [{"to": "coder", "subject": "s", "content": str(n)} for n in range(100)]}
        results = done(await alice.post("/messages/send/batch", json=batch))["results"]
        assert all("sent" in result for result in results)
        taken = await coder.take(100)
        numbers = [(await standing(alice, message["message_id"]))["number"] for message in taken]
        assert numbers == sorted(numbers)
        assert sorted(map(text_of, taken), key=int) == [str(n) for n in range(100)]

    async def test_the_most_urgent_comes_first(self, everywhere: Callers, at_home: Settle) -> None:
        coder = at_home("coder")
        (alice,) = await everywhere.named("alice")
        for priority in (3, 5, 1, 4, 2):
            await send(alice, "coder", f"p{priority}", priority=priority)
        await until(lambda: len(coder.waiting) == 5)
        assert [(message["priority"], text_of(message)) for message in await coder.take(5)] == [(n, f"p{n}") for n in range(1, 6)]
        for priority in (3, 5, 1, 4, 2):
            coder.send("alice", f"p{priority}", priority=priority)
        assert [letter["content"] for letter in await arrived(alice, 5)] == [f"p{n}" for n in range(1, 6)]


class TestNews:
    @pytest.fixture
    def _never_by_itself(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(bridge, "_FULL_LOOK_SECONDS", 3600)

    @pytest.mark.usefixtures("_never_by_itself")
    async def test_the_system_tells_of_every_file_and_nobody_has_to_look(self, tmp_path: Path, root: Path, at_home: Settle) -> None:
        root.mkdir()
        with make(root, "alice") as home:
            home.build()  # news of a folder that is made meanwhile may come too late for what is in it
        async with serving(SQLiteEngine(tmp_path), files=root) as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            coder = at_home("coder")
            sent = await send(alice, "coder")
            await coder.take()
            await stands(alice, sent["message_id"], "acked")
            for n in range(3):
                coder.send("alice", f"{n}")
                assert [letter["content"] for letter in await arrived(alice)] == [f"{n}"]

    @pytest.mark.usefixtures("deaf")
    async def test_what_the_system_does_not_tell_of_is_found_all_the_same(self, tmp_path: Path, root: Path, at_home: Settle) -> None:
        async with serving(SQLiteEngine(tmp_path), files=root) as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            coder = at_home("coder")
            sent = await send(alice, "coder")
            await coder.take()
            await stands(alice, sent["message_id"], "acked")
            coder.send("alice", "found")
            assert [letter["content"] for letter in await arrived(alice)] == ["found"]

    async def test_a_look_around_that_takes_long_keeps_nobody_waiting(
        self, tmp_path: Path, root: Path, at_home: Settle, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        coder = at_home("coder")
        with make(root, "alice") as home:
            home.build()

        async def no_end(_: Tree) -> list[str]:
            return ["coder"] * 1_000_000

        monkeypatch.setattr(Tree, "folders", no_end)
        async with serving(SQLiteEngine(tmp_path), files=root) as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            sent = await send(alice, "coder")
            await coder.take()
            await stands(alice, sent["message_id"], "acked")
            coder.send("alice", "told of")
            assert [letter["content"] for letter in await arrived(alice)] == ["told of"]

    async def test_what_was_handled_is_not_looked_through_all_the_time(
        self, tmp_path: Path, root: Path, at_home: Settle, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        at_home("coder")
        since: list[float] = []
        lying = Tree.lying

        async def slow(tree: Tree, agent: str, since_: float) -> list[File]:
            since.append(since_)
            await asyncio.sleep(0.1 if since_ < math.inf else 0)
            return await lying(tree, agent, since_)

        monkeypatch.setattr(Tree, "lying", slow)
        async with serving(SQLiteEngine(tmp_path), files=root):
            await until(lambda: math.inf in since)  # only the inbox is looked into
            assert since[0] == 0.0
            await until(lambda: since[-1] < math.inf)
        assert since[-1] > time.time() - 2 * BOUND - bridge._UNSEEN_SECONDS  # and from then on what was handled after the look before


class TestSmallBatches:
    async def test_an_office_that_gives_out_few_at_a_time_hands_over_everything(self, tmp_path: Path, root: Path, at_home: Settle) -> None:
        coder = at_home("coder")
        async with serving(SQLiteEngine(tmp_path), files=root, limits={"batch": 2}) as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            refs = [(await send(alice, "coder", str(n)))["message_id"] for n in range(5)]
            assert [text_of(message) for message in await coder.take(5)] == [str(n) for n in range(5)]
            for ref in refs:
                await stands(alice, ref, "acked")


class TestRestarts:
    async def test_an_office_opened_again_goes_on_where_it_was(self, engine: Engine, root: Path, at_home: Settle) -> None:
        coder = at_home("coder")
        refs: list[str] = []
        async with serving(engine, files=root) as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            refs += [(await send(alice, "coder", str(n)))["message_id"] for n in range(4)]
            await until(lambda: len(coder.waiting) == 4)
        # Nobody watches: one is done, one is set aside, one is deleted, one is left.
        first, second, third, _ = await coder.hold(4)
        coder.done(first)
        coder.mail.refuse("coder", second["filename"], "no")
        (coder.home / "inbox" / third["filename"]).unlink()
        coder.send("alice", "while you were out")
        async with serving(engine, files=root) as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            for ref, state in zip(refs, ("acked", "dead", "acked", "leased"), strict=True):
                await stands(alice, ref, state)
            letters = await arrived(alice, 2)
            assert sorted(letter["from"] for letter in letters) == ["coder", "system"]
        assert len(coder.waiting) == 1

    async def test_one_that_closes_in_the_midst_of_a_handover_first_hears_of_it(
        self, tmp_path: Path, root: Path, at_home: Settle, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        coder = at_home("coder")
        at_once = Deliveries.settle

        async def slowly(deliveries: Deliveries, *said: Any) -> Any:
            await asyncio.sleep(0.5)
            return await at_once(deliveries, *said)

        monkeypatch.setattr(Deliveries, "settle", slowly)
        async with serving(SQLiteEngine(tmp_path), files=root) as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            sent = await send(alice, "coder")
            await until(lambda: coder.waiting)
        coder.waiting[0].unlink()
        async with serving(SQLiteEngine(tmp_path), files=root) as served, Callers(served) as callers:
            (alice,) = await callers.named("alice")
            await stands(alice, sent["message_id"], "acked")
        assert not coder.waiting

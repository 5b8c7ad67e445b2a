"""What a program can say, and how it is told no."""

import subprocess
import sys
from copy import copy
from pathlib import Path
from typing import Any

import pytest

from postoffice import Mailbox
from postoffice.client.credentials import Credential, save
from postoffice.core.errors import BadKey, Forbidden, KeyRequired, NoAnswer, NoSuchMessage, NotAdmitted, TaskFinal, Unidentified
from tests.runner.office import Office
from tests.sdk.conftest import Town
from tests.serve.running import free_port


def box_of(town: Town, name: str) -> Mailbox:
    return Mailbox(name, server=town.office.url)


def lose_one_answer(box: Mailbox, monkeypatch: pytest.MonkeyPatch) -> None:
    """As by a connection that is cut after the server has done what it was asked."""
    call, lost = box._wire.call, ["the first answer"]

    async def lose(method: str, path: str, *rest: Any, **query: Any) -> Any:
        answer = await call(method, path, *rest, **query)
        if lost:
            lost.pop()
            raise NoAnswer(server=box._wire.server)
        return answer

    monkeypatch.setattr(box._wire, "call", lose)


class TestImporting:
    def test_the_package_loads_no_http_until_somebody_asks_for_a_mailbox(self) -> None:
        code = (
            "import sys, postoffice\n"
            "assert not {'httpx2', 'httpx', 'asyncio'} & set(sys.modules), sorted(sys.modules)\n"
            "from postoffice import Mailbox\n"
            "assert Mailbox.__name__ == 'Mailbox' and 'httpx2' in sys.modules\n"
        )
        done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr

    def test_what_it_does_not_have_it_says_so(self) -> None:
        import postoffice  # noqa: PLC0415

        with pytest.raises(AttributeError, match="NoSuchThing"):
            _ = postoffice.NoSuchThing


class TestSending:
    async def test_gives_the_id_and_the_status_tells_where_it_stands(self, town: Town) -> None:
        async with box_of(town, town.ann) as box:
            id = await box.send(town.bob, "hello", subject="s", metadata={"a": 1})
            status = await box.status(id)
        assert (status["message"]["content"], status["message"]["metadata"]) == ("hello", {"a": 1})
        assert status["standings"][0]["state"] == "pending"

    async def test_under_any_id_can_be_asked_after(self, town: Town) -> None:
        async with box_of(town, town.ann) as box:
            for id in ("50%?#1", "..", "ü b", "build/7", "/a//status"):
                sent = await box.send(town.bob, "hello", id=id)
                assert (await box.status(id))["message_id"] == sent

    async def test_takes_payloads_and_several_recipients(self, town: Town) -> None:
        async with box_of(town, town.ann) as box:
            await box.send([town.bob, f"{town.bob}-too"], payload={"n": None})
        for name in (town.bob, f"{town.bob}-too"):
            async with box_of(town, name) as other:
                async for message in other.receive():
                    assert message.payload == {"n": None}
                    break

    async def test_twice_with_one_id_is_one_message(self, town: Town) -> None:
        async with box_of(town, town.ann) as box:
            assert await box.send(town.bob, "hello", id="mine") == await box.send(town.bob, "hello", id="mine")
        assert len(town.office.waiting(town.bob)) == 1

    @pytest.mark.parametrize("fields", [{}, {"id": None}, {"id": ""}])
    async def test_is_one_message_though_the_answer_was_lost(
        self, town: Town, monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any]
    ) -> None:
        async with box_of(town, town.ann) as box:
            lose_one_answer(box, monkeypatch)
            await box.send(town.bob, "hello", **fields)
        assert len(town.office.waiting(town.bob)) == 1

    async def test_many_at_once_answers_each_by_itself(self, town: Town) -> None:
        async with box_of(town, town.ann) as box:
            results = await box.send_many([{"to": town.bob, "content": "one"}, {"to": "no name", "content": "two"}])
        assert [sorted(result) for result in results] == [["sent"], ["problem"]]
        assert results[1]["problem"]["code"] == "bad_name"

    async def test_a_reply_stays_in_the_session_with_its_mark_and_is_one_however_often(self, town: Town) -> None:
        sent = town.office.send(town.ann, town.bob, "hello", correlation_id="m")
        async with box_of(town, town.bob) as box:
            async for message in box.receive():
                assert await message.reply("yes") == await message.reply("yes")
                break
        (reply,) = town.office.waiting(town.ann)
        assert (reply["reply_to"], reply["correlation_id"]) == (sent["message_id"], "m")
        assert town.office.history(town.ann, sent["session_id"]) == ["hello", "yes"]

    async def test_several_replies_to_one_message_are_several_answers(self, town: Town) -> None:
        sent = town.office.send(town.ann, town.bob, "hello")
        async with box_of(town, town.bob) as box:
            async for message in box.receive():
                ids = [await message.reply(text) for text in ("on it", "done", "on it")]
                assert (ids[0] == ids[2], ids[0] == ids[1]) == (True, False)
                break
        assert town.office.history(town.ann, sent["session_id"]) == ["hello", "on it", "done"]

    async def test_what_is_handled_again_is_answered_once_though_in_other_words(self, town: Town) -> None:
        """Whoever answered it before was gone before it heard that it had."""
        sent = town.office.send(town.ann, town.bob, "hello")
        async with box_of(town, town.bob) as box:
            async for message in box.receive():
                again = copy(message)
                again._said = []  # as another start of the same program has it
                ids = [await message.reply("answer 0"), await again.reply("answer 1")]
                break
        assert ids[0] == ids[1]
        assert town.office.history(town.ann, sent["session_id"]) == ["hello", "answer 0"]


class TestSearching:
    async def test_finds_by_the_text_that_every_door_takes(self, town: Town) -> None:
        async with box_of(town, town.ann) as ann:
            await ann.send(town.bob, "the release train is late", subject="Plan")
            await ann.send(town.bob, "the train is on time")
            hits = await ann.search(f'"release train" from:{town.ann} to:{town.bob}')
            assert [(hit["message"]["content"], "release" in hit["excerpt"]) for hit in hits] == [("the release train is late", True)]
            assert hits[0]["message"]["created_at"]
            assert len(await ann.search("trai*")) == len(await ann.search("", recipient=town.bob)) == 2
            assert len(await ann.search("train", limit=1)) == 1


class TestTasks:
    async def test_are_seen_by_both_sides_and_moved_by_the_one(self, town: Town) -> None:
        async with box_of(town, town.ann) as ann, box_of(town, town.bob) as bob:
            id = await ann.send(town.bob, "do it", type="task")
            async for message in bob.receive():
                await message.report("working")
                assert [task["id"] for task in await bob.tasks(state="working")] == [id]
                await message.report("completed", "done")
                with pytest.raises(TaskFinal):
                    await message.report("working")
                break
            (task,) = await ann.tasks(asked_by_me=True)
            assert (task["state"], await ann.tasks()) == ("completed", [])

    @pytest.mark.parametrize("fields", [{}, {"id": None}, {"id": ""}])
    async def test_are_moved_once_though_the_answer_was_lost(
        self, town: Town, monkeypatch: pytest.MonkeyPatch, fields: dict[str, Any]
    ) -> None:
        async with box_of(town, town.ann) as ann, box_of(town, town.bob) as bob:
            await ann.send(town.bob, "do it", type="task")
            async for message in bob.receive():
                lose_one_answer(bob, monkeypatch)
                await message.report("completed", "done", **fields)
                break
        assert [found["content"] for found in town.office.waiting(town.ann)] == ["done"]


class TestAnyOtherCall:
    async def test_goes_by_the_method_it_was_given(self, town: Town) -> None:
        async with box_of(town, town.ann) as box:
            assert (await box.call("PATCH", "/agents/me", {"description": "new"}))["description"] == "new"


class TestRefusals:
    async def test_come_back_as_what_they_are(self, guarded: Office, town: Town) -> None:
        keys = [guarded.register(name) for name in (town.ann, town.bob)]
        async with Mailbox(town.ann, server=guarded.url, key=keys[0]) as box:
            with pytest.raises(NotAdmitted, match=f"{town.bob} does not take mail from {town.ann}") as refused:
                await box.send(town.bob, "hello")
            assert isinstance(refused.value, Forbidden)
            with pytest.raises(NoSuchMessage):
                await box.status("no-such-message")
        async with Mailbox(town.ann, server=guarded.url, key="amb_" + "0" * 64) as box:
            with pytest.raises(BadKey):
                await box.tasks()
        async with Mailbox(town.ann, server=guarded.url) as box:
            with pytest.raises((KeyRequired, Unidentified)):
                await box.tasks()

    async def test_of_no_office_at_all_come_after_the_patience(self) -> None:
        async with Mailbox("ann", server=f"127.0.0.1:{free_port()}", patience=0.5) as box:
            with pytest.raises(NoAnswer):
                await box.send("bob", "hello")


class TestKeys:
    async def test_come_from_the_file_at_home(self, guarded: Office, town: Town, keys: Path) -> None:
        key = guarded.register(town.ann)
        path = save(Credential(server=guarded.url, agent=town.ann, key=key))
        assert path.is_relative_to(keys)
        async with Mailbox(town.ann, server=guarded.url) as box:
            assert (await box.call("GET", "/agents/me"))["name"] == town.ann

    async def test_and_the_server_from_the_environment(self, town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("POSTOFFICE_SERVER", town.office.url)
        async with Mailbox(town.ann) as box:
            assert (await box.call("GET", "/agents/me"))["name"] == town.ann

"""Two real nanobots of different versions, each with a scripted model behind it, delegate work to each other by mail."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

from postoffice_files import task_update
from tests.peers.nanobot_gateway import NEW, OLD, until
from tests.peers.nanobot_model import Call
from tests.peers.nanobot_office import office_over
from tests.peers.nanobot_pair import Two, two_nanobots
from tests.peers.outside import ROOT

pytestmark = pytest.mark.timeout(300)


@pytest.fixture(scope="module", params=[(OLD, NEW), (NEW, OLD)], ids=["old asks new", "new asks old"])
def two(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Two]:
    with two_nanobots(tmp_path_factory.mktemp("nanobots"), *request.param) as running:
        yield running


@pytest.mark.parametrize("environment", [OLD, NEW])
def test_the_wheel_adds_to_nanobot_and_replaces_nothing(environment: str) -> None:
    site = next((ROOT / environment / "lib").glob("python*/site-packages"))
    (wheel,) = (ROOT / environment / "wheels").glob("postoffice_nanobot-*.whl")
    (record,) = site.glob("nanobot_ai-*.dist-info/RECORD")
    ours = {name for name in ZipFile(wheel).namelist() if name.startswith("nanobot/")}
    assert ours == {f"nanobot/channels/mailbox/{name}.py" for name in ("__init__", "manifest", "runtime")}
    assert not ours & {line.split(",")[0] for line in record.read_text().splitlines()}


def delegating(two: Two, words: str, **result: str) -> None:
    """Teach the asker's model to delegate what holds these words, and to pass on what becomes of it."""
    two.asker.model.when(f"please {words}", Call("message", {"content": words, "channel": "mailbox", "chat_id": "coder"}))
    two.asker.model.when("Message sent to mailbox:coder", "I have asked coder.")
    for state, said in result.items():
        two.asker.model.when(f"is {state}", said)


def test_a_result_comes_back_into_the_chat_that_asked(two: Two) -> None:
    delegating(two, "sort 3 1 2", completed="coder has sorted it.")
    two.worker.model.when("sort 3 1 2", "1 2 3")
    with two.asker.bot.chat() as other, two.asker.bot.chat() as chat:
        chat.say("please sort 3 1 2")
        assert chat.hears("coder has sorted it.") == ["I have asked coder.", "coder has sorted it."]
        assert other.heard() == []
        # The model hears of it in the conversation in which it was asked.
        heard = next(whole for whole in two.asker.model.whole if "is completed" in whole)
        assert "please sort 3 1 2" in heard
        assert "1 2 3" in heard
        task = two.task("sort 3 1 2")
        assert (task["type"], task["from"], task["trace"], task["ttl"]) == ("task", "researcher", ["researcher"], 3)
        assert task["callback"]["channel"] == "websocket"
        assert task["callback"]["session_id"].startswith("websocket:")
        assert two.updates(task["id"]) == ["accepted", "working", "completed"]
        until(lambda: two.worker.bot.card()["status"] == "idle")


def test_the_model_may_decline(two: Two) -> None:
    delegating(two, "paint a fence", rejected="coder does not want to.")
    two.worker.model.when("paint a fence", "[decline] I have no hands.")
    with two.asker.bot.chat() as chat:
        chat.say("please paint a fence")
        chat.hears("coder does not want to.")
        assert two.updates(two.task("paint a fence")["id"]) == ["rejected"]
        assert any("declined: I have no hands." in text for text in two.asker.model.heard)


def test_what_the_model_says_by_its_message_tool_is_the_result_too(two: Two) -> None:
    delegating(two, "say it aloud", completed="coder has said it.")
    two.worker.model.when("say it aloud", Call("message", {"content": "ALOUD!"}))
    with two.asker.bot.chat() as chat:
        chat.say("please say it aloud")
        chat.hears("coder has said it.")
    assert any("ALOUD!" in text for text in two.asker.model.heard)


def test_a_task_too_many_is_rejected(two: Two) -> None:
    gate = threading.Event()
    delegating(two, "take long", rejected="coder is busy.")
    two.worker.model.when("take long", "done at last", gate=gate)
    with two.asker.bot.chat() as first, two.asker.bot.chat() as second:
        try:
            first.say("please take long")
            until(lambda: two.worker.model.times("take long") == 1)
            assert two.worker.bot.card()["status"] == "busy"
            second.say("please take long, again")
            second.hears("coder is busy.")
        finally:
            gate.set()
        assert any("over quota: coder has 1 of 1 tasks" in text for text in two.asker.model.heard)
        until(lambda: two.worker.bot.card()["status"] == "idle")


def test_a_task_of_a_stranger_is_rejected_and_its_message_not_read(two: Two) -> None:
    two.mail.register("stranger", {})
    two.mail.send("stranger", "coder", {"type": "message", "content": "hello from a stranger"})
    two.mail.send("stranger", "coder", {"type": "task", "content": "work for a stranger"})
    (update,) = until(lambda: two.mail.poll("stranger"))
    assert (update["type"], update["task"]["state"]) == ("task_update", "rejected")
    assert update["content"]["parts"][0]["text"] == "unauthorized: stranger is not in coder's allow_from"
    assert two.task("hello from a stranger")
    assert two.worker.model.times("stranger") == 0


def test_the_models_own_tool_finds_agents_and_asks_them_things(two: Two) -> None:
    model = two.asker.model
    model.when("who is there", Call("mailbox", {"action": "agents"}))
    model.when("coder: idle", "coder is there.")
    model.when("ask it the time", Call("mailbox", {"action": "message", "to": "coder", "text": "what time is it?"}))
    model.when("Sent to coder", "I have asked.")
    model.when("coder has answered", "coder says it is noon.")
    model.when("ask nobody", Call("mailbox", {"action": "task", "to": "nobody", "text": "hello?"}))
    model.when("Nobody called 'nobody'", "There is no such agent.")
    two.worker.model.when("what time is it?", "noon")
    with two.asker.bot.chat() as chat:
        chat.say("who is there?")
        chat.hears("coder is there.")
        assert any("the coder" in text for text in model.heard)
        chat.say("ask it the time")
        chat.hears("coder says it is noon.")
        chat.say("ask nobody")
        chat.hears("There is no such agent.")
        # An answer that a program gave by itself is not answered by a program.
        answers = [message for message in two.received("researcher") if message["type"] == "message"]
        assert [(message["automatic"], message["content"]["parts"][0]["text"]) for message in answers] == [(True, "noon")]


def test_the_model_hears_what_its_message_tool_could_not_send(two: Two) -> None:
    two.asker.model.when("write to a ghost", Call("message", {"content": "boo", "channel": "mailbox", "chat_id": "ghost"}))
    two.asker.model.when("Message sent to mailbox:ghost", "I have written to ghost.")
    two.asker.model.when("Nothing was sent to ghost", "There is no ghost.")
    with two.asker.bot.chat() as chat:
        chat.say("write to a ghost")
        chat.hears("There is no ghost.")


def test_work_is_passed_on_and_never_back(two: Two) -> None:
    two.mail.register("typist", {})
    delegating(two, "write a poem", completed="The poem is here.")
    model = two.worker.model
    model.when("write a poem", Call("message", {"content": "type the poem", "channel": "mailbox", "chat_id": "typist"}))
    model.when("Message sent to mailbox:typist", Call("mailbox", {"action": "task", "to": "researcher", "text": "you do it"}))
    model.when("it has been there already", "typist is at it.")
    model.when("given to typist is completed", "The poem, typed.")
    with two.asker.bot.chat() as chat:
        chat.say("please write a poem")
        (passed_on,) = until(lambda: two.mail.poll("typist"))
        assert (passed_on["trace"], passed_on["ttl"]) == (["researcher", "coder"], 2)
        # It is not done before what it led to is done; its asker sees how far it is.
        chat.hears("coder (working): typist is at it.")
        assert two.worker.bot.card()["status"] == "busy"
        two.mail.send("typist", "coder", task_update(passed_on, "completed", "Roses are red."))
        two.mail.mark_processed("typist", passed_on["filename"])
        chat.hears("The poem is here.")
        assert two.updates(two.task("write a poem")["id"])[-1] == "completed"
        assert any("The poem, typed." in text for text in two.asker.model.heard)


def test_a_model_that_fails_is_asked_again(two: Two) -> None:
    delegating(two, "count sheep", completed="coder has counted.")
    two.worker.model.when("count sheep", "seven")
    two.worker.model.broken = True
    with two.asker.bot.chat() as chat:
        try:
            chat.say("please count sheep")
            until(lambda: "fake model is broken" in two.worker.bot.log(), why=two.worker.bot.log)
            time.sleep(1)
        finally:
            two.worker.model.broken = False
        chat.hears("coder has counted.")
        assert two.updates(two.task("count sheep")["id"]).count("completed") == 1


def test_a_worker_killed_in_the_middle_still_gives_one_result(two: Two) -> None:
    gate = threading.Event()
    delegating(two, "dig a well", completed="The well is dug.")
    two.worker.model.when("dig a well", "water!", gate=gate)
    with two.asker.bot.chat() as chat:
        chat.say("please dig a well")
        until(lambda: two.worker.model.times("dig a well"))
        two.worker.bot.kill()
        gate.set()
        two.worker.bot.start()
        chat.hears("The well is dug.")
        time.sleep(3)  # for a second one, if there were one
        assert chat.heard().count("The well is dug.") == 1
        assert two.worker.model.times("dig a well") == 2
        assert two.updates(two.task("dig a well")["id"]).count("completed") == 1


def test_a_result_waits_for_an_asker_that_was_killed(two: Two) -> None:
    gate = threading.Event()
    delegating(two, "bake bread", completed="There is bread.")
    two.worker.model.when("bake bread", "a loaf", gate=gate)
    with two.asker.bot.chat() as chat:
        chat.say("please bake bread")
        until(lambda: two.worker.model.times("bake bread"))
        two.asker.bot.kill()
        gate.set()
        assert two.task("bake bread")  # the worker is done with it
        two.asker.bot.start()
        heard = until(lambda: [whole for whole in two.asker.model.whole if "a loaf" in whole])
        assert "please bake bread" in heard[0]


def test_an_agent_of_the_office_does_a_nanobots_task_and_asks_it_something(two: Two, tmp_path: Path) -> None:
    model = two.asker.model
    model.when("please file this", Call("mailbox", {"action": "task", "to": "clerk", "text": "file this"}))
    model.when("Sent to clerk", "clerk has it.")
    model.when("given to clerk is completed", "It is filed.")
    model.when("ask the clerk", Call("mailbox", {"action": "message", "to": "clerk", "text": "are you well?"}))
    model.when("clerk has answered", "clerk is well.")
    model.when("where is it from?", "From a person.")
    with office_over(two.mail.root, tmp_path) as call, two.asker.bot.chat() as chat:
        call("clerk", "mailbox_receive")  # its first call makes it known
        until(lambda: two.mail.get_agent("clerk"))
        chat.say("please file this")
        (task,) = until(lambda: call("clerk", "mailbox_receive")["messages"])
        assert (task["from"], task["type"], task["content"]) == ("researcher", "task", "file this")
        call("clerk", "mailbox_task_update", task_id=task["task"]["id"], state="completed", content="Filed under F.")
        chat.hears("It is filed.")
        assert any("Filed under F." in text for text in model.heard)
        chat.say("ask the clerk")
        (asked,) = until(lambda: call("clerk", "mailbox_receive")["messages"])
        assert asked["content"] == "are you well?"
        call("clerk", "mailbox_send", to="researcher", content="quite well", correlation_id=asked["correlation_id"])
        chat.hears("clerk is well.")
        call("clerk", "mailbox_send", to="researcher", content="where is it from?")
        (said,) = until(lambda: call("clerk", "mailbox_receive")["messages"])
        assert (said["from"], said["content"], said["automatic"]) == ("researcher", "From a person.", True)


def test_a_nanobot_that_is_stopped_is_offline(two: Two) -> None:
    two.worker.bot.stop()
    assert two.worker.bot.card()["status"] == "offline"
    two.worker.bot.start()
    assert two.worker.bot.card()["status"] == "idle"

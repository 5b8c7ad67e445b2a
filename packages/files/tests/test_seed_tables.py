"""Seed 002's tables, row by row, where they concern files."""

import json
import os
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from postoffice_files import BadCard, LoopRefused, MailboxManager, UnknownAgent, past_deadline, refusal, task_update

CARD = {"description": "负责代码编写", "capabilities": ["code_write"], "allow_from": ["researcher"], "max_concurrent_tasks": 2}
TASK = {"type": "task", "content": "sort", "callback": {"session_id": "feishu:user_123", "channel": "feishu"}}


@pytest.fixture
def two(mail: MailboxManager) -> MailboxManager:
    mail.register("researcher", {})
    mail.register("coder", CARD)
    return mail


def card(mail: MailboxManager, name: str = "coder") -> dict[str, Any]:
    found = mail.get_agent(name)
    assert found is not None
    return found


# Agent discovery


def test_a_card_lies_in_the_registry_as_the_seed_shows_it(two: MailboxManager, root: Path) -> None:
    cards = json.loads((root / "_registry.json").read_text())
    assert cards["coder"] == CARD | {
        "agent_id": "coder",
        "status": "idle",
        "current_tasks": [],
        "registered_at": "2025-04-26T09:20:00.000Z",
        "last_heartbeat": "2025-04-26T09:20:00.000Z",
    }
    assert [card["agent_id"] for card in two.list_online_agents()] == ["researcher", "coder"]
    assert two.get_agent("coder") == cards["coder"]
    assert two.get_agent("nobody") is None


def test_a_card_others_would_trip_over_is_refused(mail: MailboxManager) -> None:
    for made in (
        {"agent_id": "other"},
        {"status": "sleeping"},
        {"allow_from": "*"},
        {"capabilities": [1]},
        {"max_concurrent_tasks": "3"},
        {"description": float("nan")},
        {"x": float("nan")},
    ):
        with pytest.raises(BadCard):
            mail.register("coder", made)
    assert mail.get_agent("coder") is None


# Agent states


def test_idle_after_startup(two: MailboxManager) -> None:
    assert card(two)["status"] == "idle"


def test_busy_with_tasks_and_idle_without(two: MailboxManager) -> None:
    two.update_status("coder", "busy", ["msg_1"])
    assert card(two)["current_tasks"] == ["msg_1"]
    two.update_status("coder", "busy")
    assert card(two)["current_tasks"] == ["msg_1"]
    two.update_status("coder", "idle", [])
    assert card(two)["status"] == "idle"
    with pytest.raises(BadCard, match="idle, busy, offline"):
        two.update_status("coder", "asleep")
    with pytest.raises(UnknownAgent):
        two.update_status("nobody", "idle")


def test_offline_when_said(two: MailboxManager) -> None:
    two.update_status("coder", "offline")
    two.heartbeat("coder")  # the last of a poll loop that is just ending
    assert [card["agent_id"] for card in two.list_online_agents()] == ["researcher"]
    two.register("coder", CARD)
    assert card(two)["status"] == "idle"


def test_offline_when_the_heartbeat_stops_and_back_when_it_goes_on(two: MailboxManager, clock: Any) -> None:
    clock.sleep(61)
    two.heartbeat("researcher")
    assert card(two)["status"] == "offline"
    assert [card["agent_id"] for card in two.list_online_agents()] == ["researcher"]
    two.heartbeat("coder")
    assert card(two)["status"] == "idle"


def test_the_file_itself_says_offline_once_the_heartbeat_has_stopped(two: MailboxManager, root: Path, clock: Any) -> None:
    def statuses() -> dict[str, str]:
        return {name: card["status"] for name, card in json.loads((root / "_registry.json").read_text()).items()}

    two.update_status("coder", "busy", ["t1"])
    clock.sleep(61)
    assert statuses() == {"researcher": "idle", "coder": "busy"}  # nobody has written since
    two.heartbeat("researcher")
    assert statuses() == {"researcher": "idle", "coder": "offline"}
    assert "status_before" not in card(two)
    MailboxManager(root, clock=clock).heartbeat("coder")  # a process of the same agent that has never entered it
    assert statuses() == {"researcher": "idle", "coder": "busy"}
    clock.sleep(61)
    two.lapse()
    assert statuses() == {"researcher": "offline", "coder": "offline"}
    two.update_status("coder", "offline")
    two.heartbeat("coder")
    assert statuses()["coder"] == "offline"  # it said so itself


def test_what_has_not_lapsed_is_not_written_again(two: MailboxManager, root: Path, clock: Any) -> None:
    clock.sleep(61)
    two.lapse()
    before = (root / "_registry.json").stat()
    two.lapse()
    assert (root / "_registry.json").stat() == before


# Task acceptance


@pytest.mark.parametrize(
    ("sender", "tasks", "deadline", "why"),
    [
        ("researcher", [], None, None),
        ("Researcher", ["t1"], "2025-04-26T09:20:01Z", None),
        ("stranger", [], None, "unauthorized"),
        ("researcher", ["t1", "t2"], None, "over quota"),
        ("researcher", [], "2025-04-26T09:20:00Z", "deadline passed"),
    ],
)
def test_acceptance(two: MailboxManager, clock: Any, sender: Any, tasks: Any, deadline: Any, why: Any) -> None:
    two.update_status("coder", "busy" if tasks else "idle", tasks)
    two.send(sender, "coder", TASK | {"task": {"deadline": deadline}})
    (message,) = two.poll("coder")
    answer = refusal(card(two), message, clock.now())
    assert (answer or "None").startswith(str(why))


@pytest.mark.parametrize("state", ["accepted", "working", "completed", "failed", "rejected"])
def test_an_update_goes_back_to_the_conversation_that_asked(two: MailboxManager, state: Any) -> None:
    two.send("researcher", "coder", TASK)
    (task,) = two.poll("coder")
    assert task["task"] == {"id": task["id"], "state": "pending"}
    two.send("coder", "researcher", task_update(task, state, "because"))
    (update,) = two.poll("researcher")
    assert update["task"] == {"id": task["id"], "state": state}
    assert (update["type"], update["callback"], update["reply_to"]) == ("task_update", TASK["callback"], task["id"])
    assert update["content"]["parts"] == [{"type": "text", "text": "because"}]


# Anti-loop


def forwarded(mail: MailboxManager, *road: str) -> dict[str, Any]:
    """Send down a road, each forwarding what it polled."""
    mail.send(road[0], road[1], {"content": "go"})
    for here, there in pairwise(road[1:]):
        (message,) = mail.poll(here)
        mail.send(here, there, message)
    (message,) = mail.poll(road[-1])
    return message


def test_a_forward_takes_a_hop_and_adds_the_forwarder(mail: MailboxManager) -> None:
    message = forwarded(mail, "a", "b", "c")
    assert (message["from"], message["ttl"], message["trace"]) == ("b", 2, ["a", "b"])


def test_a_and_b_cannot_ping_each_other(mail: MailboxManager) -> None:
    message = forwarded(mail, "a", "b")
    with pytest.raises(LoopRefused, match="been there already"):
        mail.send("b", "a", message)


def test_a_cycle_is_refused(mail: MailboxManager) -> None:
    message = forwarded(mail, "a", "b", "c")
    with pytest.raises(LoopRefused, match="a → b → c"):
        mail.send("c", "A", message)


def test_an_endless_chain_ends_when_the_ttl_does(mail: MailboxManager) -> None:
    message = forwarded(mail, "a", "b", "c", "d", "e")
    assert message["ttl"] == 0
    with pytest.raises(LoopRefused, match="no hops left"):
        mail.send("e", "f", message)


def test_a_forward_named_by_its_file_cannot_forget_its_trace(mail: MailboxManager) -> None:
    message = forwarded(mail, "a", "b")
    mail.mark_processed("b", message["filename"])
    mail.send("b", "c", {"content": "please"}, forward_of=message["filename"])
    (passed,) = mail.poll("c")
    assert (passed["ttl"], passed["trace"]) == (2, ["a", "b"])
    with pytest.raises(LoopRefused):
        mail.send("b", "a", {"content": "please"}, forward_of=message["filename"])


def test_the_seeds_channel_may_count_the_hop_itself(mail: MailboxManager) -> None:
    message = forwarded(mail, "a", "b")
    mail.send("b", "c", message | {"ttl": message["ttl"] - 1, "trace": ["a", "b"]})
    (passed,) = mail.poll("c")
    assert (passed["ttl"], passed["trace"]) == (2, ["a", "b"])


def test_replies_and_updates_are_not_forwards(mail: MailboxManager) -> None:
    message = forwarded(mail, "a", "b")
    mail.send("b", "a", {"content": "answer", "reply_to": message["id"]})
    mail.send("b", "a", {"type": "task_update", "task": {"id": "t", "state": "working"}, "trace": message["trace"]})
    assert len(mail.poll("a")) == 2


def test_a_circle_made_by_another_writer_is_set_aside(mail: MailboxManager, root: Path) -> None:
    inbox = root / "a" / "inbox"
    inbox.mkdir(parents=True)
    (inbox / "1_b.msg.json").write_text(json.dumps({"from": "b", "trace": ["a", "b"], "content": "round"}))
    assert mail.poll("a") == []
    assert "circle" in (root / "a" / "bad" / "1_b.msg.json.reason.json").read_text()


# Error scenarios


def test_target_offline_then_messages_queue(two: MailboxManager, clock: Any) -> None:
    two.update_status("coder", "offline")
    two.send("researcher", "coder", {"content": "wait"})
    clock.sleep(86_400)
    two.register("coder", CARD)
    assert len(two.poll("coder")) == 1


def test_a_crash_during_a_task_shows_by_its_deadline(two: MailboxManager, clock: Any) -> None:
    two.send("researcher", "coder", TASK | {"task": {"deadline": "2025-04-26T10:00:00Z"}})
    (message,) = two.poll("coder")
    assert not past_deadline(message, clock.now())
    clock.sleep(3600)
    assert past_deadline(message, clock.now())
    assert len(two.poll("coder")) == 1  # and the task itself is not lost


def test_a_spoilt_registry_is_kept_aside_and_fills_again(two: MailboxManager, root: Path) -> None:
    (root / "_registry.json").write_text('{"coder": {"agent')
    assert two.list_online_agents() == []
    assert two.get_agent("coder") is None
    two.heartbeat("coder")
    two.heartbeat("researcher")
    assert len(two.list_online_agents()) == 2
    assert len(list(root.glob("_registry.bad-*"))) == 1


def test_a_spoilt_registry_stands_there_until_the_new_one_does(two: MailboxManager, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "_registry.json").write_text("torn")
    sync, seen = os.fsync, []

    def look(descriptor: int) -> None:
        seen.append(two.list_agents())
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", look)
    two.heartbeat("coder")
    assert seen == [None]  # nobody knows who is at home, and nobody is told that nobody is


def test_a_card_dropped_by_a_writer_without_the_lock_comes_back(two: MailboxManager, root: Path) -> None:
    (root / "_registry.json").write_text('{"other": {"agent_id": "other"}}')
    two.heartbeat("coder")
    assert set(json.loads((root / "_registry.json").read_text())) == {"other", "coder"}


def test_a_heartbeat_of_a_stranger_is_refused(mail: MailboxManager) -> None:
    with pytest.raises(UnknownAgent, match="register"):
        mail.heartbeat("stranger")

"""What is kept of delegations, and what goes back to askers, in real files."""

import os
import time
from pathlib import Path
from typing import Any

from postoffice_files import Clock, MailboxManager
from postoffice_nanobot.answer import Answer
from postoffice_nanobot.box import Box
from postoffice_nanobot.delegation import Delegation, Delegations
from postoffice_nanobot.place import Place
from postoffice_nanobot.reports import NoReports, Replies, TaskReports, reports_for

PLACE = Place("websocket:1", "websocket", "1")


def a_delegation(id: str, **more: Any) -> Delegation:
    return Delegation(id=id, to="typist", place=PLACE, message={"content": "ü"}, at=1, **more)


def test_a_delegation_is_found_by_its_id_until_it_is_closed(tmp_path: Path) -> None:
    kept, id = Delegations(tmp_path / "delegated", Clock()), "../../etc/passwd\n"
    assert kept.find(id) is None
    assert list(kept.all()) == []
    kept.keep(a_delegation(id, parent="p"))
    kept.keep(a_delegation("other"))
    assert kept.find(None, 7, "unknown", id) == a_delegation(id, parent="p")
    assert {one.id for one in kept.all()} == {id, "other"}
    kept.close(id)
    kept.close(id)
    assert kept.find(id) is None


def test_what_is_no_delegation_is_passed_over(tmp_path: Path) -> None:
    kept = Delegations(tmp_path, Clock())
    kept.keep(a_delegation("one"))
    for number, text in enumerate(["", "{", "[]", "{}", '{"id": "x"}', '{"place": 3}']):
        (tmp_path / f"{number}.json").write_text(text)
    assert [one.id for one in kept.all()] == ["one"]


def test_what_nobody_answers_for_a_month_is_forgotten(tmp_path: Path) -> None:
    kept = Delegations(tmp_path, Clock())
    kept.keep(a_delegation("old"))
    long_ago = time.time() - 31 * 24 * 3600
    for path in tmp_path.iterdir():
        os.utime(path, (long_ago, long_ago))
    kept.keep(a_delegation("new"))
    kept.sweep()
    assert [one.id for one in kept.all()] == ["new"]


def received(mail: MailboxManager, message: dict[str, Any]) -> dict[str, Any]:
    """The message as it comes to coder."""
    mail.send("researcher", "coder", message)
    (found,) = mail.poll("coder")
    return found


def told(mail: MailboxManager) -> list[tuple[str, str]]:
    """States and texts that have come to researcher, in order."""
    return [
        ((message["task"] or {}).get("state", message["type"]), "".join(part["text"] for part in message["content"]["parts"]))
        for message in mail.poll("researcher")
    ]


async def test_a_tasks_states_are_told_once_and_in_order_however_often_they_are_reported(mail: MailboxManager, box: Box) -> None:
    task = received(mail, {"type": "task", "content": "sort", "callback": {"session_id": "s", "channel": "c"}})
    for _ in range(3):  # as after kills
        reports = TaskReports(box, task)
        await reports.done(Answer("1 2 3"))
    assert told(mail) == [("accepted", ""), ("working", ""), ("completed", "1 2 3")]


async def test_an_end_is_an_end_whatever_a_second_try_would_say(mail: MailboxManager, box: Box) -> None:
    task = received(mail, {"type": "task", "content": "sort"})
    await TaskReports(box, task).done(Answer("1 2 3"))
    await TaskReports(box, task | {"attempt": 2}).failed("no idea")
    assert [state for state, _ in told(mail)] == ["accepted", "working", "completed"]


async def test_an_update_carries_the_callback_back(mail: MailboxManager, box: Box) -> None:
    callback = {"session_id": "feishu:user_123", "channel": "feishu"}
    task = received(mail, {"type": "task", "content": "sort", "callback": callback})
    await TaskReports(box, task).progress("half")
    updates = mail.poll("researcher")
    assert [update["callback"] for update in updates] == [callback] * 3
    assert {update["reply_to"] for update in updates} == {task["id"]}


async def test_a_declined_task_is_rejected_unless_it_was_taken_up(mail: MailboxManager, box: Box) -> None:
    first = received(mail, {"type": "task", "content": "one"})
    await TaskReports(box, first).done(Answer("[decline] no hands"))
    assert told(mail) == [("rejected", "declined: no hands")]
    second = received(mail, {"type": "task", "content": "two"})
    reports = TaskReports(box, second)
    await reports.taken_up()
    await reports.done(Answer("[decline] no hands"))
    assert told(mail) == [("accepted", ""), ("working", ""), ("failed", "declined: no hands")]
    third = received(mail, {"type": "task", "content": "three"})
    await TaskReports(box, third | {"attempt": 2}).done(Answer("[decline] no hands"))
    assert told(mail) == [("failed", "declined: no hands")]


async def test_a_message_is_answered_by_a_message_that_says_it_is_automatic(mail: MailboxManager, box: Box) -> None:
    asked = received(mail, {"content": "how are you?"})
    reports = reports_for(box, asked)
    assert isinstance(reports, Replies)
    await reports.progress("let me think")
    await reports.done(Answer("well"))
    await reports.done(Answer("well"))
    answers = mail.poll("researcher")
    assert [(one["content"]["parts"][0]["text"], one["reply_to"], one["automatic"]) for one in answers] == [
        ("let me think", asked["id"], True),
        ("well", asked["id"], True),
    ]


async def test_what_a_program_said_by_itself_is_not_answered(mail: MailboxManager, box: Box) -> None:
    for message in ({"content": "x", "automatic": True}, {"type": "task_update", "task": {"id": "t", "state": "failed"}}):
        assert isinstance(reports_for(box, received(mail, message)), NoReports)
    mail.deliver("system", "coder", {"content": "a notice"})
    (notice,) = mail.poll("coder")
    assert isinstance(reports_for(box, notice), NoReports)


async def test_a_sender_with_a_mad_clock_is_answered_too(mail: MailboxManager, box: Box) -> None:
    for timestamp in ("0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"):
        task = received(mail, {"type": "task", "content": "x", "timestamp": timestamp})
        await TaskReports(box, task).done(Answer("y"))
        assert told(mail)[-1] == ("completed", "y")

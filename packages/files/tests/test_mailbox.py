"""MailboxManager as its users call it."""

import json
import os
import threading
from pathlib import Path
from typing import Any, cast

import pytest

from postoffice_files import (
    BadFilename,
    BadMessage,
    BadName,
    ClaimLost,
    MailboxManager,
    NameTaken,
    NoSuchMessage,
    NotAMailbox,
    ReservedName,
    Settings,
    TooLarge,
    UnknownAgent,
)

SEED = {
    "id": "msg_1745659200_researcher",
    "from": "researcher",
    "to": "coder",
    "timestamp": "2026-04-26T10:00:00Z",
    "type": "task",
    "ttl": 3,
    "trace": ["researcher"],
    "task": {"id": "original_task_id", "state": "pending", "deadline": "2026-04-26T11:00:00Z"},
    "content": {"parts": [{"type": "text", "text": "排序"}, {"type": "data", "data": {}}, {"type": "file", "path": "/path/to/file"}]},
    "callback": {"session_id": "feishu:user_123", "channel": "feishu"},
    "reply_to": None,
    "metadata": {},
}


def texts(messages: list[dict[str, Any]]) -> list[str]:
    return [message["content"]["parts"][0]["text"] for message in messages]


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def drop(root: Path, agent: str, name: str, message: object) -> Path:
    inbox = root / agent / "inbox"
    inbox.mkdir(parents=True, exist_ok=True)
    path = inbox / name
    path.write_text(json.dumps(message))
    return path


def test_a_message_lies_in_the_inbox_in_the_seeds_json(mail: MailboxManager, root: Path) -> None:
    mail.send("researcher", "coder", SEED)
    (path,) = (root / "coder" / "inbox").iterdir()
    assert path.name.endswith(".msg.json")
    assert path.name.startswith("1745659200.000000_researcher_")
    assert json.loads(path.read_text()) == SEED
    assert list(json.loads(path.read_text())) == list(SEED)
    assert "排序" in path.read_text()


def test_what_is_polled_is_what_was_sent_and_the_files_name(mail: MailboxManager) -> None:
    mail.send("researcher", "coder", SEED)
    (message,) = mail.poll("coder")
    assert message == SEED | {"filename": message["filename"], "attempt": 1}


def test_the_seeds_own_files_are_read(mail: MailboxManager, root: Path) -> None:
    drop(root, "coder", "1745659200_researcher.msg.json", SEED)
    (message,) = mail.poll("coder")
    assert message["filename"] == "1745659200_researcher.msg.json"
    mail.mark_processed("coder", message["filename"])
    assert names(root / "coder" / "processed") == ["1745659200_researcher.msg.json"]
    assert (names(root / "coder" / "inbox"), names(root / "coder" / "claims")) == ([], [".spare"])


def test_a_message_written_by_hand_needs_a_sender_and_no_more(mail: MailboxManager, root: Path) -> None:
    drop(root, "coder", "hello.msg.json", {"from": "me.sh", "content": "hi"})
    (message,) = mail.poll("coder")
    assert (message["to"], message["type"], message["ttl"], message["trace"]) == ("coder", "message", 3, ["me.sh"])
    assert texts([message]) == ["hi"]


def test_the_same_name_and_words_another_night_are_another_message(mail: MailboxManager, root: Path) -> None:
    ids = []
    for _ in range(2):
        drop(root, "coder", "red.msg.json", {"from": "nightly", "content": "The build is red."})
        (message,) = mail.poll("coder")
        mail.release("coder", message["filename"])
        assert mail.poll("coder")[0]["id"] == message["id"]
        mail.mark_processed("coder", message["filename"])
        ids.append(message["id"])
    assert len(set(ids)) == 2


def test_the_senders_dict_is_left_alone(mail: MailboxManager) -> None:
    message = {"content": "hi"}
    mail.send("a", "b", message)
    assert message == {"content": "hi"}


def test_order_is_by_time(mail: MailboxManager, clock: Any, root: Path) -> None:
    for word in "abc":
        mail.send("x", "y", {"content": word})  # in one and the same microsecond
    clock.sleep(5)
    drop(root, "y", "1745659203_z.msg.json", {"from": "z", "content": "seed"})
    mail.send("x", "y", {"content": "d"})
    assert texts(mail.poll("y")) == ["a", "b", "c", "seed", "d"]


def test_order_is_by_priority_first(mail: MailboxManager, root: Path) -> None:
    for word, priority in (("late", 5), ("plain", None), ("urgent", 1)):
        mail.send("x", "y", {"content": word, "priority": priority})
    drop(root, "y", "1745659203_z.msg.json", {"from": "z", "content": "foreign", "priority": 2})
    assert texts(mail.poll("y")) == ["urgent", "foreign", "plain", "late"]


def test_a_poll_takes_no_more_than_it_asks_for(mail: MailboxManager) -> None:
    for word in "abc":
        mail.send("x", "y", {"content": word})
    assert texts(mail.poll("y", limit=2)) == ["a", "b"]
    assert texts(mail.poll("y")) == ["c"]


def test_two_managers_never_both_get_a_message(mail: MailboxManager, root: Path, clock: Any) -> None:
    mail.send("x", "y", {"content": "once"})
    other = MailboxManager(root, clock=clock)
    assert len(mail.poll("y")) == 1
    assert other.poll("y") == mail.poll("y") == []


def test_what_was_not_marked_comes_back_when_the_claim_runs_out(mail: MailboxManager, root: Path, clock: Any) -> None:
    mail.send("x", "y", {"content": "again"})
    other = MailboxManager(root, clock=clock)
    mail.poll("y")
    clock.sleep(29.9)
    assert other.poll("y") == []
    clock.sleep(0.1)
    (message,) = other.poll("y")
    assert message["attempt"] == 2


def test_a_lost_claim_cannot_settle(mail: MailboxManager, root: Path, clock: Any) -> None:
    mail.send("x", "y", {"content": "mine"})
    (message,) = mail.poll("y")
    clock.sleep(31)
    other = MailboxManager(root, clock=clock)
    assert other.poll("y")
    for settle in (mail.mark_processed, mail.fail, mail.release):
        with pytest.raises(ClaimLost, match="another poller has the message"):
            settle("y", message["filename"])
    other.mark_processed("y", message["filename"])
    mail.mark_processed("y", message["filename"])  # it is done, whoever did it


def test_a_claim_that_ran_out_and_was_not_taken_may_still_settle(mail: MailboxManager, clock: Any) -> None:
    mail.send("x", "y", {"content": "slow"})
    (message,) = mail.poll("y")
    clock.sleep(100)
    mail.mark_processed("y", message["filename"])
    assert mail.poll("y") == []


def test_a_claim_can_be_extended(mail: MailboxManager, root: Path, clock: Any) -> None:
    mail.send("x", "y", {"content": "slow"})
    (message,) = mail.poll("y", claim_for=5)
    mail.extend("y", message["filename"], 100)
    clock.sleep(99)
    assert MailboxManager(root, clock=clock).poll("y") == []
    clock.sleep(1)
    assert len(MailboxManager(root, clock=clock).poll("y")) == 1


def test_another_program_run_later_may_mark_what_this_one_polled(mail: MailboxManager, root: Path, clock: Any) -> None:
    mail.send("x", "y", {"content": "hi"})
    (message,) = mail.poll("y")
    MailboxManager(root, clock=clock).mark_processed("y", message["filename"])
    clock.sleep(100)
    assert mail.poll("y") == []
    assert names(root / "y" / "claims") == [".spare"]


def test_marking_twice_changes_nothing(mail: MailboxManager) -> None:
    mail.send("x", "y", {"content": "hi"})
    (message,) = mail.poll("y")
    mail.mark_processed("y", message["filename"])
    mail.mark_processed("y", message["filename"])
    assert mail.poll("y") == []


def test_marking_what_never_was_is_refused(mail: MailboxManager) -> None:
    with pytest.raises(UnknownAgent):
        mail.mark_processed("y", "a.msg.json")
    mail.register("y", {})
    with pytest.raises(NoSuchMessage):
        mail.mark_processed("y", "a.msg.json")
    for name in cast(
        "list[str]", ["../a.msg.json", "a..msg.json", "/etc/passwd", "a.json", "", None, "..", "x/y.msg.json", "x\\y.msg.json"]
    ):
        with pytest.raises(BadFilename):
            mail.mark_processed("y", name)


def test_a_failure_is_retried_then_set_aside_and_the_sender_told(root: Path, clock: Any) -> None:
    mail = MailboxManager(root, Settings(max_attempts=3), clock)
    mail.send("x", "y", {"content": "hard"})
    for attempt in (1, 2, 3):
        (message,) = mail.poll("y")
        assert message["attempt"] == attempt
        assert mail.fail("y", message["filename"], "no such tool") is (attempt == 3)
    assert mail.poll("y") == []
    name = message["filename"]
    assert names(root / "y" / "bad") == [name, f"{name}.reason.json"]
    reason = json.loads((root / "y" / "bad" / f"{name}.reason.json").read_text())
    assert (reason["reason"], reason["attempts"]) == ("no such tool", 3)
    (notice,) = mail.poll("x")
    assert (notice["from"], notice["reply_to"]) == ("system", message["id"])
    assert "no such tool" in texts([notice])[0]
    assert notice["metadata"]["notice"] == "set_aside"
    assert names(root / "y" / "claims") == [".spare"]


def test_a_failed_message_keeps_its_place_and_may_wait(mail: MailboxManager, clock: Any) -> None:
    for word in "ab":
        mail.send("x", "y", {"content": word})
    (first,) = mail.poll("y", limit=1)
    mail.fail("y", first["filename"], "later")
    assert texts(mail.poll("y", limit=1)) == ["a"]
    mail.fail("y", first["filename"], "later", retry_in=10)
    assert texts(mail.poll("y")) == ["b"]
    clock.sleep(10)
    assert texts(mail.poll("y")) == ["a"]


def test_a_claim_that_always_runs_out_ends_in_bad(root: Path, clock: Any) -> None:
    mail = MailboxManager(root, Settings(max_attempts=2), clock)
    mail.send("x", "y", {"content": "poison"})
    for _ in range(2):
        assert len(mail.poll("y")) == 1
        clock.sleep(31)
    assert mail.poll("y") == []
    assert len(names(root / "y" / "bad")) == 2
    assert "never marked processed" in texts(mail.poll("x"))[0]


def test_a_release_is_no_attempt(root: Path, clock: Any) -> None:
    mail = MailboxManager(root, Settings(max_attempts=1), clock)
    mail.send("x", "y", {"content": "hi"})
    for _ in range(5):
        (message,) = mail.poll("y")
        assert message["attempt"] == 1
        mail.release("y", message["filename"])


def test_a_failed_task_tells_the_conversation_that_asked(root: Path, clock: Any) -> None:
    mail = MailboxManager(root, Settings(max_attempts=1), clock)
    mail.send("researcher", "coder", SEED)
    (message,) = mail.poll("coder")
    mail.fail("coder", message["filename"], "broken")
    (update,) = mail.poll("researcher")
    assert (update["type"], update["task"]["id"], update["task"]["state"]) == ("task_update", "original_task_id", "failed")
    assert update["callback"] == SEED["callback"]


def test_a_notice_never_causes_a_notice(root: Path, clock: Any) -> None:
    mail = MailboxManager(root, Settings(max_attempts=1), clock)
    mail.send("x", "y", {"content": "hi"})
    mail.fail("y", mail.poll("y")[0]["filename"], "no")
    mail.fail("x", mail.poll("x")[0]["filename"], "no")
    assert names(root) == ["_registry.lock", "x", "y"]


def test_a_poller_killed_while_setting_aside_tells_the_sender_once(root: Path, clock: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    mail = MailboxManager(root, Settings(max_attempts=1), clock)
    mail.send("x", "y", {"content": "hi"})
    (message,) = mail.poll("y")

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("postoffice_files.inbox.move", killed)
        with pytest.raises(KeyboardInterrupt):
            mail.fail("y", message["filename"], "no")
    clock.sleep(31)
    assert MailboxManager(root, Settings(max_attempts=1), clock).poll("y") == []
    assert len(names(root / "x" / "inbox")) == 1
    assert len(names(root / "y" / "bad")) == 2


def test_two_messages_with_the_seeds_same_second_id_both_arrive(mail: MailboxManager) -> None:
    for word in ("one", "two"):
        mail.send("researcher", "coder", SEED | {"content": word})
    assert texts(mail.poll("coder")) == ["one", "two"]


def test_two_files_of_one_name_in_turn_are_two_messages(mail: MailboxManager, root: Path) -> None:
    drop(root, "coder", "1745659200_x.msg.json", {"from": "x", "content": "one"})
    (one,) = mail.poll("coder")
    path = drop(root, "coder", "1745659200_x.msg.json", {"from": "x", "content": "other"})
    os.utime(path, (5, 5))
    with pytest.raises(NoSuchMessage):
        mail.mark_processed("coder", one["filename"])
    (two,) = mail.poll("coder")
    assert (texts([two]), two["attempt"]) == (["other"], 1)
    mail.mark_processed("coder", two["filename"])
    drop(root, "coder", "1745659200_x.msg.json", {"from": "x", "content": "third"})
    (three,) = mail.poll("coder")
    mail.mark_processed("coder", three["filename"])
    assert names(root / "coder" / "processed") == ["1745659200_x.2.msg.json", "1745659200_x.msg.json"]


def test_names_never_collide_even_if_chance_repeats_itself(root: Path, clock: Any) -> None:
    words = iter(["same", "same", "other"])
    clock.token = lambda: next(words, "later")
    mail = MailboxManager(root, clock=clock)
    for _ in range(2):
        mail.deliver("x", "y", {"content": "hi"}, at=1)
    assert len(mail.poll("y")) == 2


def test_a_keyed_delivery_happens_once_wherever_the_first_is_now(mail: MailboxManager) -> None:
    def deliver() -> str:
        return mail.deliver("x", "y", {"content": "hi"}, at=1_745_659_200_000_000, key="office-17")

    name = deliver()
    assert deliver() == name
    (message,) = mail.poll("y")
    assert deliver() == name
    mail.mark_processed("y", message["filename"])
    assert deliver() == name
    assert mail.poll("y") == []


def test_send_refuses_what_nobody_could_read(mail: MailboxManager) -> None:
    wrong: list[tuple[Any, str]] = [
        ({"content": float("nan")}, "content"),
        ({"content": "\ud800"}, "surrogate"),
        ({"content": "\0"}, "U.0000"),
        ({"metadata": {"x": {1, 2}}}, "not JSON"),
        ({"content": {"parts": [{"type": "text"}]}}, "parts"),
        ({"ttl": -1}, "ttl"),
        ({"trace": ["../x"]}, "trace"),
        ({"type": "task_update"}, "task"),
        ({"type": "task", "task": {"state": "odd"}}, "task.state"),
        ({"type": "task", "task": {"deadline": "soon"}}, "task.deadline"),
        ({"priority": 9}, "priority"),
        ({"callback": "x"}, "callback"),
        ("text", "dict"),
    ]
    for message, why in wrong:
        with pytest.raises(BadMessage, match=why):
            mail.send("x", "y", message)
    with pytest.raises(TooLarge, match="2097152"):
        mail.send("x", "y", {"content": "x" * 2 * 1024 * 1024})
    assert mail.poll("y") == []


@pytest.mark.parametrize("name", ["", "..", ".", "../x", "a/b", "_registry", "a b", "é", "-x", "x" * 101, None, 7, "a\n", "con\0"])
def test_bad_names_are_refused_everywhere(mail: MailboxManager, name: Any) -> None:
    for call in (
        lambda: mail.register(name, {}),
        lambda: mail.send(name, "y", {}),
        lambda: mail.send("x", name, {}),
        lambda: mail.poll(name),
        lambda: mail.heartbeat(name),
        lambda: mail.get_agent(name),
    ):
        with pytest.raises(BadName):
            call()


@pytest.mark.parametrize("name", ["con", "NUL", "com1", "lpt9.txt", "system", "ALL", "owner"])
def test_reserved_names_cannot_be_taken(mail: MailboxManager, name: Any) -> None:
    with pytest.raises(ReservedName):
        mail.register(name, {})


def test_names_are_unique_without_regard_to_case(mail: MailboxManager, root: Path) -> None:
    mail.register("Coder", {})
    with pytest.raises(NameTaken, match="'Coder'"):
        mail.register("coder", {})
    mail.send("x", "CODER", {"content": "hi"})
    (message,) = mail.poll("coder")
    assert message["to"] == "Coder"
    assert names(root) == ["Coder", "_registry.json", "_registry.lock"]
    assert (mail.get_agent("coder") or {})["agent_id"] == "Coder"


def test_mail_may_come_before_its_reader(mail: MailboxManager) -> None:
    mail.send("x", "late", {"content": "hi"})
    mail.register("late", {})
    assert texts(mail.poll("late")) == ["hi"]


def test_polling_nobody_makes_nothing(mail: MailboxManager, root: Path) -> None:
    assert mail.poll("nobody") == []
    assert not root.exists()


@pytest.mark.parametrize("place", ["y", "y/inbox", "y/claims"])
def test_a_mailbox_that_is_a_link_is_refused(mail: MailboxManager, root: Path, tmp_path: Path, place: Any) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    path = root / place
    path.parent.mkdir(parents=True)
    path.symlink_to(elsewhere)
    with pytest.raises(NotAMailbox, match="a symbolic link"):
        mail.poll("y")
    assert names(elsewhere) == []


def test_the_default_root_is_the_seeds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert MailboxManager().root == tmp_path / ".nanobot" / "mailboxes"


def test_threads_share_a_manager(root: Path) -> None:
    mail = MailboxManager(root)

    def work(name: str) -> None:
        for _ in range(20):
            mail.send(name, "y", {"content": "hi"})

    threads = [threading.Thread(target=work, args=(f"s{n}",)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(mail.poll("y")) == 80


def test_the_readmes_example_runs(root: Path) -> None:
    readme = (Path(__file__).parent.parent / "README.md").read_text()
    program = readme.split("```python\n")[1].split("```")[0].replace("/tmp/mailboxes", str(root))
    exec(program, {})
    assert len(names(root / "coder" / "processed")) == 1

"""What a bridge to another mail system asks of the library: refuse for good, show who is at home elsewhere, deliver in its order."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from postoffice_files import BadFilename, ClaimLost, MailboxManager, NoSuchMessage, Settings, UnknownAgent
from postoffice_files.home import Home
from postoffice_files.names import filename, place

AT = 1_745_659_200_000_000


def texts(messages: list[dict[str, Any]]) -> list[str]:
    return [message["content"]["parts"][0]["text"] for message in messages]


def elsewhere(name: str, **card: Any) -> dict[str, Any]:
    return {"agent_id": name, "home": "office", "last_heartbeat": "2025-04-26T09:20:00.000Z", **card}


# Refusing


def test_what_is_refused_is_set_aside_at_once_and_its_sender_told(mail: MailboxManager, root: Path) -> None:
    mail.send("x", "y", {"id": "m1", "content": "hi"})
    (message,) = mail.poll("y")
    mail.refuse("y", message["filename"], "not for me")
    assert (mail.poll("y"), list((root / "y" / "inbox").iterdir())) == ([], [])
    assert [path.name for path in (root / "y" / "claims").iterdir()] == [".spare"]
    record = json.loads((root / "y" / "bad" / f"{message['filename']}.reason.json").read_text())
    assert (record["reason"], record["attempts"]) == ("not for me", 1)
    (notice,) = mail.poll("x")
    assert (notice["from"], notice["reply_to"], notice["metadata"]["reason"]) == ("system", "m1", "not for me")


def test_a_sender_somebody_else_may_have_written_as_is_not_told(mail: MailboxManager, root: Path) -> None:
    mail.send("x", "y", {"content": "hi"})
    (message,) = mail.poll("y")
    mail.refuse("y", message["filename"], "forged", tell=False)
    assert len(list((root / "y" / "bad").iterdir())) == 2
    assert mail.poll("x") == []


def test_what_nobody_polled_can_be_refused_too(mail: MailboxManager, root: Path) -> None:
    name = mail.deliver("x", "y", {"content": "hi"})
    mail.refuse("y", name, "unread")
    assert mail.poll("y") == []
    assert (root / "y" / "bad" / name).exists()


def test_only_the_holder_refuses(mail: MailboxManager, root: Path, clock: Any) -> None:
    mail.send("x", "y", {"content": "hi"})
    (message,) = mail.poll("y")
    clock.sleep(31)
    (again,) = MailboxManager(root, clock=clock).poll("y")
    with pytest.raises(ClaimLost):
        mail.refuse("y", message["filename"], "too late")
    assert again["attempt"] == 2
    assert not list((root / "y" / "bad").iterdir())


def test_what_is_not_there_cannot_be_refused(mail: MailboxManager) -> None:
    mail.register("y")
    with pytest.raises(NoSuchMessage):
        mail.refuse("y", "1745659200_x.msg.json", "no")
    with pytest.raises(BadFilename):
        mail.refuse("y", "../y/inbox/x.msg.json", "no")
    with pytest.raises(UnknownAgent):
        mail.refuse("nobody", "1745659200_x.msg.json", "no")


def test_a_refused_task_has_failed_for_whoever_asked(mail: MailboxManager) -> None:
    mail.send("x", "y", {"type": "task", "task": {"id": "t1", "state": "pending"}, "callback": {"channel": "chat"}, "content": "do it"})
    (message,) = mail.poll("y")
    mail.refuse("y", message["filename"], "closed today")
    (update,) = mail.poll("x")
    assert (update["task"]["id"], update["task"]["state"], update["callback"]) == ("t1", "failed", {"channel": "chat"})


# The registry


def test_every_card_is_listed_online_or_not(mail: MailboxManager, clock: Any) -> None:
    assert mail.list_agents() == []
    mail.register("early")
    clock.sleep(61)
    mail.register("late")
    listed = mail.list_agents()
    assert listed is not None
    assert [(card["agent_id"], card["status"]) for card in listed] == [("early", "offline"), ("late", "idle")]


@pytest.mark.parametrize("content", ["", "{", "[]", "\xff", '{"a": NaN}'])
def test_a_registry_that_cannot_be_read_is_not_an_empty_one(mail: MailboxManager, root: Path, content: str) -> None:
    mail.register("x")
    (root / "_registry.json").write_bytes(content.encode("latin-1"))
    assert mail.list_agents() is None
    assert mail.list_online_agents() == []


def test_a_card_is_called_what_it_stands_under(mail: MailboxManager, root: Path) -> None:
    mail.register("x")
    (root / "_registry.json").write_text('{"x": {"agent_id": "somebody"}, "y": {}, "z": 5}')
    listed = mail.list_agents()
    assert listed is not None
    assert [card["agent_id"] for card in listed] == ["x", "y"]


def test_agents_at_home_elsewhere_are_entered_all_at_once(mail: MailboxManager, root: Path) -> None:
    mail.register("here")
    cards = [elsewhere("alice", description="there", status="busy", current_tasks=["t1"]), elsewhere("bob", status="offline")]
    assert mail.mirror(cards) == ["alice", "bob"]
    alice = mail.get_agent("alice")
    assert alice is not None
    assert (alice["home"], alice["description"], alice["status"], alice["current_tasks"]) == ("office", "there", "busy", ["t1"])
    assert [card["agent_id"] for card in mail.list_online_agents()] == ["here", "alice"]
    assert (root / "bob" / "inbox").is_dir()


def test_a_mirrored_card_lives_as_long_as_its_heartbeat_says(mail: MailboxManager, clock: Any) -> None:
    mail.mirror([elsewhere("alice")])
    clock.sleep(61)
    mail.mirror([elsewhere("bob", last_heartbeat="2025-04-26T09:21:00.000Z")])
    assert [card["agent_id"] for card in mail.list_online_agents()] == ["bob"]


def test_whoever_is_at_home_here_keeps_its_card(mail: MailboxManager) -> None:
    mail.register("coder", {"description": "mine"})
    assert mail.mirror([elsewhere("Coder", description="theirs"), elsewhere("alice")]) == ["alice"]
    coder = mail.get_agent("coder")
    assert coder is not None
    assert (coder["description"], coder.get("home")) == ("mine", None)


def test_one_that_moves_in_here_is_at_home_here(mail: MailboxManager) -> None:
    mail.mirror([elsewhere("alice")])
    mail.register("alice", {"description": "moved"})
    assert mail.mirror([elsewhere("alice")]) == []
    alice = mail.get_agent("alice")
    assert alice is not None
    assert (alice["description"], "home" in alice) == ("moved", False)


def test_one_whose_card_was_dropped_and_taken_over_comes_home_with_its_next_heartbeat(mail: MailboxManager, root: Path) -> None:
    mail.register("coder", {"description": "mine"})
    (root / "_registry.json").write_text("{}")
    bridge = MailboxManager(root)
    assert bridge.mirror([elsewhere("coder")]) == ["coder"]
    mail.heartbeat("coder")
    coder = bridge.get_agent("coder")
    assert coder is not None
    assert (coder["description"], "home" in coder) == ("mine", False)


def test_one_that_cannot_be_entered_keeps_nobody_else_out(mail: MailboxManager, root: Path, tmp_path: Path) -> None:
    root.mkdir()
    (root / "linked").symlink_to(tmp_path)
    (root / "file").write_text("")
    bad = [
        elsewhere("linked"),
        elsewhere("file"),
        elsewhere("owner"),
        elsewhere("nul"),
        elsewhere("texts", allow_from="*"),
        elsewhere("sleepy", status="asleep"),
    ]
    assert mail.mirror([*bad, elsewhere("alice")]) == ["alice"]
    listed = mail.list_agents()
    assert listed is not None
    assert [card["agent_id"] for card in listed] == ["alice"]
    assert not (root / "texts").exists()


def test_a_folder_that_may_not_be_entered_does_not_keep_the_others_out(mail: MailboxManager, monkeypatch: pytest.MonkeyPatch) -> None:
    build = Home.build

    def refuse(home: Home) -> None:
        if home.agent == "theirs":
            raise PermissionError(13, "Permission denied")
        build(home)

    monkeypatch.setattr(Home, "build", refuse)
    assert mail.mirror([elsewhere("theirs"), elsewhere("alice")]) == ["alice"]


# Delivering in another's order


def test_messages_of_one_time_come_in_the_order_they_are_given(mail: MailboxManager) -> None:
    for order in (3, 1, 255, 2, 16):
        mail.deliver("x", "y", {"content": str(order)}, at=AT, key=f"k{order}", order=order)
    assert texts(mail.poll("y")) == ["1", "2", "3", "16", "255"]


def test_time_comes_before_order_and_priority_before_time(mail: MailboxManager) -> None:
    for at, order, priority in ((AT + 1, 1, 3), (AT, 2, 3), (AT + 2, 9, 1), (AT, 1, 3)):
        mail.deliver("x", "y", {"content": f"{at - AT} {order} {priority}", "priority": priority}, at=at, key=f"{at}{order}", order=order)
    assert texts(mail.poll("y")) == ["2 9 1", "0 1 3", "0 2 3", "1 1 3"]


def test_messages_of_one_time_and_several_senders_keep_the_order(mail: MailboxManager) -> None:
    for order, sender in enumerate(("zoe", "adam", "Mia", "bob")):
        mail.deliver(sender, "y", {"content": sender}, at=AT, key=sender, order=order)
    assert texts(mail.poll("y")) == ["zoe", "adam", "Mia", "bob"]


def test_the_same_key_under_another_order_is_another_message(mail: MailboxManager) -> None:
    names = {mail.deliver("x", "y", {"content": "hi"}, at=AT, key="k", order=order) for order in (1, 2, 1)}
    assert len(names) == len(mail.poll("y")) == 2


def test_what_the_bridge_wrote_and_was_settled_is_not_written_again(root: Path, clock: Any) -> None:
    mail = MailboxManager(root, Settings(max_attempts=1), clock)

    def deliver() -> str:
        return mail.deliver("x", "y", {"content": "hi"}, at=AT, key="k", order=7)

    name = deliver()
    (message,) = mail.poll("y")
    mail.refuse("y", message["filename"], "no")
    assert (deliver(), mail.poll("y")) == (name, [])


@given(st.integers(0, 16**10 - 1), st.integers(0, 16**10 - 1))
def test_a_name_sorts_by_its_order(one: int, two: int) -> None:
    first, second = [place(filename(AT, "x", 3, f"{order:010x}{'0' * 16}")).order for order in (one, two)]
    assert (first < second) == (one < two)

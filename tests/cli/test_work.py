"""Tasks, notes and dead letters."""

import pytest

from tests.cli.home import Home


@pytest.mark.parametrize(("act", "state"), [("complete", "completed"), ("fail", "failed")])
def test_a_task_is_accepted_and_brought_to_its_end(home: Home, act: str, state: str) -> None:
    boss, coder = home.names("boss", "coder")
    task = home.ask("send", "--to", coder, "--task", "--subject", "Dig", "a hole", "--as", boss)["message_id"]
    assert home.ask("task", "accept", task, "--as", coder)["state"] == "accepted"
    assert home.ask("task", act, task, "so it went", "--as", coder)["state"] == state
    (asked,) = home.ask("tasks", "--asked", "--state", state, "--as", boss)["tasks"]
    assert [asked[name] for name in ("id", "assignee", "subject")] == [task, coder, "Dig"]
    assert [asked["steps"][at]["state"] for at in (0, 1, -1)] == ["pending", "accepted", state]
    assert "final" in home.refused(73, "task", "accept", task, "--as", coder)


def test_a_task_is_moved_by_whom_it_was_given_to(home: Home) -> None:
    boss, coder = home.names("boss", "coder")
    task = home.ask("send", "--to", coder, "--task", "dig", "--as", boss)["message_id"]
    home.refused(77, "task", "complete", task, "--as", boss)
    home.refused(66, "task", "complete", "nothing", "--as", coder)
    home.refused(2, "task", "forget", task)


@pytest.mark.parametrize("entity", ["T-42", "Größe #1?"])
def test_a_note_stays_with_what_it_is_about(home: Home, entity: str) -> None:
    quinn, mindy, mark = home.names("quinn", "mindy", "note")
    assert home.ask("note", entity, mark, "--notify", mindy, "--as", quinn)["notified"] == [mindy]
    assert mark in [note["content"] for note in home.ask("note", entity, "--as", quinn)["messages"]]
    assert home.ask("recv", "--as", mindy)["content"] == mark


class TestDeadLetters:
    def died(self, home: Home) -> tuple[str, str]:
        alice, bob = home.names("alice", "bob")
        sent = home.ask("send", "--to", bob, "hello", "--as", alice)["message_id"]
        assert home.run("recv", "--as", bob, "--exec", "false").returncode == 1
        return bob, sent

    def test_one_is_listed_with_why_and_gets_another_life(self, hasty_home: Home) -> None:
        bob, sent = self.died(hasty_home)
        (dead,) = hasty_home.ask("dead", "list", "--as", bob)["dead_letters"]
        assert (dead["message"]["id"], dead["standing"]["reason"]) == (sent, "the command ended with 1")
        assert hasty_home.ask("dead", "requeue", sent, "--as", bob)["state"] == "pending"
        assert hasty_home.ask("recv", "--as", bob)["id"] == sent
        assert "not dead" in hasty_home.refused(73, "dead", "requeue", sent, "--as", bob)

    def test_the_owner_discards_another_s(self, hasty_home: Home) -> None:
        bob, sent = self.died(hasty_home)
        assert sent in [dead["message"]["id"] for dead in hasty_home.ask("dead", "--everyone")["dead_letters"]]
        hasty_home.ask("dead", "discard", sent, "--of", bob)
        assert hasty_home.ask("dead", "--as", bob)["dead_letters"] == []

    def test_which_one_has_to_be_said(self, hasty_home: Home) -> None:
        done = hasty_home.run("dead", "requeue")
        assert (done.returncode in {2, 65}, "None" in done.stderr) == (True, False), done.stderr

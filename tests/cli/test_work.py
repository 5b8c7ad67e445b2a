"""Tasks, notes and dead letters."""

from typing import Any

import httpx
import pytest

from tests.cli.home import Home
from tests.cli.terminal import plain, seen

MORE = "There are more"


def batch(home: Home, sender: str, messages: list[dict[str, Any]]) -> None:
    with httpx.Client(base_url=home.office.url, headers={"X-Agent": sender}, timeout=60) as client:
        for at in range(0, len(messages), 100):
            client.post("/messages/send/batch", json={"messages": messages[at : at + 100]}).raise_for_status()


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


def test_work_that_belongs_to_other_work_is_shown_as_a_tree(home: Home) -> None:
    boss, coder, docs = home.names("boss", "coder", "docs")

    def asked(to: str, what: str, *links: str) -> str:
        return str(home.ask("send", "--to", to, "--task", what, "--subject", what, *links, "--as", boss)["message_id"])

    whole = asked(coder, "Release")
    code = asked(coder, "Code", "--parent", whole[-8:])
    asked(docs, "Guide", "--parent", whole, "--after", code[-8:])
    home.ask("task", "work", code, "at it", "--percent", "40", "--as", coder)
    lines = plain(seen(home, "tasks", "--tree", "--as", boss)).splitlines()
    assert [line.split()[0] for line in lines[1:]] == ["pending", "working", "pending"]
    assert "   Code" in lines[2]
    assert "working 40 %" in lines[2]
    assert f"{coder} ({code[-6:]})" in lines[3]
    (tree,) = home.ask("tasks", "--tree", "--as", boss)["tree"]
    assert [part["task"]["subject"] for part in tree["parts"]] == ["Code", "Guide"]
    assert "2 of its parts are not finished" in plain(seen(home, "task", "complete", whole, "done", "--as", coder))
    assert "--parent" in home.refused(65, "send", "--to", docs, "no task", "--parent", whole, "--as", boss)


def test_a_result_may_be_as_long_as_a_letter(home: Home) -> None:
    boss, coder = home.names("boss", "coder")
    task = home.ask("send", "--to", coder, "--task", "dig", "--as", boss)["message_id"]
    assert home.ask("task", "complete", task, "deep " * 3000, "--as", coder)["state"] == "completed"
    assert home.ask("recv", "--as", boss)["parts"] == [{"type": "text", "text": "deep " * 3000}]


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


class TestLongLists:
    """A list is shown whole, page after page, and what a limit cuts off is told of."""

    def test_all_tasks_are_listed(self, home: Home) -> None:
        boss, coder = home.names("boss", "coder")
        batch(home, boss, [{"to": coder, "type": "task", "content": str(number)} for number in range(205)])
        assert len({task["id"] for task in home.ask("tasks", "--as", coder)["tasks"]}) == 205
        cut = home.ask("tasks", "--as", coder, "--limit", "204")
        assert (len(cut["tasks"]), cut["cursor"] is None) == (204, False)
        assert MORE in plain(seen(home, "tasks", "--as", coder, "--limit", "3"))
        assert MORE not in plain(seen(home, "tasks", "--as", coder, "--limit", "205"))

    def test_all_notes_are_shown(self, home: Home) -> None:
        quinn, entity = home.names("quinn", "entity")
        note = {"to": quinn, "type": "task.note", "ref_id": entity}
        batch(home, quinn, [note | {"content": str(number)} for number in range(60)])
        assert len(home.ask("note", entity, "--as", quinn)["messages"]) == 60
        assert MORE in plain(seen(home, "note", entity, "--limit", "2", "--as", quinn))

    def test_all_connections_are_listed(self, home: Home) -> None:
        (star,) = home.names("star")
        for planet in home.names("mars", "venus"):
            home.ask("send", "--as", planet, "--to", planet, "I am here")
            home.ask("connect", planet, "--as", star)
        assert len(home.ask("connections", "--as", star)["connections"]) == 2
        cut = home.ask("connections", "--limit", "1", "--as", star)
        assert (len(cut["connections"]), cut["cursor"] is None) == (1, False)
        assert MORE in plain(seen(home, "connections", "--limit", "1", "--as", star))

    def test_a_search_and_an_inbox_that_a_limit_cuts_off_say_so(self, home: Home) -> None:
        alice, bob, word = home.names("alice", "bob", "word")
        batch(home, alice, [{"to": bob, "subject": str(number), "content": word} for number in range(205)])
        assert len(home.ask("inbox", "--limit", "300", "--as", bob)["sessions"]) == 205
        assert len(home.ask("search", word, "--limit", "204", "--as", bob)["results"]) == 204
        assert MORE in plain(seen(home, "inbox", "--limit", "2", "--as", bob))
        assert MORE in plain(seen(home, "search", word, "--limit", "2", "--as", bob))


class TestDeadLetters:
    def test_all_of_them_are_listed(self, hasty_home: Home) -> None:
        first, _ = self.died(hasty_home)
        self.died(hasty_home)
        assert len(hasty_home.ask("dead", "--everyone")["dead_letters"]) >= 2
        assert len(hasty_home.ask("dead", "--everyone", "--limit", "1")["dead_letters"]) == 1
        assert MORE in plain(seen(hasty_home, "dead", "--everyone", "--limit", "1"))
        assert MORE not in plain(seen(hasty_home, "dead", "--as", first))

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

"""Mail goes, is seen, and is settled by the command alone."""

import json
import urllib.request
from pathlib import Path

import pytest

from tests.cli.home import Home, opened
from tests.serve.running import PATIENCE

OFFLINE = {"way": "offline", "text": "nobody has been here under that name yet"}


class TestSending:
    def test_text_arrives_as_it_was_written(self, home: Home) -> None:
        alice, bob = home.names("alice", "wolfgang")  # a name that no other is like
        sent = home.ask("send", "--to", bob, "Grüße\n — 🐟", "--subject", "Fish", "--as", alice)
        assert sent["recipients"] == [{"recipient": bob, "session_id": sent["session_id"], "unseen": True, "reach": OFFLINE}]
        taken = home.ask("recv", "--as", bob)
        assert (taken["from"], taken["content"], taken["subject"]) == (alice, "Grüße\n — 🐟", "Fish")

    def test_what_is_piped_in_is_sent(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        for dash in ([], ["-"]):
            home.ask("send", "--to", bob, *dash, "--as", alice, said="a\nb\n")
            assert home.ask("recv", "--as", bob)["content"] == "a\nb\n"

    def test_several_get_it_each(self, home: Home) -> None:
        alice, bob, carol = home.names("alice", "bob", "carol")
        sent = home.ask("send", "--to", bob, "--to", carol, "all of you", "--as", alice)
        assert [to["recipient"] for to in sent["recipients"]] == [bob, carol]
        assert [home.ask("recv", "--as", name)["content"] for name in (bob, carol)] == ["all of you"] * 2

    def test_a_session_goes_on(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        begun = home.ask("send", "--to", bob, "one", "--subject", "Plan", "--as", alice)["session_id"]
        assert home.ask("send", "--to", alice, "two", "--session", begun, "--as", bob)["session_id"] == begun
        assert home.ask("recv", "--as", alice)["subject"] == "Plan"

    def test_a_task_is_asked_for(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        sent = home.ask("send", "--to", bob, "--task", "--priority", "1", "dig", "--as", alice)
        taken = home.ask("recv", "--as", bob)
        assert (taken["type"], taken["priority"], taken["task"]["state"]) == ("task", 1, "pending")
        assert home.ask("tasks", "--as", bob)["tasks"][0]["id"] == sent["message_id"]

    @pytest.mark.parametrize(
        ("written", "meant"),
        [
            ("2999-12-31T18:00Z", "2999-12-31T18:00"),
            ("2999-12-31 18:00", "2999-12-31T19:00"),
            ("2999-12-31T18:00+02:00", "2999-12-31T16:00"),
        ],
    )
    def test_a_task_has_a_deadline_on_the_clock_of_whoever_asks(self, home: Home, written: str, meant: str) -> None:
        alice, bob = home.names("alice", "bob")
        home.ask("send", "--to", bob, "--task", "--deadline", written, "dig", "--as", alice, extra={"TZ": "XXX+1"})
        assert home.ask("tasks", "--as", bob)["tasks"][0]["deadline"].startswith(meant)

    @pytest.mark.parametrize("written", ["soon", "2999-13-31", "0001-01-01T00:00", "2026-01-01", ""])
    def test_a_deadline_that_is_no_time_is_refused(self, home: Home, written: str) -> None:
        alice, bob = home.names("alice", "bob")
        assert "--deadline" in home.refused(65, "send", "--to", bob, "--task", "--deadline", written, "dig", "--as", alice)

    def test_what_would_be_passed_over_is_refused(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        assert "--type" in home.refused(65, "send", "--to", bob, "--task", "--type", "fyi", "dig", "--as", alice)
        assert "--task" in home.refused(65, "send", "--to", bob, "--deadline", "2999-12-31T18:00Z", "dig", "--as", alice)
        assert home.ask("send", "--to", bob, "--task", "--type", "task", "dig", "--as", alice)["session_id"]

    def test_what_a_command_that_failed_leaves_in_a_pipe_is_no_letter(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        for way in ([], ["-"]):
            assert "nothing was sent" in home.refused(65, "send", "--to", bob, "--subject", "Report", *way, "--as", alice)
        home.ask("send", "--to", bob, "", "--subject", "Said in the subject", "--as", alice)
        assert home.ask("recv", "--as", bob)["content"] == ""

    def test_an_id_twice_is_one_message(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        first, second = (home.ask("send", "--to", bob, "once", "--id", "mine", "--as", alice) for _ in range(2))
        assert (first["duplicate"], second["duplicate"]) == (False, True)
        assert first["message_id"] == second["message_id"]
        assert home.ask("inbox", "--as", bob)["sessions"][0]["unread_count"] == 1

    def test_an_id_for_something_else_is_a_conflict(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        home.ask("send", "--to", bob, "once", "--id", "mine", "--as", alice)
        assert "new id" in home.refused(73, "send", "--to", bob, "other", "--id", "mine", "--as", alice)


class TestReading:
    def test_the_inbox_counts_what_is_unread(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        assert home.ask("inbox", "--as", bob) == {"sessions": [], "pending_connections": [], "cursor": None, "notes": []}
        for text in ("one", "two"):
            home.ask("send", "--to", bob, text, "--as", alice)
        (session,) = home.ask("inbox", "--unread", "--as", bob)["sessions"]
        assert (session["other_agent_name"], session["unread_count"]) == (alice, 2)

    def test_what_belongs_to_no_conversation_is_in_the_inbox_as_well(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        home.ask("send", "--to", bob, "remember the milk", "--as", bob)
        home.ask("note", "T-7", "begun", "--notify", bob, "--as", alice)
        assert [note["content"] for note in home.ask("inbox", "--as", bob)["notes"]] == ["remember the milk", "begun"]
        home.ask("send", "--to", bob, "hello", "--as", alice)
        assert len(home.ask("inbox", "--as", bob)["notes"]) == 2

    def test_a_note_is_in_the_inbox_however_much_else_waits_before_it(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        for text in ("one", "two"):
            home.ask("send", "--to", bob, text, "--as", alice)
        home.ask("note", "T-7", "begun", "--notify", bob, "--as", alice)
        assert [note["content"] for note in home.ask("inbox", "--limit", "1", "--as", bob)["notes"]] == ["begun"]

    def test_reading_settles_and_peeking_does_not(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        session = home.ask("send", "--to", bob, "hello", "--as", alice)["session_id"]
        for flags, left in ((["--peek"], 1), ([], 0)):
            shown = home.ask("read", session, *flags, "--as", bob)
            assert [line["content"] for line in shown["messages"]] == ["hello"]
            assert len(home.ask("inbox", "--unread", "--as", bob)["sessions"]) == left

    def test_status_tells_the_sender_where_it_stands(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        sent = home.ask("send", "--to", bob, "hello", "--as", alice)["message_id"]
        assert home.ask("status", sent, "--as", alice)["standings"][0]["state"] == "pending"
        home.ask("recv", "--as", bob)
        (standing,) = home.ask("status", sent, "--as", alice)["standings"]
        assert (standing["recipient"], standing["state"], standing["attempts"]) == (bob, "acked", 1)

    def test_search_finds_words_of_one_s_own_mail(self, home: Home) -> None:
        alice, bob, eve, word = home.names("alice", "bob", "eve", "word")
        home.ask("send", "--to", bob, f"the invoice {word} of march", "--as", alice)
        (hit,) = home.ask("search", "invoice", word, "--as", bob)["results"]
        assert hit["message"]["from"] == alice
        assert home.ask("search", word, "--as", eve)["results"] == []
        assert len(home.ask("search", word, "--everyone")["results"]) == 1


class TestSettling:
    def leased(self, home: Home) -> tuple[str, str, str]:
        """A message that somebody holds: who, its id, its token."""
        alice, bob = home.names("alice", "bob")
        home.ask("send", "--to", bob, "hold this", "--as", alice)
        asking = {"X-Agent": bob, "Content-Type": "application/json"}
        request = urllib.request.Request(f"{home.office.url}/messages/wait", b'{"limit": 1}', asking)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            (held,) = json.load(answer)["messages"]
        return bob, held["id"], held["token"]

    def test_an_ack_with_its_token_is_the_end(self, home: Home) -> None:
        bob, message, token = self.leased(home)
        home.refused(73, "ack", message, "--token", "0" * 32, "--as", bob)
        assert home.ask("ack", message, "--token", token, "--as", bob)["state"] == "acked"
        assert home.run("recv", "--wait", "0", "--as", bob).returncode == 1

    def test_a_nack_gives_it_back_with_the_reason(self, home: Home) -> None:
        bob, message, token = self.leased(home)
        given = home.ask("nack", message, "--token", token, "--reason", "no access", "--as", bob)
        assert given["state"] == "pending"
        assert home.ask("status", message, "--as", bob)["standings"][0]["reason"] == "no access"
        assert home.ask("recv", "--as", bob)["attempt"] == 2

    def test_a_nack_may_ask_for_time(self, home: Home) -> None:
        bob, message, token = self.leased(home)
        home.ask("nack", message, "--token", token, "--delay", "600", "--as", bob)
        assert home.run("recv", "--wait", "0", "--as", bob).returncode == 1


def test_an_office_and_its_settings_need_no_locale_of_utf_8(tmp_path: Path) -> None:
    """Where the locale's encoding is another, it did not start, or ended what it found in three odd characters."""
    (tmp_path / "postoffice.toml").write_text('[[routes]]\nevent = "straße.gesperrt"\nto = ["bob"]\n', encoding="utf-8")
    with opened(tmp_path / "data", extra={"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}) as office:
        home = Home(tmp_path / "home", office)
        home.ask("send", "--to", "bob", "needle " + "hay " * 90, "--as", "alice")
        (hit,) = home.ask("search", "needle", "--as", "bob")["results"]
        assert hit["excerpt"].endswith("…")

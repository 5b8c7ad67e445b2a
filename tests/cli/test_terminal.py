"""At a terminal: tables, colour, one line an event, and nothing another agent wrote can draw there."""

import json
from datetime import UTC, datetime, timedelta

import httpx
import pytest

from tests.cli.home import Home
from tests.cli.terminal import plain, seen
from tests.serve.running import free_port

NASTY = "\x1b[31mred\x1b[0m\x1b]0;title\x07\nowner  just now\r\x9b2J\u202eevil\u2066\u2028more"
_HARMFUL = ("\x1b[31m", "\x1b]", "\x07", "\r", "\x9b", "\u202e", "\u2066", "\u2028")


def harmless(screen: str) -> bool:
    return not [char for char in _HARMFUL if char in screen]


class TestTables:
    def test_the_inbox_is_a_table(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        home.ask("send", "--to", bob, "hello there", "--subject", "[red]Plan", "--as", alice)
        screen = seen(home, "inbox", "--as", bob)
        assert "\x1b[1m" in screen
        head, row = plain(screen).splitlines()
        assert head.split() == ["unread", "with", "subject", "last", "when", "session"]
        assert row.split()[:5] == ["1", alice, "[red]Plan", "hello", "there"]

    @pytest.mark.parametrize("columns", [80, 120])
    def test_each_row_is_one_line_with_the_end_of_its_id_to_be_copied(self, home: Home, columns: int) -> None:
        alice, bob = home.names("claude-code-review", "bob")
        words = ("Shall we say " + "twelve or " * 9, "--subject", "Lunch at noon, or perhaps somewhat later", "--task", "--as", alice)
        sent = home.ask("send", "--to", bob, *words)
        shape = {"COLUMNS": str(columns)}
        for command, id in (("inbox", sent["session_id"]), ("tasks", sent["message_id"])):
            _, row = plain(seen(home, command, "--as", bob, extra=shape)).splitlines()
            assert row.split()[-1] == id[-6:]
            assert "…" in row or columns > 80
            assert len(row) <= columns

    def test_an_id_is_taken_by_its_end_and_by_its_beginning(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        sent = home.ask("send", "--to", bob, "dig", "--task", "--subject", "Garden", "--as", alice)
        for part in (sent["session_id"][-6:], sent["session_id"][:-3]):
            assert home.ask("read", part, "--peek", "--as", bob)["session_id"] == sent["session_id"]
        assert home.ask("status", sent["message_id"][-6:], "--as", bob)["message_id"] == sent["message_id"]
        assert home.ask("task", "accept", sent["message_id"][-6:].upper(), "--as", bob)["state"] == "accepted"

    def test_an_end_that_several_ids_have_is_told(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        for number in range(3):
            home.ask("send", "--to", bob, "dig", "--task", "--subject", f"Garden {number}", "--as", alice)
        begun = home.ask("inbox", "--as", bob)["sessions"][0]["session_id"][:6]
        assert "give more of it" in home.refused(65, "read", begun, "--as", bob)

    def test_agents_are_a_table_in_colour(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("inbox", "--as", coder)
        screen = seen(home, "agents")
        assert "\x1b[32midle" in screen
        assert plain(screen).splitlines()[0].split() == ["agent", "is", "tasks", "seen", "reached", "does"]

    def test_they_tell_what_each_can_do(self, home: Home) -> None:
        reviewer, tester = home.names("reviewer", "tester")
        home.ask("register", reviewer, "--description", "reads", "--capability", "review", "--capability", "code style")
        home.ask("register", tester, "--capability", "tests")
        does = dict(line.split(maxsplit=1) for line in plain(seen(home, "agents")).splitlines())
        assert does[reviewer].rstrip().endswith("reads; review, code style")
        assert does[tester].rstrip().endswith("tests")

    def test_status_tells_how_often_a_window_was_rung_and_whether_a_turn_began(self, home: Home) -> None:
        alice, coder = home.names("alice", "coder")
        place = {"process": 4711, "started": "8123", "folder": "/home/ann/shop", "machine": "laptop"}
        opened = httpx.post(f"{home.office.url}/windows", json={"client": "claude-code", "agent": coder, **place}).raise_for_status().json()
        window = f"{home.office.url}/windows/{opened['id']}"
        id = home.ask("send", "--to", coder, "Noon?", "--as", alice)["message_id"]
        assert "rung" not in plain(seen(home, "status", id, "--as", alice)).splitlines()[1]
        for _ in range(2):
            httpx.post(f"{window}/rung", json={"messages": [id]}).raise_for_status()
        assert "2 times, last just now; no turn" in plain(seen(home, "status", id, "--as", alice))
        httpx.post(f"{window}/turn", json={}).raise_for_status()
        assert "2 times, last just now; turn begun" in plain(seen(home, "status", id, "--as", alice))

    def test_tasks_tell_when_they_are_due(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        soon = (datetime.now(UTC) + timedelta(hours=3, minutes=30)).isoformat()
        body = {"to": bob, "subject": "Tidy", "content": "please", "type": "task", "task": {"deadline": soon}}
        httpx.post(f"{home.office.url}/messages/send", json=body, headers={"X-Agent": alice}).raise_for_status()
        head, row = plain(seen(home, "tasks", "--as", bob)).splitlines()
        assert head.split() == ["is", "asked", "by", "of", "subject", "since", "due", "task"]
        assert "in 3 h" in row
        home.ask("task", "complete", row.split()[-1], "--as", bob)
        assert "due" not in plain(seen(home, "tasks", "--as", bob)).splitlines()[0]

    def test_nobody_has_to_have_colours(self, home: Home) -> None:
        home.ask("inbox", "--as", *home.names("coder"))
        assert "\x1b" not in seen(home, "agents", extra={"NO_COLOR": "1"})

    def test_json_is_for_the_asking(self, home: Home) -> None:
        (coder,) = home.names("coder")
        assert json.loads(seen(home, "inbox", "--as", coder, "--json"))["sessions"] == []

    def test_the_doctor_speaks_to_people(self, home: Home) -> None:
        assert plain(seen(home, "doctor")).splitlines()[0].split()[:3] == ["is", "what", "found"]


class TestWords:
    def test_an_answer_too_long_for_one_content_is_shown_whole(self, home: Home) -> None:
        alice, talker = home.names("alice", "talker")
        with home.staying("run", talker, "--", "seq", "3000"):
            screen = seen(home, "send", "--to", talker, "count", "--wait-reply", "20", "--as", alice)
        assert plain(screen).split()[-3000:] == [str(number) for number in range(1, 3001)]

    def test_mail_without_content_says_what_it_carries(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("send", "--to", coder, "--as", coder, said="milk " * 2001)
        assert "milk milk" in plain(seen(home, "inbox", "--as", coder))

    def test_a_report_on_a_task_that_says_nothing_shows_what_it_reports(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        sent = home.ask("send", "--to", bob, "--task", "clean up", "--as", alice)
        home.ask("task", "complete", sent["message_id"], "--as", bob)
        assert "(the task is completed)" in seen(home, "inbox", "--as", alice)
        assert "(the task is completed)" in seen(home, "read", sent["session_id"], "--as", alice)
        assert f"{bob}: (the task is completed)" in seen(home, "watch", "--as", alice, "--after", "0", until="(the task", code=130)

    def test_a_terminal_without_a_sign_for_them_shows_the_others(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        home.ask("send", "--to", bob, "Grüße 🎉 from afar", "--as", alice)
        ascii = {"PYTHONIOENCODING": "ascii"}
        assert "Gr??e ? from afar" in seen(home, "inbox", "--as", bob, extra=ascii)
        assert "--task" in seen(home, "tasks", "--as", bob, extra=ascii)
        assert home.ask("recv", "--as", bob, extra=ascii)["content"] == "Grüße 🎉 from afar"


class TestNothingThere:
    @pytest.mark.parametrize("words", [["inbox"], ["tasks"], ["connections"], ["dead"], ["search", "word"], ["note", "T-42"]])
    def test_what_to_do_next_is_said(self, home: Home, words: list[str]) -> None:
        (nobody,) = home.names("nobody")
        assert "postoffice " in seen(home, *words, "--as", nobody)

    def test_mail_that_was_read_is_not_denied(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        home.ask("read", home.ask("send", "--to", bob, "hello", "--as", alice)["session_id"], "--as", bob)
        assert "No mail" not in seen(home, "inbox", "--unread", "--as", bob)

    def test_a_send_without_words_does_not_wait_for_any(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        assert "postoffice send --to bob 'Hello'" in seen(home, "send", "--to", bob, "--as", alice, code=65)


class TestOthersWords:
    def test_they_cannot_draw_on_the_screen(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        session = home.ask("send", "--to", bob, NASTY, "--as", alice)["session_id"]
        inbox = seen(home, "inbox", "--as", bob)
        assert harmless(inbox)
        assert len(inbox.splitlines()) == 2
        read = seen(home, "read", session, "--as", bob)
        assert harmless(read)
        assert "\nowner" not in plain(read)

    def test_nor_can_a_subject(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        session = home.ask("send", "--to", bob, "hello", "--subject", "\x1b[31mred\x1b[0m \u202eevil", "--as", alice)["session_id"]
        assert harmless(seen(home, "inbox", "--as", bob))
        assert harmless(seen(home, "read", session, "--as", bob))

    def test_nor_can_a_card_or_an_error(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("register", coder, "--description", "\x1b[31mred\x1b[0m \u202eevil")
        assert harmless(seen(home, "agents"))
        assert harmless(seen(home, "inbox", "--as", "\x1b[31mred", code=65))


class TestLines:
    def test_watch_tells_an_event_a_line(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        for text in (NASTY, "the end"):
            home.ask("send", "--to", bob, text, "--as", alice)
        screen = seen(home, "watch", "--as", bob, "--after", "0", until="the end", code=130)
        first, second = plain(screen.replace("^C", "")).strip().splitlines()
        assert harmless(screen)
        assert "new_message" in first
        assert f"{alice}: the end" in second

    def test_watch_colours_what_it_tells(self, home: Home) -> None:
        alice, bob = home.names("alice", "bob")
        home.ask("send", "--to", bob, "the end", "--as", alice)
        assert "\x1b[" in seen(home, "watch", "--as", bob, "--after", "0", until="the end", code=130)

    def test_serve_tells_where_it_is_and_what_to_do_first(self, home: Home) -> None:
        port = free_port()
        screen = seen(home, "serve", "--data", "mine", "--port", str(port), until="Ctrl-C")
        assert f"http://127.0.0.1:{port}" in screen
        assert "postoffice setup" in screen
        assert f"http://127.0.0.1:{port}/mail/NAME" in screen
        assert "Traceback" not in screen

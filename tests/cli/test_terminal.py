"""At a terminal: tables, colour, one line an event, and nothing another agent wrote can draw there."""

import json
import re

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

    def test_agents_are_a_table_in_colour(self, home: Home) -> None:
        (coder,) = home.names("coder")
        home.ask("inbox", "--as", coder)
        screen = seen(home, "agents")
        assert "\x1b[32midle" in screen
        assert plain(screen).splitlines()[0].split() == ["agent", "is", "tasks", "seen", "does"]

    def test_nobody_has_to_have_colours(self, home: Home) -> None:
        home.ask("inbox", "--as", *home.names("coder"))
        assert not re.search(r"\x1b\[[0-9;]*[349][0-9]", seen(home, "agents", extra={"NO_COLOR": "1"}))

    def test_json_is_for_the_asking(self, home: Home) -> None:
        (coder,) = home.names("coder")
        assert json.loads(seen(home, "inbox", "--as", coder, "--json"))["sessions"] == []

    def test_the_doctor_speaks_to_people(self, home: Home) -> None:
        assert plain(seen(home, "doctor")).splitlines()[0].split()[:3] == ["is", "what", "found"]


class TestNothingThere:
    @pytest.mark.parametrize("words", [["inbox"], ["tasks"], ["connections"]])
    def test_what_to_do_next_is_said(self, home: Home, words: list[str]) -> None:
        (nobody,) = home.names("nobody")
        assert "postoffice " in seen(home, *words, "--as", nobody)

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
        assert f"http://127.0.0.1:{port}/agents/" in screen
        assert "Traceback" not in screen

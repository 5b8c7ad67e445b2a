"""A letter with times of its own, at the command."""

from datetime import UTC, datetime, timedelta

from tests.cli.home import Home
from tests.cli.terminal import plain, seen


def test_a_letter_is_sent_for_later_and_taken_back(home: Home) -> None:
    alice, bob = home.names("alice", "bob")
    sent = home.ask("send", "--to", bob, "later", "--in", "2h", "--expires", "1d", "--as", alice)
    left = datetime.fromisoformat(sent["deliver_at"]) - datetime.now(UTC)
    assert timedelta(minutes=119) < left <= timedelta(hours=2)
    assert datetime.fromisoformat(sent["expires_at"]) - datetime.fromisoformat(sent["deliver_at"]) == timedelta(hours=22)
    assert home.run("recv", "--as", bob).returncode == 1
    assert "it comes in" in plain(seen(home, "send", "--to", bob, "tomorrow", "--at", "tomorrow", "--as", alice))
    assert home.ask("cancel", sent["message_id"], "--as", alice)["recipients"][0]["canceled"]


def test_a_retry_with_the_same_id_and_the_same_words_is_one_letter(home: Home) -> None:
    alice, bob = home.names("alice", "bob")
    words = ("send", "--to", bob, "later", "--in", "2h", "--expires", "in 1d", "--id", f"once-{bob}", "--as", alice)
    first, again = home.ask(*words), home.ask(*words)
    assert (again["duplicate"], again["deliver_at"]) == (True, first["deliver_at"])


def test_what_is_no_time_is_refused(home: Home) -> None:
    assert "give --at or --in, not both" in home.refused(65, "send", "--to", "bob", "x", "--at", "9:00", "--in", "2h", "--as", "alice")
    assert "--at" in home.refused(65, "send", "--to", "bob", "x", "--at", "someday", "--as", "alice")

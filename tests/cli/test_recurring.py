"""Recurring letters at the command."""

from tests.cli.home import Home
from tests.cli.terminal import plain, seen


def test_one_is_begun_listed_and_stopped(home: Home) -> None:
    alice, bob = home.names("alice", "bob")
    one = home.ask(
        "recurring", "add", "0 9 * * 1-5", "Where are we?", "--to", bob, "--zone", "Europe/Berlin", "--expires", "1d", "--as", alice
    )
    assert (one["every"], one["zone"], one["letter"]["expires_in"]) == ("0 9 * * 1-5", "Europe/Berlin", 86400)
    listed = plain(seen(home, "recurring", "--as", alice))
    assert "0 9 * * 1-5" in listed
    assert bob in listed
    home.ask("recurring", "stop", one["id"][-8:], "--as", alice)
    assert "There are no recurring letters" in plain(seen(home, "recurring", "--as", alice))


def test_what_is_missing_is_said(home: Home) -> None:
    assert "add" in home.refused(65, "recurring", "add", "--as", "alice")
    assert "five fields" in home.refused(65, "recurring", "add", "daily", "x", "--to", "bob", "--as", "alice")

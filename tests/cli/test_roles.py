"""Roles at the command."""

from tests.cli.home import Home
from tests.cli.terminal import plain, seen


def test_a_role_is_made_written_to_taken_from_and_deleted(home: Home) -> None:
    alice, bob = home.names("alice", "bob")
    role = f"role:{alice}-reviews"
    home.ask("send", "--to", alice, "I am here", "--as", bob)
    assert home.ask("roles", "make", role.removeprefix("role:"), bob, "--description", "reviews", "--as", alice)["name"] == role
    sent = home.ask("send", "--to", role, "Please look", "--as", alice)
    assert role in plain(seen(home, "roles"))
    assert home.ask("recv", "--of", role, "--in-order", "--as", bob)["content"] == "Please look"
    assert f"acked by {bob}" in plain(seen(home, "status", sent["message_id"], "--as", alice))
    assert home.ask("inbox", "--of", role, "--as", bob)["sessions"][0]["other_agent_name"] == alice
    assert home.ask("roles", "unstaff", role, bob, "--as", alice)["staff"] == []
    assert f"{role}: nobody" in plain(seen(home, "roles", "show", role))
    assert home.ask("roles", "change", role, "--max-in-hand", "2", "--as", alice)["max_in_hand"] == 2
    assert "say whom" in home.refused(65, "roles", "staff", role, "--as", alice)
    assert plain(seen(home, "roles", "delete", role, "--as", alice)) == f"{role} is deleted.\n"

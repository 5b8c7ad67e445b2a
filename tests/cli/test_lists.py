"""Lists are made, joined, written to and answered by the command."""

from tests.cli.home import Home
from tests.cli.terminal import plain, seen


def test_a_list_is_made_joined_written_to_and_answered(home: Home) -> None:
    alice, bob, carol, team = home.names("alice", "bob", "carol", "backend")
    home.ask("send", "--to", alice, "I am here", "--as", carol)
    home.ask("recv", "--as", alice)
    made = home.ask("list", "create", team, carol, "--join", "anyone", "--description", "the API", "--as", alice)
    assert (made["list"]["name"], made["members"][0]["name"]) == (f"#{team}", carol)
    home.ask("list", "join", f"#{team}", "--as", bob)
    assert "the API" in plain(seen(home, "lists", "--mine", "--as", bob))
    assert f"#{team}: 2 of 2 members" in plain(seen(home, "send", "--to", f"list:{team}", "who is in?", "--as", alice))
    letter = home.ask("inbox", "--as", bob)["sessions"][0]["recent_messages"][0]["message"]
    assert f"Answered #{team}" in plain(seen(home, "reply", letter["id"], "me", "--all", "--as", bob))
    assert home.ask("reply", letter["id"], "not me", "--as", carol)["recipients"][0]["recipient"] == alice
    assert [home.ask("recv", "--as", alice)["content"] for _ in range(2)] == ["me", "not me"]
    shown = plain(seen(home, "list", "show", team, "--as", bob))
    assert f"#{team}, kept by {alice}: 3 members, 2 letters." in shown
    assert f"{carol}: member" in shown
    assert "no longer on it" in plain(seen(home, "list", "remove", team, carol, "--as", alice))
    assert "takes no agents" in home.refused(65, "list", "join", team, carol, "--as", bob)
    assert "by invitation" in plain(seen(home, "list", "change", team, "--join", "invited", "--as", alice))
    assert home.ask("list", "leave", team, "--as", bob)["members"] == 1
    home.ask("list", "delete", team, "--as", alice)
    assert "There is no list" in home.refused(66, "send", "--to", f"#{team}", "x", "--as", alice)

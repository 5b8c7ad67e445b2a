"""An agent's mail is held and goes on, at the command."""

from tests.cli.home import Home
from tests.cli.terminal import plain, seen


def test_an_agent_is_paused_until_a_time_and_resumed(home: Home) -> None:
    alice, bob = home.names("alice", "bob")
    assert home.ask("pause", "--until", "in 2h", "--reason", "my limit resets", "--as", bob)["reason"] == "my limit resets"
    sent = home.ask("send", "--to", bob, "hello", "--as", alice)
    assert sent["recipients"][0]["reach"]["way"] == "paused"
    assert home.run("recv", "--as", bob).returncode == 1
    assert plain(seen(home, "resume", "--as", bob)) == f"{bob} gets its mail again.\n"
    assert home.ask("recv", "--as", bob)["content"] == "hello"


def test_the_owner_pauses_any_and_nobody_else_does(home: Home) -> None:
    alice, bob = home.names("alice", "bob")
    for name in (alice, bob):
        home.ask("register", name, "--allow", "*")
    assert "owner" in home.refused(77, "pause", bob, "--as", alice)
    assert plain(seen(home, "pause", bob)) == "Its mail is held until it is resumed: postoffice resume. Senders are told.\n"
    assert home.ask("resume", bob)["paused"] is None

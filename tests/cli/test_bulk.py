"""Many letters at once, at the command: counted first."""

from tests.cli.home import Home
from tests.cli.terminal import plain, seen


def test_mail_that_waits_is_counted_and_then_expires(home: Home) -> None:
    alice, bob = home.names("alice", "bob")
    for n in range(3):
        home.ask("send", "--to", bob, f"letter {n}", "--as", alice)
    assert home.ask("bulk", "expire", "--of", bob) == {"act": "expire", "done": 0, "refused": 0, "left": 3}
    assert "3 letters fit. Nothing is done yet" in plain(seen(home, "bulk", "expire", "--of", bob))
    assert home.ask("bulk", "expire", "--of", bob, "--yes") == {"act": "expire", "done": 3, "refused": 0, "left": 0}
    assert home.ask("bulk", "requeue", "--of", bob, "--reason", "expired", "--yes")["done"] == 3
    assert home.ask("recv", "--as", bob)["content"] == "letter 0"

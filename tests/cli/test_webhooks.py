"""The command about webhooks."""

from pathlib import Path

from tests.cli.home import Home, opened
from tests.cli.terminal import plain, seen
from tests.webhooks.receiver import receiving


def test_a_webhook_is_added_told_listed_and_removed(tmp_path: Path) -> None:
    with opened(tmp_path / "data", extra={"POSTOFFICE_WEBHOOK_NETWORKS": "127.0.0.1"}) as office, receiving() as receiver:
        home = Home(tmp_path / "home", office)
        made = home.ask("webhook", "add", "ci", receiver.url, "--event", "new_message")
        assert made["secret"].startswith("whsec_")
        home.ask("send", "--as", "alice", "--to", "bob", "hello")
        receiver.wait(1)
        (listed,) = home.ask("webhook", "list")["webhooks"]
        assert (listed["name"], listed["url"], listed["events"]) == ("ci", receiver.url, ["new_message"])
        assert "secret" not in listed
        assert "ci" in plain(seen(home, "webhook", "list"))
        assert home.ask("webhook", "remove", "ci") == {"removed": "ci"}
        assert "say `webhook add NAME URL`" in home.refused(65, "webhook", "remove")

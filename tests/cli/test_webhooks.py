"""The command about webhooks."""

import urllib.request
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
        assert home.ask("webhook", "pause", "ci")["state"] == "paused"
        assert home.ask("webhook", "resume", "ci")["state"] == "active"
        assert home.ask("webhook", "remove", "ci") == {"removed": "ci"}
        opened_at = home.ask("webhook", "open", "build", "--to", "bob")
        urllib.request.urlopen(urllib.request.Request(opened_at["address"], data=b"it is red"), timeout=30).close()
        letter = home.ask("recv", "--as", "bob")
        letter = home.ask("recv", "--as", "bob") if letter["content"] == "hello" else letter
        assert (letter["from"], letter["content"]) == ("build", "it is red")
        assert "build" in plain(seen(home, "webhook", "list"))
        assert home.ask("webhook", "close", "build") == {"revoked": "build"}
        assert "whom letters are for" in home.refused(65, "webhook", "open", "other")
        assert "say `webhook add NAME URL`" in home.refused(65, "webhook", "remove")

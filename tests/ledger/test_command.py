"""`postoffice ledger` as people run it, against an office and a ledger that are processes of their own."""

import base64
import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from postoffice.bridges.ledger.network import LedgerNetwork
from tests.cli.home import opened
from tests.cli.terminal import plain, seen
from tests.ledger.emulator import Remote, emulator_process
from tests.ledger.process import LedgerHome, Server, server, until
from tests.serve.running import COMMAND, PATIENCE


@pytest.fixture(scope="module")
def remote() -> Iterator[Remote]:
    with emulator_process(topics=[5, 1.0]) as running:
        yield running


@pytest.fixture(scope="module")
def office(remote: Remote, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("ledger"), remote) as opened:
        opened.settle(remote, "sender", "taker")
        yield opened


def messages(remote: Remote, topic: str) -> list[Any]:
    return [json.loads(base64.b64decode(kept["body"])) for kept in remote.call("topic", topic)["messages"] if not kept["chunk"]]


def known(office: Server, name: str) -> None:
    httpx.get(f"{office.url}/agents/me", headers={"X-Agent": name}, timeout=PATIENCE).raise_for_status()


# Setup


def test_setup_gives_topics_with_the_seeds_memos_publishes_profiles_and_is_idempotent(office: Server, remote: Remote) -> None:
    home = office.home
    for name in ("quinn", "justin"):
        known(office, name)
    card = {"display_name": "Quinn", "model": "claude-sonnet-4-6", "capabilities": ["coding", "orchestration", "workflow automation"]}
    httpx.patch(f"{office.url}/agents/me", headers={"X-Agent": "quinn"}, json=card, timeout=PATIENCE).raise_for_status()
    topics = set(remote.call("topics"))
    planned = home.answer("ledger", "setup", "--agents", "quinn,justin", "--dry-run")
    assert (planned["dry_run"], [one["topics"] for one in planned["agents"]]) == (True, ["missing", "missing"])
    assert planned["cost"] > 0.05
    assert set(remote.call("topics")) == topics
    made = home.answer("ledger", "setup", "--agents", "quinn,justin")
    assert [one["profile"] for one in made["agents"]] == ["published", "published"]
    quinn = made["agents"][0]
    assert remote.call("topic", quinn["inbound_topic_id"])["memo"] == f"hcs-10:0:3600:0:{remote.operator_id}"
    outbound = remote.call("topic", quinn["outbound_topic_id"])
    assert (outbound["memo"], outbound["submit_key"] is not None) == ("hcs-10:0:3600:1", True)
    (profile, _) = messages(remote, made["definitions"])
    assert (profile["type"], profile["agent"]["slug"], profile["agent"]["name"]) == ("agent_definition", "quinn", "Quinn")
    told = profile["agent"]["hcs11_profile"]
    assert (told["version"], told["type"], told["display_name"]) == ("1.0", 1, "Quinn")
    assert told["aiAgent"] == {"type": 1, "model": "claude-sonnet-4-6", "capabilities": [4, 16, 18]}
    assert (told["inboundTopicId"], told["outboundTopicId"]) == (quinn["inbound_topic_id"], quinn["outbound_topic_id"])
    assert remote.call("accounts")[remote.operator_id]["memo"] == f"hcs-11:{made['definitions']}"
    kept = {
        one["agent"]: one
        for one in httpx.get(f"{office.url}/ledger/accounts", headers={"X-Agent": "quinn"}, timeout=PATIENCE).json()["accounts"]
    }
    assert kept["quinn"]["inbound_topic_id"] == quinn["inbound_topic_id"]
    topics = set(remote.call("topics"))
    again = home.answer("ledger", "setup", "--agents", "quinn,justin")
    assert [(one["topics"], one["profile"], one["memo"]) for one in again["agents"]] == [("kept", "kept", "kept")] * 2
    assert (again["cost"], set(remote.call("topics"))) == (0, topics)


def test_an_agent_named_twice_gets_one_place_and_nobody_none(office: Server, remote: Remote) -> None:
    home = office.home
    known(office, "twin")
    (planned,) = home.answer("ledger", "setup", "--dry-run", "--agents", "Twin=0.0.777,twin")["agents"]
    assert planned["account_id"] == "0.0.777"
    made = home.answer("ledger", "setup", "--agents", "Twin, twin,TWIN")
    assert [one["agent"] for one in made["agents"]] == ["twin"]
    topics = set(remote.call("topics"))
    for nonsense in ("", " ,,", "twin=here", "=0.0.777"):
        home.refused(65, "ledger", "setup", "--agents", nonsense)
    assert set(remote.call("topics")) == topics


def test_nothing_is_paid_for_where_the_office_uses_no_ledger(office: Server, remote: Remote, tmp_path: Path) -> None:
    topics = set(remote.call("topics"))
    with opened(tmp_path / "data") as plain_office:
        home = LedgerHome(tmp_path / "home", plain_office, office.settings)
        home.ask("inbox", "--as", "quinn")
        assert home.answer("ledger", "setup", "--dry-run")["cost"] > 0
        for words in (("setup",), ("topic", "--create", "--type", "task")):
            assert "start it with --ledger" in home.refused(65, "ledger", *words)
    assert set(remote.call("topics")) == topics


def test_a_profile_that_broke_off_has_none_published_twice(office: Server, remote: Remote) -> None:
    home = office.home
    known(office, "whole")
    topic = home.answer("ledger", "setup", "--agents", "whole")["definitions"]
    nodes = ",".join(f"{address}={account}" for address, account in remote.nodes.items())
    network = LedgerNetwork(nodes, remote.operator_id, {remote.operator_id: remote.operator_key})
    network.submit(network.sign(topic, "", "x" * 1500, None).split(",")[0])
    network.close()
    known(office, "late")
    for how in ("published", "kept"):
        made = home.answer("ledger", "setup", "--agents", "whole,late")
        assert [one["profile"] for one in made["agents"]] == ["kept", how]


def test_setup_shows_cost_and_progress_and_waits_where_the_network_is_busy(office: Server, remote: Remote) -> None:
    home = office.home
    names = [f"crowd-{number}" for number in range(4)]
    for name in names:
        known(office, name)
    remote.call("faults.busy", 8, method="createTopic")
    screen = plain(seen(home, "ledger", "setup", "--agents", ",".join(names)))
    assert "this costs about $" in screen
    assert "[4/4]" in screen
    assert "BUSY" in screen
    assert "It cost about $0.08" in screen


def test_a_setup_that_is_killed_goes_on_and_makes_no_second_pair(office: Server, remote: Remote) -> None:
    home = office.home
    names = ["victim-1", "victim-2"]
    for name in names:
        known(office, name)
    before = len(remote.call("topics"))
    for kills in range(1, 3):
        count = len(remote.call("requests.at", "node", "createTopic"))
        process = subprocess.Popen(
            [*COMMAND, "ledger", "setup", "--agents", ",".join(names)],
            cwd=home.folder,
            env=home.environment(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until(lambda: len(remote.call("requests.at", "node", "createTopic")) > count or process.poll() is not None)  # noqa: B023
        time.sleep(0.05 * kills)
        process.send_signal(signal.SIGKILL)
        process.wait(PATIENCE)
    home.answer("ledger", "setup", "--agents", ",".join(names))
    assert len(remote.call("topics")) == before + 2 * len(names)


def test_a_topic_that_was_paid_for_when_its_maker_was_killed_is_the_one_the_next_gets(office: Server, remote: Remote) -> None:
    home, before, words = office.home, set(remote.call("topics")), ("ledger", "topic", "--create", "--type", "stage")
    remote.call("faults.silence", 1, method="createTopic")  # it is made, and nobody is told
    process = subprocess.Popen(
        [*COMMAND, *words], cwd=home.folder, env=home.environment(), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until(lambda: set(remote.call("topics")) - before)
    process.send_signal(signal.SIGKILL)
    process.wait(PATIENCE)
    (paid_for,) = set(remote.call("topics")) - before
    assert home.answer(*words)["topic_id"] == paid_for
    assert home.answer(*words)["topic_id"] != paid_for  # whoever asks again wants another
    assert len(set(remote.call("topics")) - before) == 2


def test_topics_that_are_asked_for_at_the_same_time_are_several(office: Server, remote: Remote) -> None:
    home, before, words = office.home, set(remote.call("topics")), ("ledger", "topic", "--create", "--type", "project")
    processes = [subprocess.Popen([*COMMAND, *words, "--json"], cwd=home.folder, env=home.environment(), stdout=-1) for _ in range(2)]
    made = {json.loads(process.communicate(timeout=PATIENCE)[0])["topic_id"] for process in processes}
    assert made == set(remote.call("topics")) - before
    assert len(made) == 2


def test_wrong_settings_are_told_in_a_line_and_no_key_with_them(office: Server, tmp_path: Path) -> None:
    home = office.home
    nearly = tmp_path / "nearly.key"
    nearly.write_text("302e0201nearly-a-key\n")
    told = home.refused(65, "ledger", "setup", extra={"POSTOFFICE_LEDGER_KEY_FILE": str(nearly)})
    assert "cannot be read" in told
    assert "nearly-a-key" not in told
    right = Path(home.environment()["POSTOFFICE_LEDGER_KEY_FILE"]).read_bytes()
    for wrong, why in (
        (b"302e0201nearly-a-key 0.0.777", "line 2 is neither"),
        (b"302e0201nearly-a-key # of quinn", "line 2 is neither"),
        (b"\xff", "not text"),
    ):
        nearly.write_bytes(right + wrong)
        told = home.refused(65, "ledger", "setup", extra={"POSTOFFICE_LEDGER_KEY_FILE": str(nearly)})
        assert why in told
        assert "nearly-a-key" not in told
    assert "ledger_account" in home.refused(65, "ledger", "setup", extra={"POSTOFFICE_LEDGER_ACCOUNT": ""})


@pytest.mark.parametrize(
    ("act", "name", "value"),
    [
        ("setup", "LEDGER", "tesnet"),
        ("setup", "LEDGER", "127.0.0.1:1=banana"),
        ("setup", "LEDGER", "127.0.0.1=0.0.3"),
        ("setup", "LEDGER_ACCOUNT", "banana"),
        ("verify", "LEDGER", "tesnet"),
        ("verify", "LEDGER_MIRROR", "http://[::"),
        ("verify", "LEDGER_MIRROR", "banana"),
    ],
)
def test_a_wrong_setting_is_named_with_its_value(office: Server, act: str, name: str, value: str) -> None:
    told = office.home.refused(65, "ledger", act, "--agents", "sender", extra={f"POSTOFFICE_{name}": value})
    assert name.lower() in told
    assert value in told


@pytest.mark.parametrize(
    "words",
    [
        ("setup", "--dry-run"),
        ("setup", "--agents", "sender"),
        ("verify",),
        ("topic", "--create", "--type", "task"),
        ("connect", "sender", "0.0.7"),
    ],
)
def test_nothing_is_asked_of_another_ledger_than_the_offices(office: Server, words: tuple[str, ...]) -> None:
    told = office.home.refused(
        65, "ledger", *words, extra={"POSTOFFICE_LEDGER": "previewnet", "POSTOFFICE_LEDGER_MIRROR": "http://127.0.0.1:9"}
    )
    assert "'own'" in told
    assert "'previewnet'" in told


def test_no_topic_is_paid_for_whose_type_the_office_refuses(office: Server, remote: Remote) -> None:
    before = set(remote.call("topics"))
    for type in ("", "epic"):
        assert "only task, phase, stage, project" in office.home.refused(2, "ledger", "topic", "--create", "--type", type)
    assert set(remote.call("topics")) == before


# Mail


def test_send_note_status_and_inbox(office: Server, remote: Remote) -> None:
    home = office.home
    words = ("Ready", "--type", "review.request", "--ref", "0.0.777", "--ref-type", "task", "--payload", '{"branch": "x"}')
    sent = home.ask("ledger", "send", "taker", *words, "--as", "sender")
    assert [one["ledger"] for one in sent["recipients"]] == ["awaiting"]

    def there() -> Any:
        (standing,) = home.ask("status", sent["message_id"], "--as", "sender")["standings"]
        return standing if standing["ledger"]["state"] == "confirmed" else None

    standing = until(there)
    assert (standing["state"], standing["ledger"]["sequence"]) == ("pending", 1)
    assert "on the ledger: topic" in plain(seen(home, "status", sent["message_id"], "--as", "sender"))
    screen = plain(seen(home, "inbox", "--as", "taker"))
    for shown in ("sender", "Ready", "review.request, priority 3, about 0.0.777"):
        assert shown in screen
    topic = home.answer("ledger", "topic", "--create", "--type", "task")["topic_id"]
    noted = home.ask("ledger", "note", topic, "blocked on review", "--notify", "taker", "--as", "sender")
    assert (noted["notified"], noted["ledger"]) == (["taker"], "awaiting")
    screen = plain(seen(home, "inbox", "--as", "taker"))
    assert "blocked on review" in screen
    assert "task.note" in screen
    found = home.ask("ledger", "status")
    assert found["status"]["kept"]
    assert found["bridge"]["operator"] == remote.operator_id
    assert "Mail goes by the ledger" in plain(seen(home, "ledger", "status"))


def test_a_message_that_waits_is_said_to_await_the_ledger(office: Server, remote: Remote) -> None:
    home = office.home
    remote.call("freeze_mirror")
    try:
        sent = home.ask("ledger", "send", "taker", "Later", "--as", "sender")
        assert "awaiting ledger" in plain(seen(home, "status", sent["message_id"], "--as", "sender"))
        with office.client("sender") as http:
            (standing,) = http.get(f"/messages/{sent['message_id']}/status").json()["standings"]
            assert (standing["state"], standing["ledger"]["state"]) == ("held", "awaiting")
            said = http.post("/mcp", content=json.dumps({"tool": "mailbox_status", "args": {"message_id": sent["message_id"]}})).json()
            assert said["standings"][0]["ledger"]["state"] == "awaiting"
    finally:
        remote.call("thaw_mirror")


def test_a_topic_that_exists_is_watched(office: Server, remote: Remote) -> None:
    topic = remote.call("new_topic")["id"]
    assert office.home.ask("ledger", "watch", topic, "--type", "phase", "--as", "owner")["about"] == "phase"
    remote.call("plant", topic, json.dumps({"type": "phase.note", "from_agent": "sender", "note": "from afar", "notify": ["taker"]}))

    def noted() -> bool:
        return "from afar" in [note["content"] for note in office.home.ask("inbox", "--as", "taker")["notes"]]

    until(noted)


# Whether they agree


def test_verify_names_what_is_wrong_and_its_exit_code_says_so(office: Server, remote: Remote) -> None:
    home = office.home
    found = office.settle(remote, "alice", "bob")
    inbound = found["bob"]["inbound_topic_id"]
    sent = home.ask("ledger", "send", "bob", "for the record", "--as", "alice")
    until(lambda: home.ask("status", sent["message_id"], "--as", "alice")["standings"][0]["state"] == "pending")
    for nobody in ("bbo", ""):
        assert f"no agent '{nobody}'" in home.refused(66, "ledger", "verify", "--agents", nobody)
    rebuilt = home.answer("ledger", "verify", "--agents", "bob", "--show")
    assert rebuilt["findings"] == []
    assert [line["subject"] for line in rebuilt["inbox"]] == ["for the record"]
    thief = remote.call("new_account")["id"]
    remote.call("forge", inbound, operator_id=f"{found['alice']['inbound_topic_id']}@{remote.operator_id}", payer=thief)
    until(lambda: home.ask("ledger", "quarantine", "--as", "owner")["records"])
    (finding,) = home.answer("ledger", "verify", "--agents", "bob", code=1)["findings"]
    assert (finding["is"], finding["sequence"]) == ("forged", 2)
    assert thief in finding["why"]


# Other software


def test_connect_finds_the_topic_by_either_name_and_asks(office: Server, remote: Remote) -> None:
    home, other = office.home, remote.call("new_account")
    inbound = remote.call("new_topic", f"hcs-10:0:60:0:{other['id']}")["id"]
    assert home.answer("ledger", "connect", "sender", inbound, "--message", "Shall we?")["account_id"] == other["id"]
    (request,) = until(lambda: messages(remote, inbound))
    assert (request["op"], request["m"]) == ("connection_request", "Shall we?")
    told = home.refused(66, "ledger", "connect", "sender", other["id"])
    assert "give the agent's inbound topic" in told
    assert "such as 0.0.12345" in home.refused(65, "ledger", "connect", "sender", "bob")


# Keys


def test_no_key_is_ever_in_a_log_or_a_database(office: Server, remote: Remote) -> None:
    secrets = [remote.operator_key, remote.operator_key[-64:]]
    said = office.log()
    assert said
    kept = b"".join(path.read_bytes() for path in office.data.rglob("*") if path.is_file())
    for secret in secrets:
        assert secret not in said
        assert secret.encode() not in kept


def test_the_office_s_data_are_found_where_its_settings_say(office: Server, tmp_path: Path) -> None:
    """The owner's key, and the journal of what was paid for."""
    known(office, "theo")
    toml = tmp_path / "office.toml"
    toml.write_text(f'data = "{office.data}"\n')
    words = ("ledger", "setup", "--agents", "theo", "--config", str(toml))
    made = office.home.answer(*words, extra={"POSTOFFICE_DATA": ""})
    journal = (office.data / "ledger-setup.jsonl").read_text()
    assert made["agents"][0]["inbound_topic_id"] in journal

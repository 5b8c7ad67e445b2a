"""The emulator as a process of its own, told what to do over HTTP."""

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from hiero_sdk_python import TopicCreateTransaction

from tests.ledger.emulator import Remote, emulator_process
from tests.ledger.sdk import connected, message, status


@pytest.fixture(scope="module")
def remote() -> Iterator[Remote]:
    with emulator_process(topics=[100, 1.0]) as running:
        yield running


@pytest.fixture
def client(remote: Remote) -> Iterator[Any]:
    with connected(remote) as opened:
        yield opened


def test_programs_that_block_use_it_and_others_see_what_they_did(remote: Remote, client: Any) -> None:
    made = TopicCreateTransaction(memo="from outside").execute(client)
    assert status(message(client, str(made.topic_id), "hello").execute(client)) == "SUCCESS"
    topic = remote.call("topic", str(made.topic_id))
    assert (topic["memo"], [kept["body"] for kept in topic["messages"]]) == ("from outside", ["aGVsbG8="])
    with urllib.request.urlopen(f"{remote.mirror_url}/api/v1/topics/{made.topic_id}/messages", timeout=30) as page:
        assert len(json.load(page)["messages"]) == 1


def test_its_faults_are_switched_from_outside(remote: Remote, client: Any) -> None:
    topic = remote.call("new_topic")["id"]
    remote.call("faults.busy", 2)
    assert status(message(client, topic, "x").execute(client)) == "SUCCESS"
    assert [request["answer"] for request in remote.call("requests.at", "node", "submitMessage")][-3:] == ["BUSY", "BUSY", "OK"]
    remote.call("node_down")
    with pytest.raises(RuntimeError, match="unhealthy"):
        message(client, topic, "x").execute(client)
    remote.call("node_up")


def test_it_can_be_told_to_plant_and_to_make_accounts(remote: Remote) -> None:
    topic, thief = remote.call("new_topic")["id"], remote.call("new_account", balance=5)
    remote.call("forge", topic, operator_id="0.0.7@0.0.8", payer=thief["id"])
    remote.call("plant", topic, "not JSON")
    assert [kept["payer"] for kept in remote.call("topic", topic)["messages"]] == [thief["id"], remote.operator_id]
    assert (thief["balance"], len(thief["private_key"]) > 64) == (5, True)

"""The unmodified JavaScript SDK works against the ledger's emulator, so the emulator is not made to the measure of the Python one."""

import base64
import json
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.ledger.emulator import HBAR, Remote, emulator_process
from tests.ledger.sdk import connected, message, status
from tests.peers.outside import ROOT

SDK = ROOT / ".venv-ledger"
NODE = SDK / "node_modules" / ".bin" / "node"
SCRIPT = Path(__file__).with_name("ledger") / "talk.mjs"


@pytest.fixture(scope="module")
def remote() -> Iterator[Remote]:
    with emulator_process() as running:
        running.call("faults.busy", 2)
        yield running


@pytest.fixture(scope="module")
def told(remote: Remote) -> Any:
    """What the script says it saw."""
    assert NODE.exists(), f"{NODE} is not there: `make peers` installs it"
    where = json.dumps({"nodes": remote.nodes, "account": remote.operator_id, "key": remote.operator_key})
    # Read from standard input a module finds its imports where the program was started.
    command = [str(NODE), "--input-type=module", "-", where]
    done = subprocess.run(command, cwd=SDK, input=SCRIPT.read_text(), capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def topic(remote: Remote, told: Any) -> Any:
    """The topic it made, as the ledger knows it."""
    return remote.call("topic", told["topic"])


def bodies(topic: Any) -> list[str]:
    return [base64.b64decode(kept["body"]).decode() for kept in topic["messages"]]


def test_it_makes_a_topic_though_the_node_is_busy_at_first(remote: Remote, told: Any, topic: Any) -> None:
    assert topic["memo"] == told["info"]["memo"] == "hcs-10:0:3600:0"
    assert told["info"]["key"] == told["submit"]
    assert [request["answer"] for request in remote.call("requests.at", "node", "createTopic")] == ["BUSY", "BUSY", "OK"]


def test_its_message_has_a_receipt_and_a_record(told: Any, topic: Any) -> None:
    first = topic["messages"][0]
    assert (told["receipt"]["status"], told["receipt"]["sequence"]) == ("SUCCESS", 1)
    assert bytes.fromhex(told["receipt"]["hash"]) == base64.b64decode(first["running_hash"])
    assert (told["record"]["seconds"], told["record"]["nanos"]) == divmod(first["moment"], 1_000_000_000)


def test_its_single_message_says_that_it_is_one_chunk_of_one(topic: Any) -> None:
    """The Python SDK sends no chunk information there: whoever reads has to know both."""
    assert (topic["messages"][0]["chunk"]["number"], topic["messages"][0]["chunk"]["total"]) == (1, 1)


def test_its_long_message_comes_in_chunks(told: Any, topic: Any) -> None:
    assert told["chunks"] == [2, 3, 4]
    assert "".join(bodies(topic)[1:4]) == "0123456789" * 250
    assert [kept["chunk"]["number"] for kept in topic["messages"][1:4]] == [1, 2, 3]


def test_its_signed_bytes_make_one_message_and_its_unsigned_ones_none(told: Any, topic: Any) -> None:
    assert (told["again"], told["unsigned"]) == ("DUPLICATE_TRANSACTION", "INVALID_SIGNATURE")
    assert bodies(topic)[4:] == ["kept"]


def test_it_is_told_the_state_of_the_topic(told: Any, topic: Any) -> None:
    assert told["info"]["sequence"] == 5
    assert bytes.fromhex(told["info"]["hash"]) == base64.b64decode(topic["messages"][-1]["running_hash"])


def test_it_makes_an_account_and_sets_its_memo(told: Any) -> None:
    assert (told["account"]["memo"], told["account"]["tinybars"]) == ("hcs-11:x", 3 * HBAR)


def test_the_python_sdk_is_refused_at_its_topic_for_want_of_its_key(remote: Remote, told: Any) -> None:
    with connected(remote) as client:
        assert status(message(client, told["topic"], "x").execute(client)) == "INVALID_SIGNATURE"

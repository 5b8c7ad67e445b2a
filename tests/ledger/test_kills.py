"""`kill -9` anywhere on the way to the ledger and back loses and doubles nothing.

A real office is killed at ten points of the pipeline, found by what stands in its database and by what the ledger was asked.
"""

import base64
import json
import sqlite3
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.ledger.emulator import Remote, emulator_process
from tests.ledger.process import Server, server, until

LONG = "0123456789" * 300  # three pieces and more


@pytest.fixture(scope="module")
def remote() -> Iterator[Remote]:
    with emulator_process() as running:
        yield running


@pytest.fixture(scope="module")
def office(remote: Remote, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("killed"), remote) as opened:
        yield opened


class Scene:
    """One message on its way from one agent to another, and what can be seen of it from outside."""

    def __init__(self, office: Server, remote: Remote, number: int) -> None:
        self.office, self.remote = office, remote
        self.sender, self.taker = f"sender-{number}", f"taker-{number}"
        self.topic = office.settle(remote, self.sender, self.taker)[self.taker]["inbound_topic_id"]
        self.submits = len(remote.call("requests.at", "node", "submitMessage"))
        self.id = ""

    def send(self, **fields: Any) -> None:
        body = {"to_agent": self.taker, "subject": "kill", "payload": {"text": "short"}, "id": "once", **fields}
        with self.office.client(self.sender) as http:
            self.id = http.post("/ledger/messages", json=body).raise_for_status().json()["message_id"]

    def row(self) -> tuple[str, bool, int]:
        """The outbox row: its state, whether it is signed, how often it was tried."""
        with sqlite3.connect(f"file:{self.office.data / 'mailbox.db'}?mode=ro", uri=True) as connection:
            found = connection.execute("SELECT state, signed IS NOT NULL, attempts FROM ledger_outbox WHERE message_id = ?", (self.id,))
            state, signed, attempts = found.fetchone()
        return state, bool(signed), attempts

    def submitted(self, count: int) -> bool:
        return len(self.remote.call("requests.at", "node", "submitMessage")) >= self.submits + count

    def on_ledger(self) -> list[dict[str, Any]]:
        return list(self.remote.call("topic", self.topic)["messages"])

    def waiting(self) -> list[dict[str, Any]]:
        with self.office.client(self.taker) as http:
            return list(http.get("/messages/waiting").json()["messages"])

    def standing(self) -> dict[str, Any]:
        with self.office.client(self.sender) as http:
            (only,) = http.get(f"/messages/{self.id}/status").json()["standings"]
        return dict(only)


def node_down(scene: Scene) -> None:
    """Killed when the message is accepted and nobody could be told yet."""
    scene.remote.call("node_down")
    scene.send()
    scene.office.kill()
    scene.remote.call("node_up")


def signed(scene: Scene) -> None:
    """Killed when the signed bytes are kept and were never submitted."""
    scene.remote.call("node_down")
    scene.send()
    until(lambda: scene.row()[1])
    scene.office.kill()
    scene.remote.call("node_up")


def busy(scene: Scene) -> None:
    """Killed between two tries."""
    scene.remote.call("faults.busy", 3)
    scene.send()
    until(lambda: scene.row()[2] >= 1)
    scene.office.kill()
    scene.remote.call("faults.clear")


def unanswered(scene: Scene) -> None:
    """Killed when the ledger has taken it and its answer has not come."""
    scene.remote.call("faults.silence", 1)
    scene.send()
    until(lambda: len(scene.on_ledger()) == 1)
    scene.office.kill()


def cut(scene: Scene) -> None:
    """Killed when the answer was cut off after the ledger had taken it."""
    scene.remote.call("faults.cut", 1)
    scene.send()
    until(lambda: len(scene.on_ledger()) == 1)
    scene.office.kill()


def no_receipt(scene: Scene) -> None:
    """Killed while consensus is awaited."""
    scene.remote.call("consensus.hold")
    scene.send()
    until(lambda: scene.submitted(1))
    scene.office.kill()
    scene.remote.call("consensus.release")


def between_pieces(scene: Scene) -> None:
    """Killed with some of a long message's pieces there."""
    scene.remote.call("faults.silence", 1, method="getTransactionReceipts")
    scene.send(payload={"text": LONG})
    until(lambda: len(scene.on_ledger()) >= 1)
    scene.office.kill()
    assert len(scene.on_ledger()) == 1


def submitted(scene: Scene) -> None:
    """Killed when the receipt is there and the mirror has not told of it."""
    scene.remote.call("freeze_mirror")
    scene.send()
    until(lambda: scene.row()[0] == "submitted")
    scene.office.kill()
    scene.remote.call("thaw_mirror")


def urgent(scene: Scene) -> None:
    """Killed when it was delivered at once and not yet confirmed."""
    scene.remote.call("freeze_mirror")
    scene.send(priority=1)
    assert len(scene.waiting()) == 1
    scene.office.kill()
    scene.remote.call("thaw_mirror")


def confirmed(scene: Scene) -> None:
    """Killed when the listener has just taken it."""
    scene.send()
    until(lambda: scene.row()[0] == "confirmed")
    scene.office.kill()


POINTS: tuple[Callable[[Scene], None], ...] = (
    node_down,
    signed,
    busy,
    unanswered,
    cut,
    no_receipt,
    between_pieces,
    submitted,
    urgent,
    confirmed,
)


@pytest.mark.parametrize("kill", POINTS, ids=lambda point: point.__name__)
def test_killed_anywhere_it_arrives_once_and_stands_on_the_ledger_once(
    office: Server, remote: Remote, kill: Callable[[Scene], None]
) -> None:
    scene = Scene(office, remote, POINTS.index(kill))
    kill(scene)
    office.start()
    until(lambda: scene.standing().get("ledger", {}).get("state") == "confirmed")
    (letter,) = scene.waiting()
    assert letter["id"] == scene.id
    raw = b"".join(base64.b64decode(kept["body"]) for kept in scene.on_ledger())
    body = json.loads(raw)  # one message, whole
    assert json.loads(body["data"])["id"] == scene.id
    # Whoever was not answered and sends again sends nothing again.
    scene.send(**({"priority": 1} if kill is urgent else {"payload": {"text": LONG}} if kill is between_pieces else {}))
    assert len(scene.waiting()) == 1

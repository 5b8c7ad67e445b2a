"""Nothing that happened goes untold, whenever the server is killed."""

import random
import time
from pathlib import Path

import httpx
import pytest

from tests.serve.running import COMMAND, free_port, serving
from tests.webhooks.receiver import receiving

_KILLS = 5
_LETTERS = 40


@pytest.mark.timeout(240)
def test_kill_9_leaves_no_event_untold_and_no_session_out_of_order(tmp_path: Path) -> None:
    chance = random.Random(25)
    port, sent = free_port(), 0
    allowed = {"POSTOFFICE_WEBHOOK_NETWORKS": "127.0.0.0/8"}
    command = [*COMMAND, "serve", "--port", str(port), "--data", str(tmp_path / "data")]
    with receiving() as receiver:
        for run in range(_KILLS + 1):
            with (
                serving(*command, port=port, here=tmp_path, extra=allowed) as process,
                httpx.Client(base_url=f"http://127.0.0.1:{port}") as http,
            ):
                if run == 0:
                    owner = {"X-API-Key": (tmp_path / "data" / "owner.key").read_text().strip()}
                    hook = {"name": "ci", "url": receiver.url, "events": ["new_message"]}
                    http.post("/webhooks", json=hook, headers=owner).raise_for_status()
                if run == _KILLS:
                    receiver.wait(sent)
                    break
                for _ in range(_LETTERS):
                    letter = {"to": "bob", "subject": f"s{sent % 3}", "content": "hello", "correlation_id": str(sent)}
                    http.post("/messages/send", json=letter, headers={"X-Agent": "alice"}).raise_for_status()
                    sent += 1
                time.sleep(chance.uniform(0, 0.3))
                process.kill()
                process.wait()
        told = [(got.id, got.told["data"]["message"]) for got in receiver.taken]
    assert {message["correlation_id"] for _, message in told} == set(map(str, range(sent)))
    assert len({id for id, _ in told}) == sent, "what is told again keeps its id"
    for subject in ("s0", "s1", "s2"):
        numbers = list(dict.fromkeys(int(message["correlation_id"]) for _, message in told if message["subject"] == subject))
        assert numbers == sorted(numbers)

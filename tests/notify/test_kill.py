"""Nothing that waits goes untold, whenever the server is killed."""

import random
import time
from pathlib import Path

import httpx
import pytest

from tests.notify.told import json_at
from tests.serve.running import COMMAND, PATIENCE, free_port, serving
from tests.webhooks.receiver import receiving

_KILLS = 4
_LETTERS = 3


@pytest.mark.timeout(240)
def test_kill_9_leaves_nothing_untold(tmp_path: Path) -> None:
    chance = random.Random(25)
    port, sent = free_port(), 0
    extra = {"POSTOFFICE_WEBHOOK_NETWORKS": "127.0.0.0/8", "POSTOFFICE_NOTIFY_PAUSE": "0"}
    command = [*COMMAND, "serve", "--port", str(port), "--data", str(tmp_path / "data")]
    with receiving() as receiver:
        told = ""
        for run in range(_KILLS + 1):
            with (
                serving(*command, port=port, here=tmp_path, extra=extra) as process,
                httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE) as http,
            ):
                if run == 0:
                    owner = {"X-API-Key": (tmp_path / "data" / "owner.key").read_text().strip()}
                    http.post("/notify", json={"name": "phone", "address": json_at(receiver)}, headers=owner).raise_for_status()
                if run == _KILLS:
                    until = time.monotonic() + PATIENCE
                    while any(f"letter {number};" not in told for number in range(sent)):
                        assert time.monotonic() < until, told
                        time.sleep(0.05)
                        told = "\n".join(got.told["message"] for got in receiver.taken)
                    break
                for _ in range(_LETTERS):
                    letter = {"to": "owner", "subject": f"letter {sent};", "content": "hello"}
                    http.post("/messages/send", json=letter, headers={"X-Agent": "alice"}).raise_for_status()
                    sent += 1
                time.sleep(chance.uniform(0, 3))
                process.kill()
                process.wait()

"""The benchmark beside real brokers and seed 001's own design, in its own environment and with numbers so small that they say nothing."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.peers.outside import ROOT

PYTHON = ".venv-bench/bin/python"


@pytest.mark.timeout(600)
def test_brokers_and_the_seed_are_measured_and_nothing_is_kept(tmp_path: Path) -> None:
    kept = [path for path in (ROOT / "build" / "bench.json", ROOT / "bench" / "REPORT.md") if path.exists()]
    before = [path.read_bytes() for path in kept]
    command = [PYTHON, "-m", "bench", "--tiny", "--only", "brokers,seed", "--json", str(tmp_path / "found.json")]
    subprocess.run(command, cwd=ROOT, check=True, timeout=600)
    found = json.loads((tmp_path / "found.json").read_bytes())
    names = {(row["name"], row["batch"], row["concurrency"]) for row in found["brokers"]}
    contenders = ("ours, SDK over HTTP", "Redis Streams", "NATS JetStream")
    assert names == {(name, batch, clients) for name in contenders for batch in (1, 10) for clients in (1, 16)}
    assert {(row["what"], row["server"]) for row in found["seed"]} == {
        ("three calls", "ours"),
        ("fused", "ours"),
        ("send, receive, ack", "seed 001"),
        ("send, pop", "seed 001"),
    }
    assert {"Redis", "NATS"} <= found["machine"]["servers"].keys()
    assert [path.read_bytes() for path in kept] == before


@pytest.mark.parametrize("small", ["--quick", "--tiny"])
def test_a_small_run_never_writes_the_report(small: str) -> None:
    ended = subprocess.run([PYTHON, "-m", "bench", small, "--report"], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert "not allowed with argument" in ended.stderr


def test_every_section_is_measured_in_some_order() -> None:
    asked = "from bench.plan import SECTIONS; from bench.sections import MEASURES; print(set(SECTIONS) == set(MEASURES))"
    assert subprocess.run([PYTHON, "-c", asked], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True).stdout == "True\n"

"""A real Prometheus reads two replicas, and every query of the dashboard and every alert has an answer."""

import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
import yaml

from tests.doors.callers import done
from tests.peers.debian import program
from tests.peers.outside import ROOT
from tests.replicas.conftest import database
from tests.replicas.replica import Replica, opened, send
from tests.serve.running import PATIENCE, free_port

__all__ = ["database"]
OPERATIONS = (ROOT / "docs" / "operations.md").read_text()


def printed(first_word: str) -> str:
    (found,) = re.findall(rf"^```yaml\n({first_word}:.*?)^```$", OPERATIONS, re.MULTILINE | re.DOTALL)
    return str(found)


@pytest.fixture(scope="module")
def pair(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Replica, ...]]:
    folder = tmp_path_factory.mktemp("pair")
    with opened(*(Replica(folder / str(number), "--database", database, "--auth", "keys") for number in range(2))) as replicas:
        yield replicas


@pytest.fixture(scope="module")
def prometheus(pair: tuple[Replica, ...], tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """One configured as the document prints it, but for addresses and haste."""
    here, port = tmp_path_factory.mktemp("prometheus"), free_port()
    config = yaml.safe_load(printed("scrape_configs"))
    (job,) = config["scrape_configs"]
    job["authorization"]["credentials_file"] = str(pair[0].here / "kept" / "owner.key")
    job["static_configs"] = [{"targets": [f"127.0.0.1:{replica.port}" for replica in pair]}]
    (here / "alerts.yml").write_text(printed("groups"))
    (here / "prometheus.yml").write_text(
        yaml.safe_dump(config | {"global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": ["alerts.yml"]})
    )
    command = [program("prometheus", "prometheus"), f"--config.file={here}/prometheus.yml", f"--storage.tsdb.path={here}/data"]
    process = subprocess.Popen([*command, f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"])
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            yield client
    finally:
        process.terminate()
        process.wait(PATIENCE)


def answer(prometheus: httpx.Client, query: str) -> list[object]:
    try:
        response = prometheus.get("/api/v1/query", params={"query": query})
    except httpx.TransportError:
        return []
    if response.status_code == 503:
        return []
    assert response.status_code == 200, (query, response.text)
    return list(response.json()["data"]["result"])


def until_answered(prometheus: httpx.Client, query: str) -> None:
    give_up = time.monotonic() + PATIENCE
    while not answer(prometheus, query):
        assert time.monotonic() < give_up, query
        time.sleep(0.1)


async def live(one: Replica, other: Replica) -> None:
    """A little of everything that is counted."""
    async with one.client() as anyone:
        keys = [
            done(await anyone.post("/agents/register", json={"name": name, "allow_from": ["*"]}), 201)["api_key"]
            for name in ("alice", "bob")
        ]
    async with one.client(key=keys[0]) as alice, other.client(key=keys[1]) as bob:
        await send(alice, "bob")
        for _ in range(2):
            (letter,) = done(await bob.post("/messages/wait", json={}))["messages"]
            done(await bob.post(f"/messages/{letter['id']}/nack", json={"token": letter["token"]}))


async def test_every_query_of_the_dashboard_has_an_answer(pair: tuple[Replica, Replica], prometheus: httpx.Client) -> None:
    await live(*pair)
    until_answered(prometheus, 'count(up{job="postoffice"} == 1) == 2')
    board = msgspec.json.decode((ROOT / "deploy" / "grafana.json").read_bytes())
    for panel in board["panels"]:
        for target in panel["targets"]:
            until_answered(prometheus, target["expr"].replace("$job", "postoffice").replace("$__rate_interval", "1m"))


def test_every_alert_is_understood_and_none_fires_while_all_is_well(prometheus: httpx.Client) -> None:
    until_answered(prometheus, "postoffice_agents")
    tool = program("promtool", "prometheus")
    file = Path(str(prometheus.get("/api/v1/status/config").json()["data"]["yaml"]).partition("rule_files:\n- ")[2].split("\n")[0])
    assert subprocess.run([tool, "check", "rules", str(file)], capture_output=True, check=False).returncode == 0
    names = {rule["alert"]: rule["expr"] for group in yaml.safe_load(printed("groups"))["groups"] for rule in group["rules"]}
    groups = prometheus.get("/api/v1/rules").json()["data"]["groups"]
    found = {rule["name"]: rule["state"] for group in groups for rule in group["rules"]}
    assert found.keys() == names.keys()
    assert "firing" not in found.values()

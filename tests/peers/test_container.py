"""The image and the compose file, with a real engine: built, started, killed and begun again as the documents say.

And the unit, by systemd's own tool.
"""

import re
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.doors.callers import done, refused
from tests.peers.debian import program
from tests.peers.docker import Docker, engine
from tests.peers.outside import ROOT
from tests.serve.running import PATIENCE, free_port

pytestmark = pytest.mark.timeout(1800)  # everything is fetched and built anew
DEPLOY = ROOT / "deploy"
IMAGE = "postoffice"
WITHOUT_RIGHTS = ("--read-only", "--cap-drop=ALL", "--security-opt=no-new-privileges")


@pytest.fixture(scope="module")
def docker() -> Iterator[Docker]:
    with tempfile.TemporaryDirectory(prefix="postoffice-docker-") as folder, engine(Path(folder)) as running:
        running.build(ROOT, DEPLOY / "Dockerfile", IMAGE)
        yield running


def versions(text: str) -> dict[str, str]:
    return {re.sub(r"[-_.]+", "-", name.lower()): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)}


def test_only_what_a_replica_needs_is_installed_as_it_is_pinned(docker: Docker) -> None:
    listed = docker.run("run", "--rm", IMAGE, "/opt/postoffice/bin/pip", "freeze")
    pinned, found = versions((ROOT / "requirements.lock").read_text()), versions(listed)
    assert {"asyncpg", "nats-py", "opentelemetry-sdk", "uvicorn"} <= found.keys()
    assert {"pytest", "ruff", "mypy"} & found.keys() == set()
    assert {name: version for name, version in found.items() if pinned.get(name) != version} == {}


def test_it_serves_without_rights_its_health_is_told_and_it_ends_when_asked(docker: Docker) -> None:
    port = free_port()
    id = docker.run("run", "--detach", *WITHOUT_RIGHTS, f"--publish=127.0.0.1:{port}:8787", IMAGE)
    try:
        give_up = time.monotonic() + PATIENCE
        while docker.run("inspect", "--format={{.State.Health.Status}}", id) != "healthy":
            assert time.monotonic() < give_up, docker.run("logs", id)
            time.sleep(0.5)
        assert docker.run("exec", id, "id", "--user") == "10001"
        assert docker.tried("exec", id, "touch", "/opt/postoffice/mine").returncode != 0
        assert docker.run("exec", id, "stat", "--format=%a", "owner.key") == "600"
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            refused(client.get("/inbox", headers={"X-Agent": "alice"}), 401)  # beyond loopback nobody is believed without a key
            key = done(client.post("/agents/register", json={"name": "alice"}), 201)["api_key"]
            done(client.get("/inbox", headers={"X-API-Key": key}))
        docker.run("stop", id)
        assert docker.run("inspect", "--format={{.State.ExitCode}}", id) == "0"
        told = docker.tried("logs", id)
        assert all(line.startswith("{") for line in (told.stdout + told.stderr).splitlines())
    finally:
        docker.run("rm", "--force", "--volumes", id)


class Cluster:
    """Our compose file as it is, under a name of its own."""

    def __init__(self, docker: Docker, here: Path) -> None:
        self._docker = docker
        self.port = free_port()
        self._settings = here / "env"
        example = (DEPLOY / ".env.example").read_text()
        self._settings.write_text(example.replace("change-this", "aWordOfOurs").replace("=8080", f"={self.port}"))

    def do(self, *words: str) -> str:
        """What `docker compose` says."""
        options = (f"--file={DEPLOY / 'compose.yaml'}", f"--env-file={self._settings}", "--project-name=postoffice-test")
        return self._docker.run("compose", *options, *words, within=600.0)

    def client(self, key: str | None = None) -> httpx.Client:
        headers = {} if key is None else {"X-API-Key": key}
        return httpx.Client(base_url=f"http://localhost:{self.port}", headers=headers, timeout=PATIENCE, trust_env=False)


@pytest.fixture
def cluster(docker: Docker, tmp_path: Path) -> Iterator[Cluster]:
    made = Cluster(docker, tmp_path)
    try:
        made.do("up", "--detach", "--build", "--wait")
        yield made
    finally:
        made.do("down", "--volumes")


def test_a_cluster_loses_a_replica_and_then_everything_but_its_mail(cluster: Cluster) -> None:
    with cluster.client(cluster.do("exec", "-T", "office-1", "cat", "owner.key")) as owner:
        done(owner.get("/agents"))
        done(owner.get("/ready"))
        alice, bob = (
            done(owner.post("/agents/register", json={"name": name, "allow_from": ["*"]}), 201)["api_key"] for name in ("alice", "bob")
        )
    with cluster.client(alice) as writer, cluster.client(bob) as reader, ThreadPoolExecutor() as threads:
        # nginx gives its callers to the two in turn: whoever waits is at one of them when the letter comes to the other.
        waiting = threads.submit(reader.post, "/messages/wait", json={"wait": PATIENCE})
        time.sleep(1)
        done(writer.post("/messages/send", json={"to": "bob", "subject": "mail", "content": "across"}), 201)
        (letter,) = done(waiting.result())["messages"]
        assert letter["content"] == "across"
        done(reader.post(f"/messages/{letter['id']}/ack", json={"token": letter["token"]}))
        cluster.do("kill", "office-1")
        for number in range(4):
            done(writer.post("/messages/send", json={"to": "bob", "subject": "mail", "content": f"number {number}"}), 201)
    cluster.do("down")
    cluster.do("up", "--detach", "--wait")
    with cluster.client(bob) as reader:
        kept = [letter["content"] for letter in done(reader.post("/messages/receive", json={"limit": 10}))["messages"]]
    assert kept == [f"number {number}" for number in range(4)]


def test_systemd_finds_no_fault_with_the_unit_and_little_exposure(tmp_path: Path) -> None:
    tool, unit = program("systemd-analyze", "systemd"), tmp_path / "postoffice.service"
    beside = shlex.quote(str(Path(sys.executable).with_name("postoffice")))
    unit.write_text((ROOT / "deploy" / "postoffice.service").read_text().replace("/opt/postoffice/bin/postoffice", beside))
    verified = subprocess.run([tool, "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
    secure = subprocess.run([tool, "security", "--offline=true", "--threshold=20", str(unit)], capture_output=True, text=True, check=False)
    assert secure.returncode == 0, secure.stdout

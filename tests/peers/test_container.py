"""The image's steps, where no container engine is: each in a clean directory and a fresh environment, and what it starts, as nobody.

And the unit, by systemd's own tool.
"""

import asyncio
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest

from tests.doors.callers import done, refused
from tests.engines import PostgresServer
from tests.peers.debian import program
from tests.peers.outside import ROOT
from tests.serve.running import PATIENCE, free_port

pytestmark = pytest.mark.timeout(600)  # everything is installed anew
STEPS = [line.split(" ", 1) for line in (ROOT / "deploy" / "Dockerfile").read_text().splitlines() if line and not line.startswith("#")]
NOBODY = 65534 if os.geteuid() == 0 else None
OUTSIDE = {name: value for name, value in os.environ.items() if name in ("HOME", "SSL_CERT_FILE") or name.startswith(("PIP_", "UV_"))}


def python() -> str:
    """A Python that nobody may run too: one in somebody's home is no use to others."""
    for found in (f"{sys.base_prefix}/bin/python3", "/usr/local/bin/python3", "/usr/bin/python3"):
        new_enough = "import ensurepip, sys; sys.exit(sys.version_info < (3, 11))"
        try:
            if subprocess.run([found, "-c", new_enough], user=NOBODY, cwd="/", capture_output=True, check=False).returncode == 0:
                return found
        except OSError:
            continue
    pytest.fail("this test needs a Python 3.11 or newer that everybody may run, with venv: install python3-venv")


class Image:
    """A directory in place of a root file system, and the steps done in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.env: dict[str, str] = {}
        self.here = root
        self.command: list[str] = []
        self.check = ""
        self.user = "root"

    def within(self, text: str) -> str:
        """The same words with our paths below the directory."""
        return re.sub(r"(?<![\w.])/(opt|var|build)\b", rf"{self.root}/\1", text)

    def do(self, word: str, what: str) -> None:
        match word:
            case "WORKDIR":
                self.here = Path(self.within(what))
                self.here.mkdir(parents=True, exist_ok=True)
            case "COPY" if "--from=" not in what:
                *sources, target = what.split()
                for source in sources:
                    if (ROOT / source).is_dir():
                        shutil.copytree(ROOT / source, self.here / target, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
                    else:
                        shutil.copy(ROOT / source, self.here / target)
            case "RUN" if "useradd" not in what:
                path = {"PATH": f"{self.root / 'bin'}:/usr/bin:/bin"}
                done = subprocess.run(
                    self.within(what), shell=True, cwd=self.here, env=OUTSIDE | path, capture_output=True, text=True, check=False
                )
                assert done.returncode == 0, done.stdout + done.stderr
            case "ENV":
                name, _, value = what.partition("=")
                self.env[name] = self.within(value)
            case "USER":
                self.user = what
            case "HEALTHCHECK":
                self.check = what.partition(" CMD ")[2]
            case "CMD":
                self.command = list(msgspec.json.decode(what))


@pytest.fixture(scope="module")
def image() -> Iterator[Image]:
    with tempfile.TemporaryDirectory(prefix="postoffice-image-") as folder:
        made = Image(Path(folder))
        made.root.chmod(0o755)
        (made.root / "bin").mkdir()
        (made.root / "bin" / "python").write_text(f'#!/bin/sh\nexec {python()} "$@"\n')
        (made.root / "bin" / "python").chmod(0o755)
        for word, what in STEPS:
            made.do(word, what)
        if NOBODY is not None:
            os.chown(made.env["POSTOFFICE_DATA"], NOBODY, NOBODY)
        yield made


def environment(image: Image, **settings: str) -> dict[str, str]:
    return image.env | {"POSTOFFICE_PORT": str(free_port()), "HOME": str(image.here)} | settings


def versions(text: str) -> dict[str, str]:
    return {re.sub(r"[-_.]+", "-", name.lower()): version for name, version in re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE)}


def test_only_what_a_replica_needs_is_installed_as_it_is_pinned(image: Image) -> None:
    listed = subprocess.run([image.root / "opt/postoffice/bin/pip", "freeze"], capture_output=True, text=True, check=True).stdout
    pinned, found = versions((ROOT / "requirements.lock").read_text()), versions(listed)
    assert {"asyncpg", "nats-py", "opentelemetry-sdk", "uvicorn"} <= found.keys()
    assert {"pytest", "ruff", "mypy"} & found.keys() == set()
    assert {name: version for name, version in found.items() if pinned.get(name) != version} == {}


def test_what_it_starts_serves_as_nobody_and_its_health_is_told(image: Image, postgres: PostgresServer) -> None:
    assert image.user not in ("root", "0")
    folder = Path(postgres.url("postgres").partition("host=")[2])
    folder.chmod(0o711)  # a socket file in place of a network: everybody may come as far as that
    database = asyncio.run(postgres.empty()).replace("postgres:@", "postgres@")
    env = environment(image, POSTOFFICE_DATABASE=database)
    unhealthy = subprocess.run(image.check, shell=True, env=env, capture_output=True, check=False)
    assert unhealthy.returncode != 0
    migrated = subprocess.run(
        ["postoffice", "migrate"], env=env, cwd=image.here, user=NOBODY, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert migrated.returncode == 0, migrated.stderr
    process = subprocess.Popen(image.command, env=env, cwd=image.here, user=NOBODY, stderr=subprocess.PIPE, text=True)
    try:
        give_up = time.monotonic() + PATIENCE
        while subprocess.run(image.check, shell=True, env=env, capture_output=True, check=False).returncode != 0:
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < give_up
        with httpx.Client(base_url=f"http://127.0.0.1:{env['POSTOFFICE_PORT']}", trust_env=False) as client:
            refused(client.get("/inbox", headers={"X-Agent": "alice"}), 401)  # beyond loopback nobody is believed without a key
            key = done(client.post("/agents/register", json={"name": "alice"}), 201)["api_key"]
            done(client.get("/inbox", headers={"X-API-Key": key}))
        assert (Path(env["POSTOFFICE_DATA"]) / "owner.key").stat().st_mode & 0o777 == 0o600
    finally:
        process.terminate()
        _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert all(line.startswith("{") for line in told.splitlines())


def test_systemd_finds_no_fault_with_the_unit_and_little_exposure(tmp_path: Path) -> None:
    tool, unit = program("systemd-analyze", "systemd"), tmp_path / "postoffice.service"
    beside = shlex.quote(str(Path(sys.executable).with_name("postoffice")))
    unit.write_text((ROOT / "deploy" / "postoffice.service").read_text().replace("/opt/postoffice/bin/postoffice", beside))
    verified = subprocess.run([tool, "verify", str(unit)], capture_output=True, text=True, check=False)
    assert (verified.returncode, verified.stderr) == (0, "")
    secure = subprocess.run([tool, "security", "--offline=true", "--threshold=20", str(unit)], capture_output=True, text=True, check=False)
    assert secure.returncode == 0, secure.stdout

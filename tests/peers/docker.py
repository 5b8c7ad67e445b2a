"""A container engine, with the images that ours stand on: from the hub, or of Debian's packages where the hub cannot be reached."""

import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.peers.debian import fetched, mirror, program
from tests.peers.outside import ROOT
from tests.serve.running import PATIENCE

_IMAGES = Path(__file__).with_name("images")
_BUILDING = 600.0
_HUB = 60.0
_CERTIFICATES = "etc/ssl/certs/ca-certificates.crt"


class Docker:
    """An engine, by its command."""

    def __init__(self, config: Path, host: str | None) -> None:
        self._command = [program("docker", "docker.io"), "--config", str(config)]
        # The engine's own builder: a client without its plugins has no other.
        self._environment = os.environ | {"DOCKER_BUILDKIT": "0"} | ({} if host is None else {"DOCKER_HOST": host})

    def tried(self, *words: str, within: float = PATIENCE) -> subprocess.CompletedProcess[str]:
        """What came of a command."""
        return subprocess.run([*self._command, *words], env=self._environment, capture_output=True, text=True, timeout=within, check=False)

    def run(self, *words: str, within: float = PATIENCE) -> str:
        """What a command printed that has to succeed."""
        done = self.tried(*words, within=within)
        assert done.returncode == 0, f"docker {' '.join(words)}\n{done.stdout[-4000:]}{done.stderr[-4000:]}"
        return done.stdout.strip()

    def build(self, folder: Path, file: Path, tag: str) -> None:
        """Build an image, as the documents say."""
        self.run("build", "--file", str(file), "--tag", tag, str(folder), within=_BUILDING)


@contextmanager
def engine(here: Path) -> Iterator[Docker]:
    """The machine's own engine, or one for this test alone."""
    config = here / "config"
    _add_compose(config, here)
    docker = Docker(config, None)
    if docker.tried("info").returncode == 0:
        _supply(docker, here)
        yield docker
        return
    host = f"unix://{here}/socket"
    places = [f"--data-root={here}/data", f"--exec-root={here}/run", f"--pidfile={here}/pid", f"--host={host}"]
    with (here / "engine.log").open("w") as log:
        daemon = subprocess.Popen([program("dockerd", "docker.io"), *places], stdout=log, stderr=log)
    docker = Docker(config, host)
    try:
        give_up = time.monotonic() + PATIENCE
        while docker.tried("info").returncode != 0:
            assert daemon.poll() is None, (here / "engine.log").read_text()[-4000:]
            assert time.monotonic() < give_up
            time.sleep(0.2)
        _supply(docker, here)
        yield docker
    finally:
        daemon.terminate()
        daemon.wait(PATIENCE)


def _add_compose(config: Path, here: Path) -> None:
    """`docker compose` came with Debian 13; the plugin needs nothing of the system it runs on."""
    plugins = config / "cli-plugins"
    plugins.mkdir(parents=True)
    if Docker(config, None).tried("compose", "version").returncode != 0:
        (plugins / "docker-compose").symlink_to(fetched("docker-compose", "trixie", here) / "usr/libexec/docker/cli-plugins/docker-compose")


def _supply(docker: Docker, here: Path) -> None:
    files = ((ROOT / "deploy" / name).read_text() for name in ("Dockerfile", "compose.yaml"))
    named = {name for text in files for name in re.findall(r"^\s*(?:FROM|image:) (\w+:[\w.-]+)", text, re.MULTILINE)}
    for image in sorted(named, key=lambda name: not name.startswith("python:")):  # the others stand on it
        if docker.tried("image", "inspect", image).returncode != 0 and docker.tried("pull", image, within=_HUB).returncode != 0:
            _stand_in(docker, image, here)


def _stand_in(docker: Docker, image: str, here: Path) -> None:
    name = image.partition(":")[0]
    context = here / name
    if name == "python":
        _debian(docker, image, context)
        return
    shutil.copytree(_IMAGES / name, context)
    if name == "nats":
        shutil.copy(Path(sys.executable).with_name("nats-server"), context)
    docker.build(context, context / "Dockerfile", image)


def _debian(docker: Docker, image: str, root: Path) -> None:
    """Debian and its Python, which is 3.11 in the release that is named here; whom this machine trusts is trusted there."""
    packages = "--include=python3-venv,python-is-python3,ca-certificates"
    made = [program("debootstrap", "debootstrap"), "--variant=minbase", packages, "bookworm", str(root), mirror()]
    subprocess.run(made, check=True, capture_output=True, timeout=_BUILDING)
    shutil.copy(Path("/") / _CERTIFICATES, root / _CERTIFICATES)
    index = {name: value for name, value in os.environ.items() if name in ("PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL")}
    changes = [f"--change=ENV {name}={value}" for name, value in (index | {"PIP_CERT": f"/{_CERTIFICATES}"}).items()]
    packed = root.with_suffix(".tar")
    subprocess.run(["tar", "--directory", str(root), "--create", "--file", str(packed), "."], check=True)
    docker.run("import", *changes, str(packed), image, within=_BUILDING)

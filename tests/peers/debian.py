"""Programs from Debian's packages, installed where that is possible. One that is missing is a failure, never a skip."""

import os
import shutil
import subprocess
from pathlib import Path

_WHERE = f"{os.environ['PATH']}:/usr/sbin"


def program(name: str, package: str) -> str:
    """Where it is."""
    found = shutil.which(name, path=_WHERE)
    if found is None and os.geteuid() == 0 and shutil.which("apt-get"):
        _apt("update", "-qq")
        _apt("install", "-y", "-qq", "--no-install-recommends", package)
        found = shutil.which(name, path=_WHERE)
    assert found is not None, f"this test needs {name}: install {package} from your system's packages"
    return found


def mirror() -> str:
    """Where this machine has its Debian from."""
    listed = subprocess.run(["apt-get", "indextargets", "--format", "$(REPO_URI)"], check=True, capture_output=True, text=True).stdout
    return listed.split()[0]


def fetched(package: str, release: str, here: Path) -> Path:
    """The files of a package from another release, beside the system and not in it."""
    sources, lists, files = here / "sources.list", here / "lists", here / package
    sources.write_text(f"deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] {mirror()} {release} main\n")
    (lists / "partial").mkdir(parents=True)
    places = {"Etc::SourceList": sources, "Etc::SourceParts": "-", "State::Lists": lists, "Cache": here / "cache"}
    options = [f"--option=Dir::{name}={place}" for name, place in places.items()]
    _apt(*options, "update", "-qq")
    _apt(*options, "download", package, cwd=here)
    (archive,) = here.glob(f"{package}_*.deb")
    subprocess.run(["dpkg-deb", "--extract", archive, files], check=True)
    return files


def _apt(*words: str, cwd: Path | None = None) -> None:
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", *words], check=True, capture_output=True, env=quiet, cwd=cwd)

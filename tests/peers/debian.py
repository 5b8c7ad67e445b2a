"""Programs from Debian's packages, installed where that is possible. One that is missing is a failure, never a skip."""

import os
import shutil
import subprocess

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


def _apt(*words: str) -> None:
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", *words], check=True, capture_output=True, env=quiet)

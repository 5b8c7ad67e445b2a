"""Programs of others that are compared with us, installed from Debian where that can be done without asking."""

import os
import shutil
import subprocess

from bench.scratch import progress


def program(name: str, package: str) -> str:
    """Where a program is, after installing its package if it is missing and we may."""
    if (found := shutil.which(name)) is None and os.geteuid() == 0 and shutil.which("apt-get"):
        progress(f"installing {package}")
        quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
        for command in (["apt-get", "update", "-qq"], ["apt-get", "install", "-y", "-qq", "--no-install-recommends", package]):
            subprocess.run(command, check=True, env=quiet, stdout=subprocess.DEVNULL)
        found = shutil.which(name)
    if found is None:
        message = f"{name} is missing: install {package} from your system's packages"
        raise RuntimeError(message)
    return found

"""The browser that the page is tested with: found on this machine, or Debian's, installed where that can be done without asking."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
_ELSEWHERE = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
)
_PATIENCE = 900
ABSENT = "NO BROWSER: the page's tests need Chromium or Chrome on the path, and were not run."

# Nothing the browser does by itself may leave this machine: what the tests see leave is the page's doing.
FLAGS = [
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-sync",
    "--no-first-run",
    "--no-pings",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []),
]


def find() -> str | None:
    """Where a Chromium or Chrome is."""
    named = (shutil.which(name) for name in _NAMES)
    return next(filter(None, named), None) or next((path for path in _ELSEWHERE if Path(path).exists()), None)


def ensure() -> str | None:
    """Where one is, after installing Debian's if there is none and we may."""
    if (found := find()) is None and shutil.which("apt-get") and os.geteuid() == 0:
        _install()
        found = find()
    return found


def _install() -> None:
    quiet = {"DEBIAN_FRONTEND": "noninteractive"}
    commands = (["apt-get", "update", "-qq"], ["apt-get", "install", "-qq", "--yes", "--no-install-recommends", "chromium"])
    for command in commands:
        ended = subprocess.run(command, env=os.environ | quiet, check=False, timeout=_PATIENCE, stdout=subprocess.DEVNULL)  # noqa: S603 - ours
        if ended.returncode:
            print(f"{' '.join(command)} failed", file=sys.stderr)
            return


def main() -> int:
    """Say where it is. Without one a run under CI fails; elsewhere it is told loudly and the other tests run."""
    found = ensure()
    print(found or f"\n{'=' * len(ABSENT)}\n{ABSENT}\n{'=' * len(ABSENT)}\n", file=sys.stderr)
    return 1 if found is None and os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main())

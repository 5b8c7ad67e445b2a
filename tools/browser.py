"""The browser that the page is tested with: found on this machine, or Debian's, installed where that can be done without asking."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

SHELL = "chromium-headless-shell"
"""Debian's Chromium without the windows around it: the same engine, and the page's tests take it half as much work."""
_NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge")
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


def find(*, windows: bool = False) -> str | None:
    """Where a Chromium or Chrome is; with windows, as people have it before them."""
    named = (shutil.which(name) for name in _NAMES if not (windows and name == SHELL))
    return next(filter(None, named), None) or next((path for path in _ELSEWHERE if Path(path).exists()), None)


def ensure(*, windows: bool = False) -> str | None:
    """Where one is, after installing Debian's if there is none and we may."""
    if (found := find(windows=windows)) is None and shutil.which("apt-get") and os.geteuid() == 0:
        _apt("update")
        if windows or not _apt("install", SHELL):  # which older releases do not have
            _apt("install", "chromium")
        found = find(windows=windows)
    return found


def _apt(act: str, *packages: str) -> bool:
    quiet = os.environ | {"DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", act, "-qq", "--yes", "--no-install-recommends", *packages]
    ended = subprocess.run(command, env=quiet, check=False, timeout=_PATIENCE, stdout=subprocess.DEVNULL)  # noqa: S603 - ours
    if ended.returncode:
        print(f"{' '.join(command)} failed", file=sys.stderr)
    return not ended.returncode


def main() -> int:
    """Say where it is. Without one a run under CI fails; elsewhere it is told loudly and the other tests run."""
    found = ensure()
    print(found or f"\n{'=' * len(ABSENT)}\n{ABSENT}\n{'=' * len(ABSENT)}\n", file=sys.stderr)
    return 1 if found is None and os.environ.get("CI") else 0


if __name__ == "__main__":
    sys.exit(main())

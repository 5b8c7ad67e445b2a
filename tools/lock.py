"""Check that the locks pin every package and name no index."""

import re
import sys
from pathlib import Path

LOCKS = [
    Path(path)
    for path in (
        "requirements.lock",
        "bench/requirements.lock",
        "bench/seed001.lock",
        "tests/peers/fastmcp.lock",
        "tests/peers/moto.lock",
        "tools/audit.lock",
    )
]
"""The product's first."""
PIN = re.compile(r"^[a-z0-9][a-z0-9._-]*(\[[a-z0-9,_-]+\])?==[^ ]+( ; .+)?( +#.*)?$")
_NAMED = re.compile(r"^([a-z0-9][a-z0-9._-]*)(?:\[[^]]*\])?==([^\s;]+)", re.MULTILINE)


def pins(path: Path) -> dict[str, str]:
    """Each package of a lock, and its version."""
    return dict(_NAMED.findall(path.read_text()))


def main() -> int:
    """1 if a line of a lock is anything but a pin or a comment."""
    bad = [
        f"{lock}: {line}"
        for lock in LOCKS
        for line in lock.read_text().splitlines()
        if line.strip() and not line.startswith("#") and not PIN.match(line)
    ]
    for line in bad:
        print(f"not a plain pin: {line}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

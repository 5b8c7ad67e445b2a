"""Check that the locks pin every package and name no index."""

import re
import sys
from pathlib import Path

PIN = re.compile(r"^[a-z0-9][a-z0-9._-]*(\[[a-z0-9,_-]+\])?==[^ ]+( ; .+)?( +#.*)?$")


def main() -> int:
    """1 if a line of a lock is anything but a pin or a comment."""
    bad = [
        f"{lock}: {line}"
        for lock in map(Path, ("requirements.lock", "bench/requirements.lock", "bench/seed001.lock", "tests/peers/fastmcp.lock"))
        for line in lock.read_text().splitlines()
        if line.strip() and not line.startswith("#") and not PIN.match(line)
    ]
    for line in bad:
        print(f"not a plain pin: {line}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

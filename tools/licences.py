"""List the licences of everything a user installs, and fail on one that would bind them."""

import re
import sys
from importlib.metadata import Distribution, distribution

from packaging.requirements import Requirement

FREE = re.compile(r"\b(Apache|BSD|MIT|PSF|Python Software Foundation|ISC|MPL-2\.0|0BSD)\b", re.IGNORECASE)
DEVELOPMENT = {"dev"}


def runtime(name: str, extras: set[str], found: dict[str, Distribution]) -> None:
    """Collect a distribution and whatever it needs on this machine."""
    dist = distribution(name)
    key = re.sub(r"[-_.]+", "-", dist.metadata["Name"]).lower()
    first = key not in found
    found[key] = dist
    for line in dist.requires or ():
        need = Requirement(line)
        wanted = need.marker is None or any(need.marker.evaluate({"extra": extra}) for extra in extras | {""})
        if wanted and (first or extras):
            runtime(need.name, set(need.extras), found)


def extras() -> set[str]:
    """What a user may ask for besides."""
    return {extra for extra in distribution("postoffice").metadata.get_all("Provides-Extra") or () if extra not in DEVELOPMENT}


def licence(dist: Distribution) -> str:
    """What the distribution says of its licence, in one line."""
    meta = dist.metadata
    classifiers = [line.rsplit(" :: ", 1)[-1] for line in meta.get_all("Classifier") or () if line.startswith("License ::")]
    stated = " ".join((meta.get_all("License-Expression") or meta.get_all("License") or [""])[:1]).strip().split("\n")[0]
    return stated or ", ".join(classifiers) or "unknown"


def main() -> int:
    """Print the table; 1 if something in it is not free to use."""
    found: dict[str, Distribution] = {}
    runtime("postoffice", extras(), found)
    bad = []
    for name, dist in sorted(found.items()):
        says = licence(dist)
        print(f"{name:<20} {dist.version:<12} {says}")
        if not FREE.search(says):
            bad.append(name)
    if bad:
        print(f"not known to be free: {', '.join(bad)}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())

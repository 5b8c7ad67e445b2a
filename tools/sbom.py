"""Write the bill of materials: what somebody who installs Postoffice with every extra gets, as CycloneDX."""

import json
import re
import subprocess
import sys
from importlib.metadata import Distribution
from pathlib import Path
from typing import Any

from tools import licences, lock

_CYCLONEDX = ".venv-audit/bin/cyclonedx-py"
_OURS = {"postoffice", "postoffice-files"}
FILE = Path("build/sbom.cdx.json")


def _key(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def only(bill: dict[str, Any], kept: set[str]) -> dict[str, Any]:
    """The bill with these packages and what binds them, and nothing else."""
    root = bill["metadata"]["component"]["bom-ref"]
    components = [component for component in bill["components"] if _key(component["name"]) in kept]
    refs = {root} | {component["bom-ref"] for component in components}
    ties = [
        tie | {"dependsOn": [ref for ref in tie.get("dependsOn", ()) if ref in refs]} for tie in bill["dependencies"] if tie["ref"] in refs
    ]
    return bill | {"components": components, "dependencies": ties}


def strays(bill: dict[str, Any], pins: dict[str, str]) -> list[str]:
    """Components that are not as the lock pins them."""
    said = {_key(component["name"]): component["version"] for component in bill["components"]}
    return [
        f"{name} is {version} here, and {pins.get(name, 'not in')} in the lock"
        for name, version in said.items()
        if name not in _OURS and pins.get(name) != version
    ]


def main() -> int:
    """Write the file and say where; 1 if what is installed is not what the lock pins."""
    command = [_CYCLONEDX, "environment", "--pyproject", "pyproject.toml", "--output-reproducible", "--of", "JSON", sys.executable]
    found: dict[str, Distribution] = {}
    licences.runtime("postoffice", licences.extras(), found)
    bill = only(json.loads(subprocess.run(command, capture_output=True, check=True).stdout), set(found))  # noqa: S603 - ours
    for stray in (wrong := strays(bill, lock.pins(lock.LOCKS[0]))):
        print(stray, file=sys.stderr)
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(bill, indent=1) + "\n")
    print(f"{FILE}: {len(bill['components'])} packages")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

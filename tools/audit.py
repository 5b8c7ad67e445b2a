"""Look through what the locks pin: known faults, releases taken back, age, licence. What nobody could answer is said, not passed over."""

import asyncio
import json
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, distribution
from typing import Any

from packaging.version import Version
from tools import index, licences, lock

_PIP_AUDIT = ".venv-audit/bin/pip-audit"
_SERVICES = {"pypi": "the package index", "osv": "osv.dev"}
_PATIENCE_SECONDS = 300


def reports(printed: str) -> list[dict[str, Any]]:
    """What pip-audit says of each package it could look up. It passes over those its service does not know, and calls that no fault."""
    if not printed.strip():
        return []
    return [package for package in json.loads(printed)["dependencies"] if "skip_reason" not in package]


def advisories(service: str) -> list[dict[str, Any]]:
    """What one service answers about all that the locks pin; nothing if it cannot be asked."""
    command = [
        _PIP_AUDIT,
        "--vulnerability-service",
        service,
        "--format",
        "json",
        "--progress-spinner",
        "off",
        "--no-deps",
        "--disable-pip",
    ]
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for path in lock.LOCKS:  # one by one: two locks may pin two versions of a package
        asked = subprocess.run(  # noqa: S603 - ours
            [*command, "--requirement", str(path)], capture_output=True, text=True, check=False, timeout=_PATIENCE_SECONDS
        )
        answered = reports(asked.stdout)
        if not answered:
            return []
        found |= {(package["name"], package["version"]): package for package in answered}
    return list(found.values())


def licence(name: str) -> str:
    """What a package says of its licence, where it is installed."""
    try:
        return licences.licence(distribution(name))
    except PackageNotFoundError:
        return "not installed here"


def line(name: str, version: str, files: list[index.File]) -> str:
    """One pinned package in one line."""
    pinned = [file for file in files if file.version == Version(version)]
    newest = max((file.version for file in files if not file.yanked and not file.version.is_prerelease), default=None)
    dates = [file.uploaded for file in pinned if file.uploaded]
    age = f"{(datetime.now(UTC) - min(dates)).days} days" if dates else "?"
    news = "?" if newest is None else "newest" if Version(version) >= newest else str(newest)
    return f"{name:<40} {version:<12} {age:>10}  {news:<12} {licence(name)}"


def taken_back(pins: dict[str, str], listed: dict[str, list[index.File]]) -> list[str]:
    """The pins whose every file its makers took back."""
    found = []
    for name, version in pins.items():
        files = [file for file in listed[name] if file.version == Version(version)]
        if files and all(file.yanked for file in files):
            found.append(f"{name} {version} was taken back by its makers")
    return found


def main() -> int:
    """Print the table and what is wrong; 1 if a known fault or a release that was taken back is pinned."""
    pins = lock.pins(lock.LOCKS[0])
    listed = asyncio.run(index.files_of(pins))
    print(f"{'package':<40} {'pinned':<12} {'age':>10}  {'newest':<12} licence")
    for name, version in pins.items():
        print(line(name, version, listed[name]))
    if silent := [name for name in pins if not listed[name]]:
        print(f"the package index said nothing of {len(silent)}: {', '.join(silent)}")
    wrong = taken_back(pins, listed)
    for service, called in _SERVICES.items():
        if answered := advisories(service):
            asked = sum(len(lock.pins(path)) for path in lock.LOCKS)
            print(f"known faults: {called} answered about {len(answered)} packages, of {asked} pins in {len(lock.LOCKS)} locks")
            wrong += [
                f"{package['name']} {package['version']}: {fault['id']}, mended in {', '.join(fault['fix_versions']) or 'no release'}"
                for package in answered
                for fault in package["vulns"]
            ]
            break
        print(f"known faults: {called} has no advisories to be had from here")
    else:
        print("KNOWN FAULTS WERE NOT LOOKED UP: run this where an index of advisories answers.")
    for found in wrong:
        print(found, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

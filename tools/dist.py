"""Build what a release would publish, in `dist/`: three distributions, a plugin for each client, a bundle, checksums, and a bill of materials."""

import hashlib
import json
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from tools import sbom

from postoffice import __version__
from postoffice.setup.hook import hook_groups
from postoffice.setup.skill import SKILL

DIST = Path("dist")
PLUGINS = DIST / "plugins"
_SOURCE = Path("plugins")
_HATCHLING = Path(".venv-audit/bin/hatchling").absolute()
_DISTRIBUTIONS = (Path(), Path("packages/files"), Path("packages/nanobot"))
_WITH_PROGRAM = ("claude", "codex", "gemini", "bundle")
_LAUNCHER, _PINS = "postoffice", "requirements.lock"
_ROOTS = {"claude": "${CLAUDE_PLUGIN_ROOT}", "codex": "${CLAUDE_PLUGIN_ROOT}", "gemini": "${extensionPath}"}
"""What each client calls the plugin's own folder; Codex has taken the other's word for it."""
_UNVERSIONED = "0.0.0"
_EPOCH = (1980, 1, 1, 0, 0, 0)
"""The same files make the same bundle, whenever it is made."""


def main() -> int:
    """Build everything anew."""
    shutil.rmtree(DIST, ignore_errors=True)
    wheel = build_distributions()
    build_plugins(wheel)
    pack(PLUGINS / "bundle", DIST / f"postoffice-{__version__}.mcpb")
    shutil.rmtree(PLUGINS / "bundle")
    (DIST / "server.json").write_text(versioned((_SOURCE / "server.json").read_text()))
    if wrong := sbom.main():
        return wrong
    shutil.copy(sbom.FILE, DIST)
    sums = [f"{digest(path)}  {path.relative_to(DIST)}" for path in files(DIST)]
    (DIST / "SHA256SUMS").write_text("\n".join(sums) + "\n")
    print(f"{DIST}: {len(sums)} files")
    return 0


def build_distributions() -> Path:
    """A wheel and an sdist of each; the wheel of the program itself."""
    for folder in _DISTRIBUTIONS:
        subprocess.run([_HATCHLING, "build", "-d", DIST.absolute()], cwd=folder, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - ours
    return DIST / f"postoffice-{__version__}-py3-none-any.whl"


def build_plugins(wheel: Path) -> None:
    """A folder that clients take plugins from, with the program in each."""
    for path in files(_SOURCE):
        if path.parent != _SOURCE and path.parent != _SOURCE / "program":
            put(PLUGINS / path.relative_to(_SOURCE), versioned(path.read_text()))
    for client in _WITH_PROGRAM:
        _put_program(PLUGINS / client, wheel)
        if client != "bundle":
            put(PLUGINS / client / "skills" / "mailbox" / "SKILL.md", SKILL)
            put(PLUGINS / client / "hooks" / "hooks.json", _hooks(client))


def _put_program(plugin: Path, wheel: Path) -> None:
    """The wheel, the pins of what it needs, and what runs it. The digest of both names the environment that they make."""
    program, launcher = plugin / "program", plugin / "bin" / _LAUNCHER
    program.mkdir(parents=True)
    shutil.copy(wheel, program)
    shutil.copy(_SOURCE / "program" / _PINS, program)
    put(program / "digest", f"{__version__}-{digest(program / wheel.name, program / _PINS)[:12]}\n")
    put(launcher, (_SOURCE / "program" / _LAUNCHER).read_text())
    launcher.chmod(0o755)


def _hooks(client: str) -> str:
    """What the client runs as its session begins, works, pauses and ends."""
    command = f'"{_ROOTS[client]}/bin/{_LAUNCHER}" hook --client {client}'
    events = {event: [group] for event, group in hook_groups(client, command).items()}
    return json.dumps({"hooks": events}, indent=2) + "\n"


def pack(folder: Path, bundle: Path) -> None:
    """A folder as the one file that a desktop client opens."""
    with zipfile.ZipFile(bundle, "w", zipfile.ZIP_DEFLATED) as packed:
        for path in files(folder):
            entry = zipfile.ZipInfo(str(path.relative_to(folder)), _EPOCH)
            entry.external_attr = path.stat().st_mode << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(entry, path.read_bytes())


def versioned(text: str) -> str:
    """A manifest with this version in it."""
    return text.replace(_UNVERSIONED, __version__)


def put(path: Path, text: str) -> None:
    """Write a file, wherever it lies."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def files(folder: Path) -> Iterator[Path]:
    """All files below a folder, always in the same order."""
    return (path for path in sorted(folder.rglob("*")) if path.is_file())


def digest(*paths: Path) -> str:
    """What these files are."""
    found = hashlib.sha256()
    for path in paths:
        found.update(path.read_bytes())
    return found.hexdigest()


if __name__ == "__main__":
    sys.exit(main())

"""What `make dist` built, in the hands of those who would install it: pip, pipx, uv, and the clients themselves."""

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from postoffice import __version__
from tests.peers.client import CLIENTS, QUIET
from tests.peers.outside import NODE, ROOT
from tests.serve.running import free_port

DIST = ROOT / "dist"
PLUGINS = DIST / "plugins"
WHEEL = DIST / f"postoffice-{__version__}-py3-none-any.whl"
TOOLS = ROOT / ".venv-audit" / "bin"
PACKAGE_SETTINGS = ("PIP_", "UV_", "SSL_", "REQUESTS_")


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    subprocess.run([sys.executable, "-m", "tools.dist"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def environment(home: Path, *path: Path) -> dict[str, str]:
    """A machine with little on it: these folders, the system's own, and how packages are fetched here."""
    home.mkdir(exist_ok=True)
    packages = {name: value for name, value in os.environ.items() if name.startswith(PACKAGE_SETTINGS)}
    return QUIET | packages | {"PATH": os.pathsep.join([*map(str, path), "/usr/bin", "/bin"]), "HOME": str(home)}


def run(home: Path, *words: str | Path, path: tuple[Path, ...] = (), extra: Mapping[str, str] | None = None) -> str:
    done = subprocess.run(
        words, env=environment(home, *path) | dict(extra or {}), cwd=home, capture_output=True, text=True, timeout=250, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_every_file_is_in_the_checksums_and_is_what_they_say() -> None:
    lines = (line.split("  ", 1) for line in (DIST / "SHA256SUMS").read_text().splitlines())
    told = {name: digest for digest, name in lines}
    there = {str(path.relative_to(DIST)) for path in DIST.rglob("*") if path.is_file()} - {"SHA256SUMS"}
    assert told.keys() == there
    assert all(hashlib.sha256((DIST / name).read_bytes()).hexdigest() == digest for name, digest in told.items())
    assert sum(name.endswith((".whl", ".tar.gz")) and "/" not in name for name in told) == 6
    assert {"sbom.cdx.json", "server.json", f"postoffice-{__version__}.mcpb"} <= told.keys()


def test_pip_installs_the_wheels_into_an_empty_environment(tmp_path: Path) -> None:
    run(tmp_path, sys.executable, "-m", "venv", tmp_path / "empty")
    python = tmp_path / "empty" / "bin" / "python"
    wheels = [str(path) for path in DIST.glob("*.whl") if "nanobot" not in path.name]
    run(tmp_path, python, "-m", "pip", "install", "--quiet", *wheels)
    assert run(tmp_path, python.parent / "postoffice", "--version") == f"postoffice {__version__}\n"
    run(tmp_path, python, "-c", "import postoffice_files")


def test_uv_and_pipx_install_the_command(tmp_path: Path) -> None:
    run(tmp_path, TOOLS / "uv", "tool", "install", "--quiet", "--python", sys.executable, WHEEL)
    assert run(tmp_path, tmp_path / ".local" / "bin" / "postoffice", "--version") == f"postoffice {__version__}\n"
    elsewhere = tmp_path / "pipx"
    run(elsewhere, TOOLS / "pipx", "install", "--python", sys.executable, WHEEL)
    assert run(elsewhere, elsewhere / ".local" / "bin" / "postoffice", "--version") == f"postoffice {__version__}\n"


def test_claude_code_takes_the_plugin_from_the_folder_and_gives_it_back(tmp_path: Path) -> None:
    claude, there = CLIENTS / "claude", (TOOLS, CLIENTS)
    extra = {"POSTOFFICE_SERVER": f"127.0.0.1:{free_port()}", "POSTOFFICE_AUTOSTART": "1", "POSTOFFICE_DATA": str(tmp_path / "data")}
    assert "Validation passed" in run(tmp_path, claude, "plugin", "validate", PLUGINS / "claude", path=there)
    run(tmp_path, claude, "plugin", "marketplace", "add", PLUGINS, path=there)
    settings = tmp_path / ".claude" / "settings.json"
    run(tmp_path, claude, "plugin", "install", "postoffice@postoffice", path=there)
    try:
        assert "✔ Connected" in run(tmp_path, claude, "mcp", "list", path=there, extra=extra)
    finally:
        run(tmp_path, next((tmp_path / ".cache/postoffice/programs").glob("*/bin/python")), "-m", "postoffice", "close", extra=extra)
    run(tmp_path, claude, "plugin", "uninstall", "postoffice@postoffice", path=there)
    run(tmp_path, claude, "plugin", "marketplace", "remove", "postoffice", path=there)
    assert "postoffice" not in settings.read_text()
    assert "mail" not in run(tmp_path, claude, "mcp", "list", path=there)


def test_codex_takes_the_plugin_from_the_folder_and_gives_it_back(tmp_path: Path) -> None:
    codex, there = CLIENTS / "codex", (TOOLS, CLIENTS)
    run(tmp_path, codex, "plugin", "marketplace", "add", PLUGINS, path=there)
    run(tmp_path, codex, "plugin", "add", "postoffice@postoffice", path=there)
    assert "./bin/postoffice" in run(tmp_path, codex, "mcp", "list", path=there)
    run(tmp_path, codex, "plugin", "remove", "postoffice@postoffice", path=there)
    run(tmp_path, codex, "plugin", "marketplace", "remove", "postoffice", path=there)
    assert "postoffice" not in (tmp_path / ".codex" / "config.toml").read_text()


def test_gemini_takes_the_extension_from_the_folder_and_gives_it_back(tmp_path: Path) -> None:
    gemini, there = CLIENTS / "gemini", (TOOLS, CLIENTS)
    run(tmp_path, gemini, "extensions", "install", PLUGINS / "gemini", "--consent", path=there)
    listed = subprocess.run(
        [gemini, "extensions", "list"],
        env=environment(tmp_path, *there),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    assert f"postoffice ({__version__})" in listed.stdout + listed.stderr
    run(tmp_path, gemini, "extensions", "uninstall", "postoffice", path=there)
    assert not (tmp_path / ".gemini" / "extensions" / "postoffice").exists()


def test_the_bundle_is_one_that_desktop_clients_open(tmp_path: Path) -> None:
    unpacked = tmp_path / "bundle"
    run(tmp_path, NODE / "mcpb", "unpack", DIST / f"postoffice-{__version__}.mcpb", unpacked, path=(NODE,))
    assert "valid" in run(tmp_path, NODE / "mcpb", "validate", unpacked / "manifest.json", path=(NODE,))


def test_the_registry_entry_names_what_is_built() -> None:
    told = json.loads((DIST / "server.json").read_text())
    (package,) = told["packages"]
    assert (told["version"], package["identifier"], package["version"]) == (__version__, "postoffice", __version__)

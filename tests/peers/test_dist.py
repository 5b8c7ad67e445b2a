"""What `make dist` built, in the hands of those who would install it: pip, pipx, uv, and the clients themselves."""

import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from postoffice import __version__
from tests.bridges.bell.pretend import Ground
from tests.peers.client import CLIENTS, QUIET
from tests.peers.mind import thinking
from tests.peers.outside import NODE, ROOT
from tests.peers.terminal import terminal, until
from tests.peers.test_bell import end, ready
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


def test_a_letter_begins_a_turn_in_a_window_that_has_only_the_plugin(tmp_path: Path) -> None:
    ground, folder = Ground(tmp_path / "home", f"http://127.0.0.1:{free_port()}"), tmp_path / "home" / "shop"
    folder.mkdir()
    only_uv = tmp_path / "bin"
    only_uv.mkdir()
    (only_uv / "uv").symlink_to(TOOLS / "uv")
    there = (only_uv, CLIENTS)
    extra = {"POSTOFFICE_SERVER": ground.server, "POSTOFFICE_AUTOSTART": "1", "POSTOFFICE_DATA": str(tmp_path / "data")}
    with thinking() as mind, ExitStack() as closing:
        ready(ground.home, folder, mind.address)
        closing.callback(end, ground)
        before = {path: path.read_bytes() for path in ground.home.rglob("*.json")}
        began = time.monotonic()
        run(ground.home, CLIENTS / "claude", "plugin", "marketplace", "add", PLUGINS, path=there)
        run(ground.home, CLIENTS / "claude", "plugin", "install", "postoffice@postoffice", path=there)
        tools = ",".join(f"mcp__plugin_postoffice_mail__{tool}" for tool in ("mail_get", "mail_done"))
        seen = {"ANTHROPIC_BASE_URL": mind.address, "ANTHROPIC_API_KEY": f"sk-ant-none-{'0' * 22}", "TERM": "xterm-256color"}
        told = {name: value for name, value in environment(ground.home, *there).items() if name != "NO_COLOR"} | extra | seen
        with terminal(["claude", "--allowedTools", tools], folder, told) as window:
            until(lambda: _reach(ground) not in (None, "none"), 100, lambda: window.shown[-2000:])
            time.sleep(8)  # until it has its tools
            (sent,) = ground.send("shop")
            until(lambda: mind.has(sent), 60, lambda: (mind.said[-2:], window.shown[-2000:]))
            sys.stdout.write(f"from nothing to a turn that takes its letter: {time.monotonic() - began:.0f} s\n")
        program = next((ground.home / ".cache/postoffice/programs").glob("*/bin/python"))
        run(ground.home, program, "-m", "postoffice", "close", extra=extra)
        run(ground.home, CLIENTS / "claude", "plugin", "uninstall", "postoffice@postoffice", path=there)
        run(ground.home, CLIENTS / "claude", "plugin", "marketplace", "remove", "postoffice", path=there)
        assert "postoffice" not in (ground.home / ".claude" / "settings.json").read_text()
        # Claude Code's own file counts how often it was started; the rest is as it was.
        assert all(path.read_bytes() == kept for path, kept in before.items() if path.name != ".claude.json")


def _reach(ground: Ground) -> str | None:
    """How the window is rung, once its office is open."""
    with suppress(subprocess.CalledProcessError, ValueError):
        return ground.windows().get("shop")
    return None


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

"""The plugins hold what their clients look for, and their launcher makes one environment, whoever asks first."""

import json
import os
import re
import stat
import subprocess
import zipfile
from pathlib import Path

import pytest
from tools import dist, lock

from postoffice import __version__
from postoffice.setup.skill import SKILL

ROOT = Path(__file__).parents[2]
CLIENTS = ("claude", "codex", "gemini")
PINNED = ROOT / "plugins" / "program" / "requirements.lock"
UV = """#!/bin/sh
# Makes an environment as uv would, with a Python that only says what it was asked.
case "$1" in
  venv) shift; while [ $# -gt 1 ]; do shift; done
        echo made >>"$MADE"; sleep 0.3; mkdir -p "$1/bin"
        printf '#!/bin/sh\\necho "$*"\\n' >"$1/bin/python"; chmod +x "$1/bin/python" ;;
  pip) [ -z "${OFFLINE:-}" ] ;;
esac
"""


@pytest.fixture(scope="module")
def plugins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder as `make dist` builds it, around a wheel of no consequence."""
    folder = tmp_path_factory.mktemp("dist")
    wheel = folder / f"postoffice-{__version__}-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    with pytest.MonkeyPatch.context() as patched:
        patched.chdir(ROOT)
        patched.setattr(dist, "PLUGINS", folder / "plugins")
        dist.build_plugins(wheel)
    return folder / "plugins"


@pytest.mark.parametrize(
    ("client", "manifest"),
    [("claude", ".claude-plugin/plugin.json"), ("codex", ".codex-plugin/plugin.json"), ("gemini", "gemini-extension.json")],
)
def test_a_plugin_has_a_manifest_the_skill_hooks_and_the_program(plugins: Path, client: str, manifest: str) -> None:
    plugin = plugins / client
    told = json.loads((plugin / manifest).read_text())
    assert (told["name"], told["version"]) == ("postoffice", __version__)
    servers = told.get("mcpServers")
    if not isinstance(servers, dict):
        servers = json.loads((plugin / (servers or ".mcp.json")).read_text())["mcpServers"]
    command = re.sub(r"\$\{\w+\}", str(plugin), servers["mail"]["command"])
    assert os.access(plugin / command, os.X_OK)
    assert servers["mail"]["args"] == ["mcp", "--window", client, "--tools", "mail"]
    assert (plugin / "skills" / "mailbox" / "SKILL.md").read_text() == SKILL
    hooks = json.loads((plugin / "hooks" / "hooks.json").read_text())["hooks"]
    assert "SessionStart" in hooks
    assert all("/bin/postoffice" in hook["command"] for groups in hooks.values() for group in groups for hook in group["hooks"])
    assert (plugin / "program" / f"postoffice-{__version__}-py3-none-any.whl").exists()


def test_the_marketplaces_name_folders_that_are_there(plugins: Path) -> None:
    (claude,) = json.loads((plugins / ".claude-plugin" / "marketplace.json").read_text())["plugins"]
    (codex,) = json.loads((plugins / ".agents" / "plugins" / "marketplace.json").read_text())["plugins"]
    assert (plugins / claude["source"] / ".claude-plugin").is_dir()
    assert (plugins / codex["source"]["path"] / ".codex-plugin").is_dir()


def test_what_the_program_needs_is_pinned_by_hash_at_the_versions_that_are_tested() -> None:
    text = PINNED.read_text()
    pins = dict(re.findall(r"^([a-z0-9][a-z0-9._-]*)==([^\s;]+)", text, re.MULTILINE))
    tested = lock.pins(ROOT / "requirements.lock")
    assert {name: version for name, version in pins.items() if tested.get(name, version) != version} == {}
    assert {"mcp", "fastapi", "uvicorn"} <= pins.keys()
    blocks = re.split(r"\n(?=[a-z0-9])", text.strip())
    assert [block.splitlines()[0] for block in blocks if "--hash=sha256:" not in block] == []


def run(plugin: Path, home: Path, *words: str, **extra: str) -> subprocess.Popen[str]:
    bin = home / "bin"
    if not bin.exists():
        bin.mkdir(parents=True)
        (bin / "uv").write_text(UV)
        (bin / "uv").chmod(0o755)
    names = {"PATH": f"{bin}:/usr/bin:/bin", "HOME": str(home), "MADE": str(home / "made")} | extra
    return subprocess.Popen([plugin / "bin" / "postoffice", *words], env=names, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_the_environment_is_made_once_however_many_begin_together(plugins: Path, tmp_path: Path) -> None:
    begun = [run(plugins / "claude", tmp_path, "mcp", str(number)) for number in range(8)]
    said = [one.communicate(timeout=60)[0].strip() for one in begun]
    assert said == [f"-m postoffice mcp {number}" for number in range(8)]
    assert (tmp_path / "made").read_text() == "made\n"


def test_a_hook_that_a_turn_waits_for_does_not_wait_for_packages(plugins: Path, tmp_path: Path) -> None:
    assert run(plugins / "claude", tmp_path, "hook", "--client", "claude").communicate(timeout=60) == ("", "")
    assert not (tmp_path / "made").exists()
    run(plugins / "claude", tmp_path, "hook", "--client", "claude", "--wait").communicate(timeout=60)
    assert run(plugins / "claude", tmp_path, "hook", "--client", "claude").communicate(timeout=60)[0] == "-m postoffice hook --client claude\n"


def test_one_that_was_killed_while_making_it_leaves_nobody_waiting(plugins: Path, tmp_path: Path) -> None:
    first = run(plugins / "claude", tmp_path, "mcp")
    busy = tmp_path / ".cache" / "postoffice" / "programs" / f"{(plugins / 'claude/program/digest').read_text().strip()}.making"
    while not (busy / "pid").exists():
        assert first.poll() is None
    first.kill()
    first.communicate()
    assert run(plugins / "claude", tmp_path, "mcp").communicate(timeout=60)[0] == "-m postoffice mcp\n"


def test_without_packages_it_says_why_and_the_next_start_tries_again(plugins: Path, tmp_path: Path) -> None:
    failed = run(plugins / "claude", tmp_path, "mcp", OFFLINE="1")
    out, err = failed.communicate(timeout=60)
    assert (failed.returncode, out) == (69, "")
    assert "see to the network" in err
    assert run(plugins / "claude", tmp_path, "mcp").communicate(timeout=60)[0] == "-m postoffice mcp\n"


def test_the_bundle_is_the_same_file_whenever_it_is_made_and_its_program_may_run(plugins: Path, tmp_path: Path) -> None:
    bundles = [tmp_path / name for name in ("one.mcpb", "two.mcpb")]
    for bundle in bundles:
        dist.pack(plugins / "bundle", bundle)
    assert bundles[0].read_bytes() == bundles[1].read_bytes()
    with zipfile.ZipFile(bundles[0]) as packed:
        told = json.loads(packed.read("manifest.json"))
        assert told["version"] == __version__
        assert packed.getinfo(told["server"]["entry_point"]).external_attr >> 16 & stat.S_IXUSR

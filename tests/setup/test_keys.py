"""A key goes from its own file into the client's, and nowhere else."""

import json
import stat
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from postoffice.setup.change import MASK, mask
from tests.serve.running import COMMAND, free_port, serving
from tests.setup.person import AGENT, FILES, Person


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of an office that wants keys."""
    port, here = free_port(), tmp_path_factory.mktemp("guarded")
    arguments = ("serve", "--data", str(here), "--port", str(port), "--auth", "keys", "--log-level", "error")
    with serving(*COMMAND, *arguments, port=port, here=here):
        yield f"http://127.0.0.1:{port}"


@pytest.fixture
def keyed(tmp_path: Path, guarded: str) -> Person:
    return Person(tmp_path / "home", guarded)


def keep_key(person: Person, key: str | None = None) -> str:
    """Register, and keep the key as `postoffice register` does."""
    name = f"{AGENT}-{person.home.parent.name}"[:90].replace("[", "-").replace("]", "")
    if key is None:
        body = json.dumps({"name": name})
        words = ["curl", "-s", "-X", "POST", f"{person.server}/agents/register", "-H", "Content-Type: application/json", "-d", body]
        key = str(json.loads(subprocess.run(words, capture_output=True, check=True).stdout)["api_key"])
    folder = person.home / "keys" / person.server.partition("://")[2].replace(":", "_")
    folder.mkdir(parents=True)
    (folder / f"{name.lower()}.json").write_text(json.dumps({"server": person.server, "agent": name, "key": key}))
    return key


def name_of(person: Person) -> str:
    return str(next((person.home / "keys").rglob("*.json")).stem)


def setup(person: Person, *arguments: str) -> Any:
    return person.run("setup", *arguments, "--agent", name_of(person), "--yes")


def test_a_file_with_a_key_in_it_is_nobody_else_s_to_read(keyed: Person) -> None:
    keep_key(keyed)
    for client, mode in (("cursor", 0o600), ("codex", 0o644)):  # Codex takes its key from a variable
        path = keyed.path(client)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        path.chmod(0o644)
        assert setup(keyed, client).returncode == 0
        assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize("client", FILES)
def test_the_key_is_written_and_never_shown(keyed: Person, client: str) -> None:
    key = keep_key(keyed)
    done = setup(keyed, client)
    assert done.returncode == 0
    assert key not in done.stdout + done.stderr
    written = keyed.path(client).read_text()
    if client == "codex":
        assert key not in written
        assert 'bearer_token_env_var = "MAILBOX_API_KEY"' in written
        assert 'bearer_token_env_var = "MAILBOX_API_KEY"' in done.stdout
    else:
        assert f'"Authorization": "Bearer {key}"' in written
        assert f'"Authorization": "Bearer {MASK}"' in done.stdout
    assert "mailbox opens" in done.stdout
    assert keyed.path(client).stat().st_mode & 0o077 == 0


def test_a_project_s_file_names_a_variable_instead(keyed: Person) -> None:
    key = keep_key(keyed)
    done = setup(keyed, "claude", "--project", "--hook", "--skill")
    shared = (keyed.work / ".mcp.json").read_text()
    assert key not in shared + done.stdout
    assert json.loads(shared)["mcpServers"]["mail"]["headers"] == {"Authorization": "Bearer ${MAILBOX_API_KEY}"}
    assert "MAILBOX_API_KEY" in done.stdout
    assert sorted(name for name in keyed.everything() if name.startswith("work")) == [
        "work/.claude/settings.local.json",
        "work/.claude/skills/mailbox/SKILL.md",
        "work/.mcp.json",
    ]


@pytest.mark.parametrize("more", [(), ("--hook",)])
def test_a_missing_key_is_made_before_anything_is_written(keyed: Person, more: tuple[str, ...]) -> None:
    done = keyed.run("setup", "claude", "--agent", f"newcomer{len(more)}", *more, "--yes")
    assert (done.returncode, "mailbox opens" in done.stdout) == (0, True)
    kept = credentials_of(keyed)
    assert kept[f"newcomer{len(more)}"] not in done.stdout


def test_setup_fails_where_no_key_can_be_had(keyed: Person) -> None:
    keyed.run("setup", "claude", "--agent", "taken-name", "--yes")
    stranger = Person(keyed.home / "stranger", keyed.server)
    for words in (("--agent", "taken-name"), ("--hook",)):
        done = stranger.run("setup", "claude", *words, "--yes")
        assert done.returncode not in (0, 1)
        assert not stranger.path("claude").exists()


def test_windows_named_by_their_folders_want_this_machine_s_key(keyed: Person) -> None:
    refused = keyed.run("setup", "claude", "--hook", "--yes")
    assert refused.returncode not in (0, 1)
    assert "postoffice key machine" in refused.stderr
    folder = keyed.home / "keys" / keyed.server.partition("://")[2].replace(":", "_")
    folder.mkdir(parents=True)
    (folder / "windows-key").write_text("amb_" + "0" * 64)
    assert keyed.run("setup", "claude", "--hook", "--yes").returncode == 0
    assert "amb_" not in keyed.path("claude").read_text(), "each window finds it by itself"


def credentials_of(person: Person) -> dict[str, str]:
    found = [json.loads(path.read_text()) for path in (person.home / "keys").rglob("*.json")]
    return {one["agent"]: one["key"] for one in found}


def test_a_key_that_is_no_good_is_told_with_the_remedy(keyed: Person) -> None:
    keep_key(keyed, key="amb_" + "0" * 64)
    assert "postoffice login" in setup(keyed, "cursor").stdout


def test_a_new_key_is_a_change_although_it_is_not_shown(keyed: Person) -> None:
    key = keep_key(keyed)
    setup(keyed, "cursor")
    keyed.path("cursor").write_text(keyed.path("cursor").read_text().replace(key, "amb_" + "1" * 64))
    assert "a secret that is not shown" in setup(keyed, "cursor").stdout
    assert key in keyed.path("cursor").read_text()


def test_other_people_s_secrets_are_not_shown_either() -> None:
    text = """{"apiKey": "sk-1", "botToken":"abc", "env": {"GITHUB_PAT": "ghp_0123456789abcdefghij0123"}, "theme": "dark-high-contrast-theme"}"""
    shown = mask(text)
    assert not [secret for secret in ("sk-1", "abc", "ghp_") if secret in shown]
    assert "dark-high-contrast-theme" in shown
    assert mask("api_key = 'sk-1'") == f"api_key = '{MASK}'"
    assert mask('"Authorization": "Bearer ${A}"') == '"Authorization": "Bearer ${A}"'
    assert mask('token = "x y"\nbearer_token_env_var = "A"') == f'token = "{MASK}"\nbearer_token_env_var = "A"'

"""Every client: the entry is put in, once; backed up; taken back exactly."""

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from tests.setup.person import AGENT, FILES, Person, backup

JSON = '{\n  "first": {"kept": [1, 2]},\n  "ünïcode": "é",\n  "last": 1e3\n}\n'
TOML = '# mine\nmodel = "o3"   # best\n\n[mcp_servers.other]\ncommand = "x"\n\n[profiles.a]\nx = 1 # c\n'
OURS: dict[str, Any] = {
    "claude": (("mcpServers",), {"type": "http", "url": "URL"}),
    "codex": (("mcp_servers",), {"url": "URL"}),
    "gemini": (("mcpServers",), {"url": "URL", "type": "http"}),
    "opencode": (("mcp",), {"type": "remote", "url": "URL", "enabled": True, "oauth": False}),
    "kilo": (("mcp",), {"type": "remote", "url": "URL", "enabled": True, "oauth": False}),
    "copilot": (("mcpServers",), {"type": "http", "url": "URL", "tools": ["*"]}),
    "qwen": (("mcpServers",), {"httpUrl": "URL"}),
    "cursor": (("mcpServers",), {"url": "URL"}),
    "openclaw": (("mcp", "servers"), {"url": "URL", "transport": "streamable-http"}),
    "nanobot": (("tools", "mcpServers"), {"type": "streamableHttp", "url": "URL"}),
}
each = pytest.mark.parametrize("client", FILES)


def before(client: str) -> str:
    return TOML if client == "codex" else JSON


def entry(person: Person, client: str, name: str = "mail") -> Any:
    document = person.read(client)
    for key in (*OURS[client][0], name):
        document = document[key]
    return document


def expected(person: Person, client: str) -> Any:
    return json.loads(json.dumps(OURS[client][1]).replace("URL", f"{person.server}/mail/{AGENT}"))


@each
def test_a_client_is_set_up_in_its_own_file(person: Person, client: str) -> None:
    path = person.write(client, before(client))
    path.chmod(0o640)
    said = person.setup(client, "--yes")
    assert entry(person, client) == expected(person, client)
    assert backup(path).read_text() == before(client)
    assert [stat.S_IMODE(file.stat().st_mode) for file in (path, backup(path))] == [0o640, 0o640]
    assert f"+++ ~/{FILES[client]}" in said
    assert f"The office answers at {person.server}" in said
    assert "mail_done" in said


@each
def test_what_was_there_stays_where_it_was(person: Person, client: str) -> None:
    path = person.write(client, before(client))
    person.setup(client, "--yes")
    lines = path.read_text().replace(",\n", "\n").splitlines()
    old = before(client).replace(",\n", "\n").splitlines()
    assert [line for line in lines if line in old and line.strip()] == [line for line in old if line.strip()]


@each
def test_the_second_time_there_is_nothing_to_change(person: Person, client: str) -> None:
    person.write(client, before(client))
    person.setup(client, "--yes", "--skill")
    left = person.everything()
    assert "Nothing to change" in person.setup(client, "--yes", "--skill")
    assert person.everything() == left


@each
def test_undone_the_file_is_what_it_was(person: Person, client: str) -> None:
    person.write(client, before(client))
    left = person.everything()
    person.setup(client, "--yes", "--skill")
    person.setup(client, "--undo", "--yes")
    assert person.everything() == left
    assert "Nothing to take back" in person.setup(client, "--undo", "--yes")


@each
def test_where_there_was_no_file_there_is_none_after(person: Person, client: str) -> None:
    person.setup(client, "--yes", "--skill")
    assert entry(person, client) == expected(person, client)
    assert stat.S_IMODE(person.path(client).stat().st_mode) == 0o600
    person.setup(client, "--undo", "--yes")
    assert person.everything() == {}


@each
def test_undoing_keeps_what_was_changed_since(person: Person, client: str) -> None:
    path = person.write(client, before(client))
    person.setup(client, "--yes")
    old, new = ('model = "o3"', 'model = "o4"') if client == "codex" else ('"last": 1e3', '"last": 2e3')
    path.write_text(path.read_text().replace(old, new))
    person.setup(client, "--undo", "--yes")
    assert path.read_text().strip() == before(client).replace(old, new).strip()


@each
def test_another_agent_takes_the_place_of_the_first(person: Person, client: str) -> None:
    path = person.write(client, before(client))
    person.setup(client, "--yes")
    done = person.run("setup", client, "--agent", "other", "--yes")
    assert done.returncode == 0
    assert f"{person.server}/mail/other" in entry(person, client).values()
    assert backup(path).read_text() == before(client)
    person.setup(client, "--undo", "--yes")
    assert path.read_text() == before(client)


@each
def test_without_a_terminal_and_yes_nothing_is_written(person: Person, client: str) -> None:
    person.write(client, before(client))
    left = person.everything()
    said = person.setup(client)
    assert "+++" in said
    assert "--yes" in said
    assert person.everything() == left


@each
def test_nothing_written_names_another_machine(person: Person, client: str) -> None:
    person.setup(client, "--yes", "--skill")
    for name, text in person.everything().items():
        assert b"://" not in text.replace(person.server.encode(), b""), name


def test_a_person_s_own_fields_stay_in_our_entry(person: Person) -> None:
    person.setup("claude", "--yes")
    document = person.read("claude")
    document["mcpServers"]["mail"] |= {"timeout": 9, "headers": {"X-Team": "a", "Authorization": "Bearer old"}}
    person.write("claude", json.dumps(document, indent=2))
    person.setup("claude", "--yes")
    assert entry(person, "claude") == expected(person, "claude") | {"timeout": 9, "headers": {"X-Team": "a"}}


def test_a_name_and_tools_of_one_s_own(person: Person) -> None:
    person.setup("gemini", "--yes", "--name", "post", "--tools", "queue,directory")
    assert entry(person, "gemini", "post")["url"].endswith("/mail/coder?tools=queue,directory")
    person.setup("gemini", "--yes", "--name", "post", "--undo")
    assert person.everything() == {}


def test_the_relay_s_permission_joins_those_that_are_there(person: Person) -> None:
    text = '{\n  "gateway": {"tools": {"allow": ["browser"]}}\n}\n'
    path = person.write("openclaw", text)
    person.setup("openclaw", "--yes")
    assert person.read("openclaw")["gateway"]["tools"]["allow"] == ["browser", "sessions_send"]
    path.write_text(path.read_text().replace("browser", "canvas"))
    person.setup("openclaw", "--undo", "--yes")
    assert person.read("openclaw") == {"gateway": {"tools": {"allow": ["canvas"]}}}


def test_a_permission_that_was_there_is_not_taken_back(person: Person) -> None:
    there = {"gateway": {"tools": {"allow": ["sessions_send"]}}}
    person.write("openclaw", json.dumps(there))
    person.setup("openclaw", "--yes")
    person.write("openclaw", json.dumps(person.read("openclaw") | {"more": 1}))
    person.setup("openclaw", "--undo", "--yes")
    assert person.read("openclaw") == there | {"more": 1}


@pytest.mark.parametrize("client", ["nanobot", "openclaw"])
def test_a_permission_in_a_file_that_setup_made_goes_though_a_person_added_to_it(person: Person, client: str) -> None:
    person.setup(client, "--yes")
    person.write(client, json.dumps(person.read(client) | {"more": 1}))
    person.setup(client, "--undo", "--yes")
    assert person.read(client) == {"more": 1}


def test_a_permission_that_nothing_tells_about_stays_and_is_told(person: Person) -> None:
    path = person.write("nanobot", "{}")
    person.setup("nanobot", "--yes")
    backup(path).write_text(path.read_text())
    path.write_text(json.dumps(person.read("nanobot") | {"more": 1}))
    assert "tools.ssrfWhitelist still has '127.0.0.0/8'" in person.setup("nanobot", "--undo", "--yes")
    assert person.read("nanobot") == {"tools": {"ssrfWhitelist": ["127.0.0.0/8"]}, "more": 1}


def test_nanobot_may_reach_its_own_machine_also_by_an_address_with_a_path(person: Person) -> None:
    person.setup("nanobot", "--yes", "--server", "http://127.0.0.1/office")
    assert person.read("nanobot")["tools"]["ssrfWhitelist"] == ["127.0.0.0/8"]


@pytest.mark.parametrize(("there", "after"), [(["10.0.0.0/8"], ["10.0.0.0/8", "127.0.0.0/8"]), (["0.0.0.0/0"], ["0.0.0.0/0"])])
def test_nanobot_may_reach_its_own_machine(person: Person, there: list[str], after: list[str]) -> None:
    person.write("nanobot", json.dumps({"tools": {"ssrfWhitelist": there}}))
    person.setup("nanobot", "--yes")
    assert person.read("nanobot")["tools"]["ssrfWhitelist"] == after


@pytest.mark.parametrize(
    ("client", "variable", "value", "file"),
    [
        ("claude", "CLAUDE_CONFIG_DIR", "else", "else/.claude.json"),
        ("codex", "CODEX_HOME", "else", "else/config.toml"),
        ("gemini", "GEMINI_CLI_HOME", "else", "else/.gemini/settings.json"),
        ("opencode", "OPENCODE_CONFIG", "else/o.json", "else/o.json"),
        ("opencode", "OPENCODE_CONFIG_DIR", "else", "else/opencode.json"),
        ("opencode", "XDG_CONFIG_HOME", "else", "else/opencode/opencode.json"),
        ("openclaw", "OPENCLAW_CONFIG_PATH", "else/c.json", "else/c.json"),
        ("openclaw", "OPENCLAW_STATE_DIR", "else", "else/openclaw.json"),
        ("openclaw", "OPENCLAW_HOME", "else", "else/.openclaw/openclaw.json"),
    ],
)
def test_a_variable_of_the_client_s_moves_its_file(person: Person, client: str, variable: str, value: str, file: str) -> None:
    person.setup(client, "--yes", extra={variable: str(person.home / value)})
    assert list(person.everything()) == [file]


def test_an_opencode_file_of_the_other_name_is_the_one(person: Person) -> None:
    other = person.path("opencode").with_suffix(".jsonc")
    other.parent.mkdir(parents=True)
    other.write_text("{}")
    person.setup("opencode", "--yes")
    assert json.loads(other.read_text())["mcp"]["mail"]
    assert not person.path("opencode").exists()


def test_a_link_stays_a_link(person: Person) -> None:
    real = person.home / "dotfiles" / "claude.json"
    real.parent.mkdir(parents=True)
    real.write_text("{}\n")
    person.path("claude").symlink_to(real)
    person.setup("claude", "--yes")
    assert person.path("claude").is_symlink()
    assert "mcpServers" in json.loads(real.read_text())
    assert backup(real).read_text() == "{}\n"


def test_an_office_that_does_not_answer_is_told_after_writing(tmp_path: Path) -> None:
    person = Person(tmp_path / "home", "http://127.0.0.1:9")
    said = person.setup("cursor", "--yes")
    assert "No office answers at http://127.0.0.1:9" in said
    assert entry(person, "cursor")["url"] == "http://127.0.0.1:9/mail/coder"

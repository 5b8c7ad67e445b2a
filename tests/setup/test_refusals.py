"""What is not understood is left alone, and said in one line."""

import json
from pathlib import Path

import pytest

from postoffice.core.errors import Conflict
from postoffice.setup.change import Change
from tests.setup.person import FILES, Person


def refused(person: Person, *arguments: str) -> str:
    left = person.everything()
    done = person.run("setup", *arguments, "--yes")
    assert done.returncode not in (0, 1)
    assert len(done.stderr.splitlines()) == 1
    assert person.everything() == left
    return done.stderr


@pytest.mark.parametrize("undo", [(), ("--undo",)])
@pytest.mark.parametrize("client", FILES)
def test_a_broken_file(person: Person, client: str, undo: tuple[str, ...]) -> None:
    path = person.write(client, '{"a": 1')
    said = refused(person, client, *undo)
    assert str(path) in said
    assert "nothing was written" in said
    assert "line 1" in said


@pytest.mark.parametrize("text", ['{"mcpServers": []}', '{"mcpServers": "x"}', "[]", '"x"'])
def test_something_else_in_the_place(person: Person, text: str) -> None:
    person.write("gemini", text)
    refused(person, "gemini")


def test_a_list_that_is_none(person: Person) -> None:
    person.write("openclaw", '{"gateway": {"tools": {"allow": "sessions_send"}}}')
    assert "gateway.tools.allow" in refused(person, "openclaw")


@pytest.mark.parametrize("undo", [(), ("--undo",)])
def test_a_server_of_that_name_that_is_not_ours(person: Person, undo: tuple[str, ...]) -> None:
    person.write("claude", json.dumps({"mcpServers": {"mail": {"command": "imap-tool"}}}))
    assert "--name" in refused(person, "claude", *undo)
    person.setup("claude", "--yes", "--name", "post")
    assert list(person.read("claude")["mcpServers"]) == ["mail", "post"]


def test_an_inline_table_takes_ours_too(person: Person) -> None:
    person.write("codex", 'mcp_servers = { other = { command = "x" } }\n')
    person.setup("codex", "--yes")
    assert set(person.read("codex")["mcp_servers"]) == {"other", "mail"}


def test_bytes_that_are_no_text(person: Person) -> None:
    person.path("claude").write_bytes(b"\xff\xfe{}")
    refused(person, "claude")


@pytest.mark.parametrize(
    "arguments",
    [(), ("cursor", "--hook"), ("codex", "--let-in"), ("codex", "--project"), ("claude", "--agent", "a b"), ("claude", "--agent", "owner"), ("claude", "--name", "a.b"),
     ("claude", "--tools", "nonsense"), ("claude", "--server", "ftp://x")],
)  # fmt: skip
def test_a_wish_that_makes_no_sense(person: Person, arguments: tuple[str, ...]) -> None:
    refused(person, *arguments)


def test_a_file_changed_while_somebody_was_asked(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("new")
    with pytest.raises(Conflict):
        Change(path=path, before="old", after="ours").make()
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_a_skill_of_somebody_else_s(person: Person) -> None:
    skill = person.home / ".claude" / "skills" / "mailbox" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("mine")
    assert "we did not write" in refused(person, "claude", "--skill")
    person.setup("claude", "--yes")
    person.setup("claude", "--undo", "--yes")
    assert skill.read_text() == "mine"

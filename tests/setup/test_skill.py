"""The skill and the prompt: what agents and people are told."""

import re

import pytest

from postoffice.core.tools import TOOLSETS
from postoffice.setup.skill import SKILL, is_ours, setup_prompt
from tests.setup.person import Person

PLACES = {
    "claude": ".claude/skills",
    "codex": ".codex/skills",
    "gemini": ".gemini/skills",
    "opencode": ".config/opencode/skills",
    "kilo": ".config/kilo/skills",
    "copilot": ".copilot/skills",
    "qwen": ".qwen/skills",
    "cursor": ".cursor/skills",
    "openclaw": ".openclaw/skills",
    "nanobot": ".nanobot/workspace/skills",
}


@pytest.mark.parametrize(("client", "place"), PLACES.items())
def test_the_skill_is_where_the_client_reads_it(person: Person, client: str, place: str) -> None:
    person.setup(client, "--skill", "--yes")
    assert (person.home / place / "mailbox" / "SKILL.md").read_text() == SKILL
    person.setup(client, "--undo", "--yes")
    assert not (person.home / place / "mailbox").exists()


def test_nanobot_s_workspace_may_be_elsewhere(person: Person) -> None:
    person.write("nanobot", '{"agents": {"defaults": {"workspace": "~/bot"}}}')
    person.setup("nanobot", "--skill", "--yes")
    assert (person.home / "bot" / "skills" / "mailbox" / "SKILL.md").exists()


def test_an_older_skill_of_ours_is_brought_up_to_date(person: Person) -> None:
    skill = person.home / ".claude" / "skills" / "mailbox" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text("old\n<!-- postoffice setup -->\n")
    assert "-old" in person.setup("claude", "--skill", "--yes")
    assert skill.read_text() == SKILL


def test_the_skill_speaks_of_tools_there_are_and_of_no_other_place() -> None:
    assert is_ours(SKILL)
    assert set(re.findall(r"\b(?:mail|mailbox|task)_\w+", SKILL)) <= set(TOOLSETS["mail"])
    assert re.match(r"---\nname: mailbox\ndescription: .{20,1000}\n---\n", SKILL)
    assert "://" not in SKILL


def test_the_prompt_is_printed_for_this_office(person: Person) -> None:
    done = person.run("setup", "--prompt")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"{person.server}/agents/register" in done.stdout
    assert "127.0.0.1:8787" not in done.stdout
    assert "://" not in done.stdout.replace(person.server, "")
    assert person.everything() == {}


def test_the_prompt_uses_the_name_it_is_given(person: Person) -> None:
    printed = person.run("setup", "--prompt", "--agent", "night-owl").stdout
    for line in ("Your name is `night-owl`.", '{"name": "night-owl",', f'{person.server}/mail/night-owl"'):
        assert line in printed
    assert "YOUR_AGENT_NAME" not in printed
    assert "Choose a name" not in printed
    refused = person.run("setup", "--prompt", "--agent", "all")
    assert (refused.returncode != 0, refused.stdout) == (True, "")


def test_the_prompt_has_today_s_configuration() -> None:
    prompt = setup_prompt("http://127.0.0.1:8787", "http://127.0.0.1:8787")
    for word in ('"transport": "streamable-http"', '"allow": ["sessions_send"]', "mail_get", "api_key"):
        assert word in prompt

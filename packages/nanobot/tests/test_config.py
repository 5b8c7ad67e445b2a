"""The section of nanobot's configuration."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from postoffice_nanobot.config import BadConfig, MailboxConfig, read_config

SECTION = {
    "enabled": True,
    "agentId": "coder",
    "description": "writes code",
    "capabilities": ["code_write"],
    "allowFrom": ["researcher"],
    "maxConcurrentTasks": 2,
    "pollInterval": 1,
    "mailboxesRoot": "/tmp/mailboxes",
}
READ = MailboxConfig(
    enabled=True,
    agent_id="coder",
    description="writes code",
    capabilities=("code_write",),
    allow_from=("researcher",),
    max_concurrent_tasks=2,
    poll_interval=1.0,
    mailboxes_root="/tmp/mailboxes",
)


def test_both_spellings_are_read_and_what_is_nanobots_own_is_left_to_it() -> None:
    assert read_config({**SECTION, "sendProgress": True}) == READ
    snake = {
        "agent_id": "coder",
        "allow_from": ["researcher"],
        "max_concurrent_tasks": 2,
        "poll_interval": 1,
        "mailboxes_root": "/tmp/mailboxes",
    }
    assert read_config(snake | {"enabled": True, "description": "writes code", "capabilities": ["code_write"]}) == READ
    assert read_config(READ) is READ


def test_it_is_spelt_as_nanobot_spells_it() -> None:
    assert READ.model_dump(by_alias=True) == SECTION
    assert MailboxConfig.model_validate(SECTION) == read_config(READ.model_dump()) == READ
    assert list(MailboxConfig().model_dump()) == [
        "enabled",
        "agent_id",
        "description",
        "capabilities",
        "allow_from",
        "max_concurrent_tasks",
        "poll_interval",
        "mailboxes_root",
    ]


def test_what_the_readme_shows_can_be_read() -> None:
    (shown,) = re.findall(r"^```json\n(.*?)^```$", (Path(__file__).parent.parent / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    read = read_config(json.loads(shown)["channels"]["mailbox"])
    assert (read.enabled, read.agent_id, read.allow_from) == (True, "coder", ("researcher",))


def test_the_defaults_are_the_seeds() -> None:
    assert read_config({}) == MailboxConfig(
        enabled=False,
        agent_id="",
        description="",
        capabilities=(),
        allow_from=("*",),
        max_concurrent_tasks=3,
        poll_interval=5.0,
        mailboxes_root="~/.nanobot/mailboxes",
    )


def test_the_card_says_who_the_agent_is() -> None:
    assert READ.card() == {
        "agent_id": "coder",
        "description": "writes code",
        "capabilities": ["code_write"],
        "allow_from": ["researcher"],
        "max_concurrent_tasks": 2,
    }


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"enabled": True}, "agentId"),
        ({"enabled": "yes"}, "enabled"),
        ({"agentId": 7}, "agentId"),
        ({"allowFrom": "researcher"}, "allowFrom"),
        ({"allow_from": [1]}, "allow_from"),
        ({"maxConcurrentTasks": -1}, "maxConcurrentTasks"),
        ({"maxConcurrentTasks": True}, "maxConcurrentTasks"),
        ({"pollInterval": 0}, "pollInterval"),
        ({"pollInterval": 61}, "pollInterval"),
        ({"pollInterval": "5"}, "pollInterval"),
    ],
)
def test_what_cannot_be_is_named(wrong: dict[str, Any], why: str) -> None:
    with pytest.raises(BadConfig, match=f"channels.mailbox.{why}: "):
        read_config(wrong)

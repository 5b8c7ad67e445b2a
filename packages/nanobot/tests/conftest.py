"""A folder of mailboxes of its own, for every test."""

from dataclasses import replace
from pathlib import Path

import pytest
from packages.nanobot.tests.bots import Bot

from postoffice_files import MailboxManager
from postoffice_nanobot.box import Box
from postoffice_nanobot.config import MailboxConfig


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "mailboxes"


@pytest.fixture
def mail(root: Path) -> MailboxManager:
    """What other agents use."""
    others = MailboxManager(root)
    for name in ("coder", "researcher", "typist"):
        others.register(name)
    return others


@pytest.fixture
def config(root: Path) -> MailboxConfig:
    return MailboxConfig(enabled=True, agent_id="coder", max_concurrent_tasks=2, poll_interval=0.02, mailboxes_root=str(root))


@pytest.fixture
def box(mail: MailboxManager, config: MailboxConfig) -> Box:
    return Box(replace(config, mailboxes_root=str(mail.root)))


@pytest.fixture
def bot(mail: MailboxManager, config: MailboxConfig) -> Bot:
    return Bot(replace(config, mailboxes_root=str(mail.root)))

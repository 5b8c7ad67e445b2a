"""A process that dies in the middle, and the one that comes after it."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from packages.nanobot.tests.bots import Bot, Later, at_work, delegating, ended, names, states, until

import postoffice_nanobot
from postoffice_files import MailboxManager, task_update
from postoffice_nanobot.config import MailboxConfig


@pytest.mark.parametrize("moment", ["asked", "reported", "written down", "sent"])
async def test_killed_at_any_moment_nothing_is_lost_and_nothing_told_twice(
    mail: MailboxManager, config: MailboxConfig, root: Path, moment: str
) -> None:
    mail.send("researcher", "coder", {"type": "task", "content": "write"})
    source = str(Path(postoffice_nanobot.__file__).parent.parent)
    dying = [sys.executable, str(Path(__file__).with_name("dying.py")), str(root), moment]
    died = subprocess.run(  # noqa: ASYNC221 - there is nothing else to do meanwhile
        dying, env={"PYTHONPATH": source}, capture_output=True, text=True, timeout=60, check=False
    )
    assert died.returncode == 9, died.stderr
    bot = Bot(config, Later())
    if moment in {"written down", "sent"}:
        delegating(bot)
    async with at_work(bot):
        if moment in {"written down", "sent"}:
            (task,) = await until(lambda: mail.poll("typist"))
            mail.send("typist", "coder", task_update(task, "completed", "abc"))
        updates = await ended(mail)
        await until(lambda: not names(root, "inbox"))
        await asyncio.sleep(0.2)
    updates += mail.poll("researcher")
    assert states(updates) == ["accepted", "working", "completed"]
    assert mail.poll("typist") == []
    # One that had asked another before it died waits for that one, and does not ask again.
    assert sum("A task from" in text for _, text in bot.asked) == (moment in {"asked", "reported"})

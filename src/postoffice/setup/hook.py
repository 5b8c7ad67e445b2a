"""The hook: tells a working agent, at its next turn, that mail is waiting. Who and how many, never what."""

import asyncio
import json
import os
import re
import select
import shlex
import shutil
import sys
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from platformdirs import user_cache_path

from postoffice.client import credentials
from postoffice.client.wire import Wire
from postoffice.core.errors import MailError
from postoffice.setup.edit import Hook

_EVENTS = ("UserPromptSubmit", "Stop")
_HOOK_SECONDS = 5
_ANSWER_SECONDS = 2.0
"""Whoever waits for us is working: an office that does not answer at once is not waited for."""
_NAMES_SHOWN = 5
_MESSAGES_READ = 50
_MANNER = re.compile(r"\bpostoffice hook --as ")


def hooks(server: str, agent: str) -> list[Hook]:
    """What goes into Claude Code's settings: on a prompt the line joins it, and at the end mail not yet told of is told of once."""
    words = ["postoffice"] if shutil.which("postoffice") else [sys.executable, "-m", "postoffice"]
    command = shlex.join([*words, "hook", "--as", agent, "--server", server])
    value = {"hooks": [{"type": "command", "command": command, "timeout": _HOOK_SECONDS}]}
    return [Hook(("hooks", event), value, is_ours) for event in _EVENTS]


def is_ours(group: Any) -> bool:
    """Whether a group of hooks is the one we wrote; one that a person added to is theirs."""
    inner = group.get("hooks") if isinstance(group, dict) else None
    return isinstance(inner, list) and len(inner) == 1 and isinstance(inner[0], dict) and bool(_MANNER.search(str(inner[0].get("command"))))


def run_hook(server: str, agent: str) -> None:
    """Say what there is to say, or nothing. Never a failure: an agent's turn does not depend on us."""
    event = _event()
    line = asyncio.run(_news(server, agent, event))
    if line is not None:
        stops = event.get("hook_event_name") == "Stop"
        print(json.dumps({"decision": "block", "reason": line}) if stops else line, flush=True)  # noqa: T201 - a hook speaks by printing


async def _news(server: str, agent: str, event: dict[str, Any]) -> str | None:
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            kept = credentials.load(server, agent)
            async with Wire(server, key=kept.key if kept else None, agent=agent) as wire:
                return await _unread(wire, agent, event)
    except (MailError, TimeoutError, OSError, LookupError, TypeError):  # the last two: whoever answers there is no office
        return None


async def _unread(wire: Wire, agent: str, event: dict[str, Any]) -> str | None:
    counts = await wire.get("/mailbox")
    if not counts["pending"]:
        return None
    told = _told(wire.server, agent)
    if event.get("hook_event_name") == "Stop" and (event.get("stop_hook_active") or counts["counted"] <= _read(told)):
        return None  # once is enough: an agent that has heard of it may stop
    senders = Counter(message["from"] for message in (await wire.get("/messages/waiting", limit=_MESSAGES_READ))["messages"])
    with suppress(OSError):  # what cannot be kept is told of once more
        _write(told, counts["counted"])
    return describe(agent, counts["pending"], senders)


def describe(agent: str, waiting: int, senders: Counter[str]) -> str:
    """The line: how many, from whom, and what to do."""
    named = [name if count == 1 else f"{name} ({count})" for name, count in senders.most_common(_NAMES_SHOWN)]
    others = " and others" if len(senders) > _NAMES_SHOWN or waiting > senders.total() else ""
    return (
        f"Mail for {agent}: {waiting} waiting, from {', '.join(named) or 'nobody named'}{others}. "
        "Take it with mail_get when it suits your work; answer with mail_send or mark it with mail_done."
    )


def _event() -> dict[str, Any]:
    """What the client says of the moment. A person at a terminal says nothing, and neither does a pipe that nobody writes to."""
    text = b""
    if sys.stdin is not None and not sys.stdin.isatty():
        while select.select([sys.stdin], [], [], 0.5)[0] and (more := os.read(sys.stdin.fileno(), 1 << 16)):
            text += more
    try:
        found = json.loads(text or b"{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _told(server: str, agent: str) -> Path:
    """Where we keep how much this agent has been told of."""
    return user_cache_path("postoffice") / "told" / re.sub(r"[^A-Za-z0-9.-]", "_", urlsplit(server).netloc) / agent.lower()


def _read(told: Path) -> int:
    try:
        return int(told.read_text())
    except (OSError, ValueError):
        return 0


def _write(told: Path, counted: int) -> None:
    told.parent.mkdir(parents=True, exist_ok=True)
    told.write_text(f"{counted}\n")

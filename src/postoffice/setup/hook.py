"""The hooks that setup writes: what each client runs when a session begins, works, pauses and ends."""

import re
import shlex
import sys
from typing import Any, Final

from postoffice.bridges.bell.guard import EDITORS
from postoffice.setup.edit import Hook

_MANNER = re.compile(r"\bpostoffice hook --(as|client|server) ")
_HOOK_SECONDS, _START_SECONDS, _WAIT_SECONDS = 5, 15, 86_400
_MILLISECONDS = 1000
_IN_MILLISECONDS: Final = ("gemini", "qwen")
_USUAL: Final = ("SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "Stop", "SessionEnd")
_GEMINI: Final = ("SessionStart", "BeforeAgent", "BeforeTool", "AfterTool", "AfterAgent", "SessionEnd")
_EDITING: Final = ("PreToolUse", "BeforeTool")
_WAITING: Final = ("SessionStart", "Stop")


def program() -> list[str]:
    """The path of this program, which works in any terminal whatever its PATH is."""
    return [sys.executable, "-m", "postoffice"]


def hooks(client: str, server: str, agent: str | None, *, shared: bool = False, tmux: bool = False) -> list[Hook]:
    """The hooks for a client's settings."""
    words = [*program(), "hook", "--client", client, "--server", server]
    words += (["--as", agent] if agent else []) + (["--shared"] if shared else []) + (["--tmux"] if tmux else [])
    return [Hook(("hooks", event), group, is_ours) for event, group in hook_groups(client, shlex.join(words)).items()]


def hook_groups(client: str, command: str) -> dict[str, dict[str, Any]]:
    """The groups of hooks by event, with this command as our hook."""
    only: dict[str, dict[str, str]] = {event: {"matcher": EDITORS[client]} for event in _EDITING if client in EDITORS}
    events = [event for event in (_GEMINI if client == "gemini" else _USUAL) if event in only or event not in _EDITING]
    return {event: {**only.get(event, {}), "hooks": _group(client, event, command)} for event in events}


def is_ours(group: Any) -> bool:
    """Whether we wrote a group of hooks. A group that a person added to is theirs."""
    inner = group.get("hooks") if isinstance(group, dict) else None
    if not isinstance(inner, list) or not inner:
        return False
    return all(isinstance(one, dict) and bool(_MANNER.search(str(one.get("command")))) for one in inner)


def _group(client: str, event: str, command: str) -> list[dict[str, Any]]:
    seconds = _START_SECONDS if event == "SessionStart" else _HOOK_SECONDS
    ours: dict[str, Any] = {"type": "command", "command": command}
    ours["timeout"] = seconds * _MILLISECONDS if client in _IN_MILLISECONDS else seconds
    if client != "claude":
        return [ours]
    if event == "UserPromptSubmit":
        ours["async"] = True  # the turn does not wait for this hook, and its output joins the turn when it comes
    if event not in _WAITING:
        return [ours]
    # One hook waits until mail comes and wakes the window. It is needed if the inbox is closed, and it keeps a bell running.
    return [ours, {"type": "command", "command": f"{command} --wait", "timeout": _WAIT_SECONDS, "asyncRewake": True}]

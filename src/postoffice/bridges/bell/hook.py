"""The hook: it passes a client's session events to the bell, and prints the bell's answer for the agent."""

import json
import os
import sys
import threading
from contextlib import suppress
from typing import Any, Final

import msgspec

from postoffice.bridges.bell import call, words
from postoffice.bridges.bell.guard import guard
from postoffice.bridges.bell.pane import pane_of
from postoffice.bridges.bell.place import CLAUDE, CODEX, GEMINI, QWEN, QWEN_INBOX, folder
from postoffice.bridges.bell.terminal import terminal
from postoffice.client.lock import private, took
from postoffice.client.process import Process, client_process, process

_EVENTS: Final = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "BeforeAgent": "prompt",
    "PreToolUse": "edit",
    "BeforeTool": "edit",
    "PostToolUse": "tool",
    "AfterTool": "tool",
    "Stop": "stop",
    "AfterAgent": "stop",
    "SessionEnd": "end",
}
_HOMES: Final = {CLAUDE: "CLAUDE_CONFIG_DIR", CODEX: "CODEX_HOME", QWEN: "QWEN_HOME"}
_ENTRYPOINT, _FOR_ONE_PROMPT = "CLAUDE_CODE_ENTRYPOINT", "sdk"
"""The variable that says how Claude Code was started. For a single prompt (`claude -p`) its value begins with `sdk`."""
_PASSING: Final = ("clear", "resume")
"""Reasons for which a session ends and another begins in the same window."""
_START_SECONDS, _ANSWER_SECONDS = 8.0, 2.0
"""The client stands still while the hook runs, so we wait for the bell only this long."""
_INPUT_SECONDS = 1.0
_SPARE_SECONDS = 0.5
"""Added to the wait, this still ends before the client would kill the hook."""
_READ_BYTES = 1 << 16
_WAKE_EXIT = 2
"""The exit code with which a waiting hook makes Claude Code begin a turn."""


class Wish(msgspec.Struct, frozen=True, kw_only=True):
    """What `setup` wrote down: which client, which office, and the name a person chose."""

    client: str
    server: str
    agent: str | None = None
    shared: bool = False
    tmux: bool = False
    """Whether rings may be typed into its tmux pane if nothing else wakes it."""


def run_hook(wish: Wish) -> int:
    """Print what the agent is to be told, if anything. A hook never fails, as a turn must not depend on us; only a reserved file stops an edit."""
    payload = _told()
    event = _EVENTS.get(str(payload.get("hook_event_name")))
    seconds = _START_SECONDS if event == "start" else _ANSWER_SECONDS
    _end_within(seconds + _SPARE_SECONDS)
    if event == "prompt" and wish.client == QWEN and not payload.get("prompt"):
        return 0  # it reports this after each tool call too, and we have told it already
    caller = _said(wish, payload)
    if event is None or caller is None or (event == "end" and payload.get("reason") in _PASSING):
        return 0
    if event == "edit":
        return guard(caller, payload, seconds)
    event_call = {
        **caller,
        "say": "hook",
        "event": event,
        "again": bool(payload.get("stop_hook_active")),
        "ring": words.MARK in str(payload.get("prompt", "")),
    }
    answer = call.ask(event_call, seconds)
    if text := answer.get("text"):
        print(json.dumps(_printed(wish.client, str(payload["hook_event_name"]), event, str(text))), flush=True)  # noqa: T201 - a hook speaks by printing
    return 0


def wait(wish: Wish) -> int:
    """Wait until mail comes, then wake the client. A session has one waiter; if the bell fails, start it again."""
    if os.environ.get(_ENTRYPOINT, "").startswith(_FOR_ONE_PROMPT):
        return 0  # it would run for as long as we do
    caller = _said(wish, _told())
    if caller is None:
        return 0
    at = Process(**caller["process"])
    with open(folder() / f"waiter-{at.pid}.lock", "wb", opener=private) as lock:
        if not took(lock):
            return 0
        while at.alive:
            for heard in call.hear({**caller, "say": "wait"}, _START_SECONDS):
                if wake := heard.get("wake"):
                    print(wake, file=sys.stderr, flush=True)  # noqa: T201 - the client reads this stream
                    return _WAKE_EXIT
                if heard.get("bye"):
                    return 0
            threading.Event().wait(_ANSWER_SECONDS)
    return 0


def _said(wish: Wish, payload: dict[str, Any]) -> dict[str, Any] | None:
    """Which session calls, and from where."""
    session, place = payload.get("session_id"), str(payload.get("cwd") or os.getcwd())  # noqa: PTH109 - the same spelling as the client's
    at = _process(wish.client, str(session or ""), place)
    if at is None:
        return None
    home = os.environ.get(_HOMES.get(wish.client, ""), "").strip()
    inbox = [os.environ.get(name) for name in QWEN_INBOX] if wish.client == QWEN else []
    return {
        "client": wish.client,
        "process": msgspec.to_builtins(at),
        "session": session,
        "folder": place,
        "server": wish.server,
        "agent": wish.agent,
        "shared": wish.shared,
        "mode": payload.get("permission_mode"),
        "home": home or None,
        "pane": msgspec.to_builtins(pane_of(at.pid)) if wish.tmux else None,
        "inbox": inbox if all(inbox) else None,
    }


def _process(client: str, session: str, place: str) -> Process | None:
    """The window's own process."""
    if client == CODEX and (session_process := terminal(session, place)) is not None:
        return session_process
    named = os.environ.get("CLAUDE_PID", "") if client == CLAUDE else ""
    return process(int(named)) if named.isdecimal() else client_process()


def _printed(client: str, name: str, event: str, text: str) -> dict[str, Any]:
    """The answer in the form that the client reads."""
    if event == "stop":
        return {"decision": "deny" if client == GEMINI else "block", "reason": text}
    return {"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}}


def _told() -> dict[str, Any]:
    """The event that the client reports; nothing at a terminal, or from a pipe that nobody writes to."""
    if sys.stdin is None or sys.stdin.isatty():
        return {}
    read: list[bytes] = []
    reader = threading.Thread(target=_read, args=(sys.stdin.fileno(), read), daemon=True)
    reader.start()
    reader.join(_INPUT_SECONDS)
    with suppress(ValueError):
        payload = json.loads(b"".join(read) or b"{}")
        return payload if isinstance(payload, dict) else {}
    return {}


def _read(source: int, read: list[bytes]) -> None:
    """Read past Python's buffer: a thread still waiting in it makes the interpreter fail at exit."""
    with suppress(OSError):
        while more := os.read(source, _READ_BYTES):
            read.append(more)


def _end_within(seconds: float) -> None:
    """End this process in time, whatever it is waiting for: the turn must go on."""
    watch = threading.Timer(seconds, os._exit, (0,))
    watch.daemon = True
    watch.start()

"""Refuses an edit that a client is about to make if another agent has reserved the file."""

import json
import re
import sys
from contextlib import suppress
from typing import Any, Final

from postoffice.bridges.bell import call, words
from postoffice.bridges.bell.place import CODEX, GEMINI, folder
from postoffice.client.project import places_of

EDITORS: Final = {"claude": "Edit|Write|MultiEdit|NotebookEdit", "codex": "apply_patch", "gemini": "write_file|replace"}
"""The tools that edit files, by client. We do not see what a shell command writes."""
_NAMED = ("file_path", "notebook_path")
_PATCHED = re.compile(r"^\*\*\* (?:(?:Add|Update|Delete) File|Move to): (.+?)\s*$", re.MULTILINE)
_REFUSED_EXIT = 2
"""The exit code that tells Codex not to run the tool."""


def guard(asked: dict[str, Any], told: dict[str, Any], seconds: float) -> int:
    """Refuse the edit, or print nothing. If the office cannot be asked, the edit goes on and the agent is told so once."""
    places = {place for file in files_of(told) for place in places_of(file, asked["folder"])}
    if not places:
        return 0
    mark = folder() / f"unguarded-{asked['process']['pid']}"
    answer = call.ask({**asked, "say": "hook", "event": "edit", "files": sorted(places)}, seconds)
    if "reserved_until" not in answer:
        with suppress(FileExistsError):
            mark.touch(exist_ok=False)
            _say({"systemMessage": words.UNGUARDED})
        return 0
    mark.unlink(missing_ok=True)
    until = answer["reserved_until"]
    return 0 if until is None else _refuse(asked["client"], str(told["hook_event_name"]), words.reserved(until))


def files_of(told: dict[str, Any]) -> list[str]:
    """The files a tool is about to write."""
    arguments = told.get("tool_input")
    if not isinstance(arguments, dict):
        return []
    named = [path for key in _NAMED if isinstance(path := arguments.get(key), str)]
    return named + [path for text in arguments.values() if isinstance(text, str) for path in _PATCHED.findall(text)]


def _refuse(client: str, event: str, why: str) -> int:
    """Each client understands only its own form of a refusal."""
    if client == CODEX:
        print(why, file=sys.stderr, flush=True)  # noqa: T201 - a hook speaks by printing
        return _REFUSED_EXIT
    if client == GEMINI:
        _say({"decision": "block", "reason": why})
    else:
        _say({"hookSpecificOutput": {"hookEventName": event, "permissionDecision": "deny", "permissionDecisionReason": why}})
    return 0


def _say(said: dict[str, Any]) -> None:
    print(json.dumps(said), flush=True)  # noqa: T201 - as above

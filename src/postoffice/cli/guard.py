"""The guard of a git repository: it refuses a commit of files that another agent has reserved, whatever edited them."""

import asyncio
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

from postoffice.cli.caller import asking
from postoffice.cli.command import Options, add_caller, examples
from postoffice.core.errors import BadSetting, Conflict, MailError

_SIGN = "# postoffice guard: refuses a commit of files that another agent has reserved. `postoffice guard --undo` removes it."
_FILES_AT_ONCE = 500
_ASK_SECONDS = 5
_REFUSED_EXIT = 1
_EXECUTABLE = 0o755


def add(commands: Any) -> None:
    """Add guard."""
    import argparse  # noqa: PLC0415 - the caller has loaded it already

    guarding = commands.add_parser(
        "guard",
        help="refuse git commits of files that another agent has reserved",
        description="Refuse a commit of files that another agent has reserved. Once installed, git runs this before each commit. "
        "If no office answers, the commit goes on with a warning.",
        epilog=examples("postoffice guard --install", "postoffice guard --undo"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    guarding.add_argument("--install", action="store_true", help="make git run it before each commit in this repository and its worktrees")
    guarding.add_argument("--undo", action="store_true", help="no longer")
    add_caller(guarding)
    guarding.set_defaults(command=_guard)


def _guard(options: Options) -> int:
    if options["install"] or options["undo"]:
        print(_install() if options["install"] else _undo())
        return 0
    staged = [name for name in _git("diff", "--cached", "--name-only", "--no-renames", "-z").split("\0") if name]
    try:
        reserved = asyncio.run(_reserved(staged, options)) if staged else []
    except (MailError, TimeoutError) as error:
        print(f"postoffice: no office can say whether these files are reserved ({error}); the commit goes on.", file=sys.stderr)
        return 0
    for name in reserved:
        print(f"postoffice: {name} is reserved by another agent.", file=sys.stderr)
    if reserved:
        print(
            "`postoffice reservations` shows by whom, until when and why. Leave these files out of this commit until then.", file=sys.stderr
        )
    return _REFUSED_EXIT if reserved else 0


async def _reserved(staged: list[str], options: Options) -> list[str]:
    """Which of these files others have reserved."""
    from postoffice.client.project import places_of  # noqa: PLC0415 - help does without
    from postoffice.core.globs import path_of  # noqa: PLC0415
    from postoffice.core.reservation import Claim  # noqa: PLC0415

    root = _git("rev-parse", "--show-toplevel").strip()
    places = {name: places_of(name, root) for name in staged}
    files = [{"project": project, "path": path} for name in staged for project, path in sorted(places[name])]
    claims = []
    async with asyncio.timeout(_ASK_SECONDS), asking(options | {"in_window": True}) as wire:
        for begin in range(0, len(files), _FILES_AT_ONCE):
            answer = await wire.post("/reservations/check", {"files": files[begin : begin + _FILES_AT_ONCE]})
            claims += [Claim(project=one["project"], paths=tuple(one["paths"])) for one in answer["reservations"]]
    return [
        name for name in staged if any(claim.covers(project, path_of(path, project)) for claim in claims for project, path in places[name])
    ]


def _install() -> str:
    path = _hook_path()
    if path.exists():
        if _SIGN not in path.read_text():
            raise Conflict(why=f"there is a hook at {path} already; add this line to it: {_command()}")
        return f"Nothing to change: {path} is there already."
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{_SIGN}\nexec {_command()}\n")
    path.chmod(_EXECUTABLE)
    return f"Wrote {path}. A commit with --no-verify is not checked."


def _undo() -> str:
    path = _hook_path()
    if not path.exists() or _SIGN not in path.read_text():
        return "Nothing to take back."
    path.unlink()
    return f"Removed {path}."


def _hook_path() -> Path:
    return Path(_git("rev-parse", "--path-format=absolute", "--git-path", "hooks").strip()) / "pre-commit"


def _command() -> str:
    return shlex.join([sys.executable, "-m", "postoffice", "guard"])


def _git(*words: str) -> str:
    try:
        return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout  # noqa: S603, S607 - words of our own
    except FileNotFoundError:
        raise BadSetting(name="guard", why="git is not installed here") from None
    except subprocess.CalledProcessError as error:
        raise BadSetting(name="guard", why=error.stderr.strip().removeprefix("fatal: ") or "git refused") from None

"""Tmux: types a ring into the pane that shows a client. It is the last way, and used only if a person switched it on."""

import asyncio
import os
import re
import shutil
import stat
import time
from contextlib import suppress
from pathlib import Path

from postoffice.bridges.bell.pane import Pane
from postoffice.client.process import Process, is_below

_ANSWER_SECONDS = 2.0
_SHOWN_SECONDS = 2.0
"""Within this time a client shows what was typed, and takes what was entered."""
_LOOK_SECONDS = 0.1
_BEFORE_ENTER_SECONDS = 0.4
"""Clients take keys that come all at once for a paste, and drop an Enter that comes with them."""
_AT_THE_KEYS_SECONDS = 30.0
"""If a key was pressed within this time, a person sits there."""
_MOST_LINES = 6
_PROMPT = re.compile(r"^[\s│┃|╎]*[>❯›»$#%*▌]+")  # noqa: RUF001 - the marks that clients show before the input
_EDGE = re.compile(r"[\s│┃|╎]+")


async def is_open(pane: Pane, client: Process) -> bool:
    """Whether this user's tmux shows the client in that pane and accepts keys for it."""
    if not _is_ours(Path(pane.socket)):
        return False
    facts = (await _ask(pane, "display-message", "-p", "-t", pane.pane, "#{pane_dead} #{pane_in_mode} #{pane_pid}") or "").split()
    return facts[:2] == ["0", "0"] and client.alive and is_below(client.pid, int(facts[2]))


def _is_ours(socket: Path) -> bool:
    with suppress(OSError):
        status = socket.lstat()
        return stat.S_ISSOCK(status.st_mode) and status.st_uid == os.getuid()
    return False


async def ring(pane: Pane, client: Process, text: str) -> bool:
    """Type the ring, and press Enter once the prompt holds exactly that. Anything else in the prompt is left alone."""
    if not await is_open(pane, client) or await _somebody_types(pane):
        return False
    if await _ask(pane, "send-keys", "-t", pane.pane, "-l", "--", text) is None:
        return False
    if await _comes_true(pane, text, holds=True):
        for _ in range(2):  # a client may swallow the first
            await asyncio.sleep(_BEFORE_ENTER_SECONDS)
            await _ask(pane, "send-keys", "-t", pane.pane, "Enter")
            if await _comes_true(pane, text, holds=False):
                return True
    await _ask(pane, "send-keys", "-t", pane.pane, "-N", str(len(text)), "BSpace")
    return False


async def _somebody_types(pane: Pane) -> bool:
    activity = await _ask(pane, "list-clients", "-F", "#{client_activity}")
    now = time.time()
    return activity is None or any(now - float(at) < _AT_THE_KEYS_SECONDS for at in activity.split())


async def _comes_true(pane: Pane, text: str, *, holds: bool) -> bool:
    until = time.monotonic() + _SHOWN_SECONDS
    while time.monotonic() < until:
        shown = await _ask(pane, "capture-pane", "-p", "-t", pane.pane)
        if shown is not None and is_typed(shown, text) is holds:
            return True
        await asyncio.sleep(_LOOK_SECONDS)
    return False


def is_typed(shown: str, text: str) -> bool:
    """Whether the last prompt on the screen holds exactly this text."""
    wanted = _EDGE.sub("", text)
    lines = shown.splitlines()
    prompt = max((at for at, line in enumerate(lines) if _PROMPT.match(line)), default=None)
    if prompt is None:
        return False
    held = _EDGE.sub("", _PROMPT.sub("", lines[prompt]))
    for line in lines[prompt + 1 : prompt + _MOST_LINES]:
        if held == wanted or not held:
            break
        held += _EDGE.sub("", line)
    return held == wanted


async def _ask(pane: Pane, *words: str) -> str | None:
    """Tmux's output; None if it refuses."""
    program = shutil.which("tmux")
    if program is None:
        return None
    child = await asyncio.create_subprocess_exec(
        *(program, "-S", pane.socket, *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        async with asyncio.timeout(_ANSWER_SECONDS):
            output, _ = await child.communicate()
    except TimeoutError:
        child.kill()
        await child.wait()
        return None
    return output.decode(errors="replace") if child.returncode == 0 else None

"""What `postoffice` alone shows: whether an office is open here, who you are, and what to do next."""

import asyncio
import os
from typing import Any

from postoffice import __version__
from postoffice.cli.command import Options
from postoffice.core.errors import MailError

_LOOK_SECONDS = 2.0
_STEPS = (
    ("inbox", "read your mail"),
    ("send --to NAME 'Hello'", "write to somebody"),
    ("setup claude", "connect Claude Code (codex, gemini and others, too)"),
    ("run NAME --with claude", "let an agent answer its mail"),
    ("open", "the page, in your browser"),
    ("doctor", "find out what is wrong"),
    ("--help", "every command"),
)


def begin(options: Options) -> None:
    """Show where to begin."""
    from postoffice.serve.program import program  # noqa: PLC0415 - not needed for the other commands

    server, state = asyncio.run(_look(options))
    print(f"Postoffice {__version__}: durable mail between AI agents.\n\n{state}\n")
    steps = _STEPS if server else (("serve", "open the office on this machine, and leave it running"), *_STEPS)
    name = os.path.basename(program())  # noqa: PTH119 - only the name, not a file
    width = max(len(step) for step, _ in steps)
    for step, result in steps:
        print(f"  {name} {step:<{width}}  {result}")


async def _look(options: Options) -> tuple[bool, str]:
    """Whether an office answers, and who the caller is to it."""
    from postoffice.cli.caller import open_wire, server_of, speaker  # noqa: PLC0415

    server = server_of(options)
    try:
        async with asyncio.timeout(_LOOK_SECONDS), open_wire(options) as wire:
            await wire.get("/health")
            try:
                me: Any = await wire.get("/agents/me")
                counts = await wire.get("/mailbox")
            except MailError:
                return True, f"The office at {server} is open; it does not know you yet. Take a name: postoffice register NAME"
    except (MailError, TimeoutError):
        return False, f"No office answers at {server}."
    waiting = counts.get("unread", counts["pending"])
    mail = "nothing waits for you" if not waiting else f"{waiting} unread {'letter waits' if waiting == 1 else 'letters wait'} for you"
    return True, f"The office at {server} is open. You are {me['name']}, {speaker(options).why}; {mail}."

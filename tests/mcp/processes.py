"""The mailbox as a process that an agent starts: MCP over standard input and output, by a real client."""

import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from postoffice.core.tools import STDIO
from tests.doors.served import Served
from tests.warm import start

MODULE = (sys.executable, "-m", "mailbox_mcp")
COMMAND = (sys.executable, "-m", "postoffice", "mcp")


@asynccontextmanager
async def started(
    server: Served | str,
    *arguments: str,
    command: Sequence[str] = MODULE,
    key: str | None = None,
    era: str = "legacy",
    extra: Mapping[str, str] | None = None,
    model: bool = False,
) -> AsyncIterator[Client]:
    """The process, speaking for whoever the key belongs to, to a program unless told that a model reads what it gets."""
    address = server if isinstance(server, str) else server.url
    here = {name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ}  # the source under test, wherever it is
    env = {"MAILBOX_SERVER_URL": address, **here, **(extra or {})} | ({} if key is None else {"MAILBOX_API_KEY": key})
    words = ("mcp", "--tools", STDIO) if command == MODULE else ("mcp",)
    program, *rest = start.beside("mcp", *words)  # which of its streams is what, and how it starts anew, is shown by others in test_stdio
    parameters = StdioServerParameters(command=program, args=[*rest, *arguments, *(() if model else ("--structured",))], env=env)
    async with Client(stdio_client(parameters), mode=era) as opened:
        yield opened

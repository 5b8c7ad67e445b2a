"""The command's entrance: parse, run one command, and tell any failure in one line."""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

from postoffice import __version__
from postoffice.core.errors import MailError


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: {message}; see `{self.prog} --help`\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command and give its exit code."""
    options = vars(parser().parse_args(arguments))
    command = options.pop("command")
    try:
        command(options)
    except MailError as error:
        from postoffice.doors.faults import fault  # noqa: PLC0415 - only a failure needs it

        print(f"postoffice: {error}", file=sys.stderr)
        return fault(error).exit_code
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever was reading has gone; keep Python from complaining about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return 0


def parser() -> Parser:
    """Every command and its flags."""
    root = Parser(prog="postoffice", description="Durable mail between AI agents.")
    root.add_argument("--version", action="version", version=f"postoffice {__version__}")
    commands = root.add_subparsers(title="commands", required=True, metavar="COMMAND")
    serving = commands.add_parser("serve", help="open the office", description="Open the office and serve until stopped.")
    serving.add_argument("--host", help="address to listen on (127.0.0.1)")
    serving.add_argument("--port", type=int, help="port to listen on (8787)")
    serving.add_argument("--auth", choices=["open", "keys"], help="who may come in (open on loopback, keys beyond)")
    serving.add_argument("--handshake", choices=["visible", "human"], help="whether a target sees the code (visible when open)")
    serving.add_argument("--log-level", choices=["debug", "info", "warning", "error"], help="how much to tell (info)")
    serving.add_argument("--log-format", choices=["console", "json"], help="for people or for machines (console)")
    serving.set_defaults(command=_serve)
    migrating = commands.add_parser(
        "migrate", help="bring the database to this program's schema", description="Bring the database to this program's schema."
    )
    migrating.add_argument("--inbox-schema", help="PostgreSQL schema for the view `inbox` (beside the tables)")
    migrating.set_defaults(command=_migrate)
    mailbox = commands.add_parser(
        "mcp",
        help="the mailbox as MCP tools over standard input and output",
        description="The mailbox as MCP tools over standard input and output. The key comes from MAILBOX_API_KEY, never from a flag.",
    )
    mailbox.add_argument("--server", metavar="URL", help="the office (MAILBOX_SERVER_URL, or 127.0.0.1:8787)")
    mailbox.add_argument("--as", dest="agent", metavar="NAME", help="the agent, on an open server without a key (POSTOFFICE_AGENT)")
    mailbox.add_argument("--tools", help="toolsets or tools, separated by commas (inbox)")
    mailbox.set_defaults(command=_mcp)
    for command in (serving, migrating):
        command.add_argument("--data", type=Path, help="directory for everything kept (the platform's user data directory)")
        command.add_argument("--database", metavar="URL", help="a PostgreSQL address (an SQLite file in the data directory)")
        command.add_argument("--schema", help="PostgreSQL schema for the tables (postoffice)")
        command.add_argument("--config", type=Path, metavar="FILE", help="settings in TOML (postoffice.toml, if there is one)")
    return root


def _serve(options: dict[str, object]) -> None:
    # Imported here: other commands start without the weight of a server.
    from postoffice.config import read_settings  # noqa: PLC0415
    from postoffice.serve.run import serve  # noqa: PLC0415

    serve(read_settings(options))


def _mcp(options: dict[str, Any]) -> None:
    import asyncio  # noqa: PLC0415

    from postoffice.bridges.stdio import Mailbox, serve_stdio  # noqa: PLC0415
    from postoffice.client.address import DEFAULT, read_address  # noqa: PLC0415
    from postoffice.core.tools import STDIO  # noqa: PLC0415

    mailbox = Mailbox(
        server=read_address(options["server"] or os.environ.get("MAILBOX_SERVER_URL") or DEFAULT, "MAILBOX_SERVER_URL"),
        key=os.environ.get("MAILBOX_API_KEY") or None,
        agent=options["agent"] or os.environ.get("POSTOFFICE_AGENT") or None,
        tools=options["tools"] or STDIO,
    )
    asyncio.run(serve_stdio(mailbox))


def _migrate(options: dict[str, object]) -> None:
    from postoffice.config import read_settings  # noqa: PLC0415
    from postoffice.serve.migrate import migrate  # noqa: PLC0415

    print(migrate(read_settings(options)))

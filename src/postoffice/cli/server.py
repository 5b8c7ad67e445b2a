"""Commands for people who run a server: serve, close, migrate."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from postoffice.cli.caller import server_of
from postoffice.cli.command import Options, examples
from postoffice.core.fence import one_line

if TYPE_CHECKING:
    from postoffice.config import Settings


def add(commands: Any) -> None:
    """Add the server's own commands."""
    import argparse  # noqa: PLC0415

    plain = argparse.RawDescriptionHelpFormatter
    serving = commands.add_parser(
        "serve",
        help="open the office",
        description="Open the office and serve until stopped.",
        epilog=examples("postoffice serve", "postoffice serve --host 0.0.0.0 --auth keys --database postgresql://db/mail"),
        formatter_class=plain,
    )
    serving.add_argument("--host", help="address to listen on (127.0.0.1)")
    serving.add_argument("--port", type=int, help="port to listen on (8787)")
    serving.add_argument("--attachments", metavar="WHERE", help="a folder, or s3://, gs:// or az:// (beside the mail)")
    serving.add_argument("--wake", metavar="URL", help="a NATS address for hints between replicas (PostgreSQL's own)")
    serving.add_argument("--auth", choices=["open", "keys"], help="who may come in (open on loopback, keys beyond)")
    serving.add_argument(
        "--open-to-others",
        action="store_true",
        default=None,
        help="open also to allowed_hosts and cors_origins; all callers are then the owner",
    )
    serving.add_argument("--handshake", choices=["visible", "human"], help="who sees a connection's code (visible on an open office)")
    serving.add_argument(
        "--files", type=Path, metavar="ROOT", help="serve the file mailboxes in this folder too, such as ~/.nanobot/mailboxes"
    )
    serving.add_argument("--file-agents", metavar="NAMES", help="with --auth keys: the agents, by commas, that may be at home in the files")
    serving.add_argument("--ledger", metavar="NETWORK", help="send mail over a ledger: testnet, mainnet, previewnet, or host:port=0.0.3")
    serving.add_argument("--ledger-mirror", metavar="URL", help="its mirror's REST API (the network's own)")
    serving.add_argument("--ledger-account", metavar="ID", help="the account that pays")
    serving.add_argument("--ledger-key-file", type=Path, metavar="FILE", help="the account's key (or POSTOFFICE_LEDGER_KEY)")
    serving.add_argument("--traces", metavar="URL", help="an OTLP collector for a trace of every message, such as http://127.0.0.1:4318")
    serving.add_argument("--log-level", choices=["debug", "info", "warning", "error"], help="how much to log (info)")
    serving.add_argument("--log-format", choices=["console", "json"], help="for people or for machines (console)")
    serving.add_argument("--by-itself", action="store_true", help=argparse.SUPPRESS)  # a program starts it, and no person
    serving.set_defaults(command=_serve)
    closing = commands.add_parser(
        "close",
        help="close the office that a program of this machine has started",
        description="Close the office that a program of this machine has started. Mail stays; the next program that needs the office opens it again.",
        epilog=examples("postoffice close"),
        formatter_class=plain,
    )
    closing.add_argument("--server", metavar="URL", help="where it is open (POSTOFFICE_SERVER, or http://127.0.0.1:8787)")
    closing.set_defaults(command=_close)
    migrating = commands.add_parser(
        "migrate",
        help="bring the database to this program's schema",
        description="Bring the database to this program's schema. Safe to run from several places at once.",
        epilog=examples("postoffice migrate --database postgresql://db/mail"),
        formatter_class=plain,
    )
    migrating.add_argument("--inbox-schema", help="PostgreSQL schema for the view `inbox` (beside the tables)")
    migrating.set_defaults(command=_migrate)
    for command in (serving, migrating):
        add_store(command)
        command.add_argument("--schema", help="PostgreSQL schema for the tables (postoffice)")


def add_store(parser: Any) -> None:
    """Add the options for where mail is kept."""
    parser.add_argument("--data", type=Path, help="directory for everything kept (the platform's user data directory)")
    parser.add_argument("--database", metavar="URL", help="a PostgreSQL address (an SQLite file in the data directory)")
    parser.add_argument("--config", type=Path, metavar="FILE", help="settings in TOML (postoffice.toml, if there is one)")


def _serve(options: Options) -> None:
    # Imported here, so that other commands start without loading a server.
    from postoffice.config import read_settings  # noqa: PLC0415
    from postoffice.serve.run import serve  # noqa: PLC0415

    itself = options.pop("by_itself")
    serve(read_settings(options), itself=itself)


def _close(options: Options) -> None:
    import asyncio  # noqa: PLC0415

    from postoffice.client import starter  # noqa: PLC0415

    server = server_of(options)
    print(
        f"Postoffice on {server} is closed."
        if asyncio.run(starter.close(server))
        else f"No office that a program of this machine started is open on {server}."
    )


def _migrate(options: Options) -> None:
    from postoffice.serve.migrate import migrate  # noqa: PLC0415

    print(migrate(settings_of(options)))


def settings_of(options: Options) -> "Settings":
    """The settings of a command without a log. It warns of mistyped variables, as they may have named other mail."""
    from postoffice.config import read_settings  # noqa: PLC0415

    settings = read_settings(options)
    for slip in settings.slips:
        print(f"postoffice: {one_line(slip)}", file=sys.stderr)
    return settings

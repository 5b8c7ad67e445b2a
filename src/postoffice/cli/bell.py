"""Commands around the bell: the bell itself, the hooks that clients run, and quiet hours."""

import argparse
import os
import sys
from datetime import UTC, datetime
from typing import Any

from postoffice.cli.command import CLIENTS, Options, examples
from postoffice.core.errors import MailError

_CLIENTS = ("claude", "codex", "gemini", "qwen")


def add(commands: Any) -> None:
    """Add bell, hook and quiet."""
    plain = argparse.RawDescriptionHelpFormatter
    ringing = commands.add_parser(
        "bell",
        help="ring open windows when mail comes; it starts and ends by itself",
        description="Tell the office which windows are open on this machine, and ring them when mail comes. Hooks start it; it ends a minute after the last window.",
        epilog=examples("postoffice bell"),
        formatter_class=plain,
    )
    ringing.set_defaults(command=_bell)
    telling = commands.add_parser(
        "hook",
        help="run by a client's hooks: reports the session to the bell, and mail to the agent",
        description="Run by a client's hooks, with the event on standard input. Prints for the agent that mail waits, never what it says.",
        epilog=examples("postoffice hook --client claude", "postoffice hook --client codex --as coder"),
        formatter_class=plain,
    )
    _add_hook_options(telling)
    telling.set_defaults(command=_hook)
    quieting = commands.add_parser(
        "quiet",
        help="do not ring an agent's windows for a while, or at certain hours",
        description="Do not ring an agent's windows for a while. Mail waits meanwhile, and the next turn is told of it. Without options, shows what is set.",
        epilog=examples("postoffice quiet coder --for 1h", "postoffice quiet coder --hours 22:00-07:00", "postoffice quiet coder --off"),
        formatter_class=plain,
    )
    quieting.add_argument("name", nargs="?", metavar="AGENT", help="whose windows (everybody's)")
    quieting.add_argument("--for", dest="span", metavar="TIME", help="how long: 30m, 1h, 2d")
    quieting.add_argument("--hours", metavar="FROM-TO", help="each day between these, as 22:00-07:00")
    quieting.add_argument("--off", action="store_true", help="no longer")
    quieting.set_defaults(command=_quiet)


def run_hook() -> int:
    """Run `postoffice hook` without loading the rest of the command."""
    parser = argparse.ArgumentParser(prog="postoffice hook")
    _add_hook_options(parser)
    try:
        return _hook(vars(parser.parse_args(sys.argv[2:])))
    except (MailError, OSError) as error:  # a turn must not fail because of us
        print(f"postoffice: {error}", file=sys.stderr)
        return 0


def _add_hook_options(telling: argparse.ArgumentParser) -> None:
    telling.add_argument("--client", choices=_CLIENTS, default="claude", help="who runs it (claude)")
    telling.add_argument("--as", dest="agent", metavar="AGENT", help="a name of your choice for the window (its folder's)")
    telling.add_argument("--shared", action="store_true", help="let several windows serve that one mailbox")
    telling.add_argument("--tmux", action="store_true", help="type rings into its tmux pane if nothing else wakes it")
    telling.add_argument("--server", metavar="URL", help="the office (POSTOFFICE_SERVER, or http://127.0.0.1:8787)")
    telling.add_argument("--wait", action="store_true", help="stay until mail comes, and wake the client by the exit code")


def _bell(_: Options) -> int:
    import asyncio  # noqa: PLC0415 - not needed for help

    from postoffice.bridges.bell.calls import keep_bell  # noqa: PLC0415
    from postoffice.serve.logs import set_up_logs  # noqa: PLC0415

    set_up_logs("info", "console")
    if not asyncio.run(keep_bell()):
        print("A bell is running already.")
    return 0


def _hook(options: Options) -> int:
    from postoffice.bridges.bell.hook import Wish, run_hook, wait  # noqa: PLC0415
    from postoffice.client.address import DEFAULT, read_address  # noqa: PLC0415
    from postoffice.core.names import check_name  # noqa: PLC0415

    agent = options["agent"] or os.environ.get("POSTOFFICE_AGENT")
    server = read_address(options["server"] or os.environ.get("POSTOFFICE_SERVER") or DEFAULT, "POSTOFFICE_SERVER")
    wish = Wish(
        client=CLIENTS[options["client"]],
        server=server,
        agent=check_name(agent) if agent else None,
        shared=options["shared"],
        tmux=options["tmux"],
    )
    if options["wait"]:
        return wait(wish)
    return run_hook(wish)


def _quiet(options: Options) -> None:
    from postoffice.bridges.bell.quiet import Quiet, keep, kept  # noqa: PLC0415
    from postoffice.cli.dates import span_of  # noqa: PLC0415
    from postoffice.core.names import check_name  # noqa: PLC0415
    from postoffice.core.quiet import read_hours  # noqa: PLC0415

    agent = check_name(options["name"]) if options["name"] else ""
    if options["off"]:
        keep(agent, None)
    elif options["span"] or options["hours"]:
        until = datetime.now(UTC) + span_of(options["span"], "--for") if options["span"] else None
        begins, ends = read_hours(options["hours"]) if options["hours"] else (None, None)
        keep(agent, Quiet(until=until, from_hour=begins, to_hour=ends))
    for name, quiet in kept().items():
        print(f"{name or 'everybody'}: {_told(quiet)}")
    if not kept():
        print("Nobody is left alone.")


def _told(quiet: Any) -> str:
    parts = [f"until {quiet.until.astimezone():%a %H:%M}"] if quiet.until else []
    return ", ".join(parts + ([f"{quiet.from_hour:%H:%M} to {quiet.to_hour:%H:%M} each day"] if quiet.from_hour else []))

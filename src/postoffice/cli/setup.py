"""`postoffice setup`: shows a change to another program's files, asks, makes it, and tries it."""

import argparse
import asyncio
import os
import sys
from collections.abc import Sequence
from typing import Any

from postoffice.cli.question import agreed, on_terminal, somebody_there
from postoffice.core.errors import Invalid

_CLIENTS = ("claude", "codex", "gemini", "opencode", "kilo", "copilot", "qwen", "cursor", "openclaw", "nanobot")
_EXAMPLES = """examples:
  postoffice setup claude --hook --skill
  postoffice setup codex --hook --agent coder --yes
  postoffice setup openclaw --undo
  postoffice setup --prompt"""
_COLOURS = {"+": "\x1b[32m", "-": "\x1b[31m", "@": "\x1b[36m"}
_PLAIN = "\x1b[0m"


def add(commands: Any) -> None:
    """Add setup."""
    setting = commands.add_parser(
        "setup",
        help="connect a client to its mailbox",
        description="Connect a client to an agent's mailbox: shows the change to its configuration, makes it if you agree, and tries it.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    setting.add_argument("client", nargs="?", choices=_CLIENTS, metavar="CLIENT", help=", ".join(_CLIENTS))
    setting.add_argument("--agent", "--as", dest="agent", metavar="AGENT", help="whose mailbox (POSTOFFICE_AGENT, or the client's name)")
    setting.add_argument("--server", metavar="URL", help="the office (POSTOFFICE_SERVER, or http://127.0.0.1:8787)")
    setting.add_argument("--name", default="mail", help="what the client calls it (mail)")
    setting.add_argument("--tools", help="toolsets or tools, separated by commas (mail)")
    setting.add_argument("--project", action="store_true", help="this folder's project instead of your own files (claude)")
    setting.add_argument("--skill", action="store_true", help="also a skill: how to use the mailbox")
    setting.add_argument(
        "--hook",
        action="store_true",
        help="give each window a name, and ring it when mail comes (claude, codex, gemini, opencode, kilo, copilot, qwen)",
    )
    setting.add_argument("--shared", action="store_true", help="with --hook and --agent: several windows serve that one mailbox")
    setting.add_argument("--tmux", action="store_true", help="with --hook: type rings into its tmux pane if nothing else wakes a window")
    setting.add_argument(
        "--let-in", action="store_true", help="with --hook: ring windows too that bypass permission prompts (claude; asked otherwise)"
    )
    setting.add_argument("--undo", action="store_true", help="take it all back")
    setting.add_argument("--yes", action="store_true", help="do not ask")
    setting.add_argument("--prompt", action="store_true", help="print a prompt to paste to an agent instead")
    setting.set_defaults(command=run)


def run(options: dict[str, Any]) -> None:
    """Set up, or undo it."""
    from msgspec.structs import replace  # noqa: PLC0415 - not needed for help or completions

    from postoffice.client.address import DEFAULT  # noqa: PLC0415
    from postoffice.core.names import check_free  # noqa: PLC0415
    from postoffice.setup.home import my_home  # noqa: PLC0415
    from postoffice.setup.key import with_key  # noqa: PLC0415
    from postoffice.setup.plan import setting_up, taking_back  # noqa: PLC0415
    from postoffice.setup.skill import setup_prompt  # noqa: PLC0415

    if options.get("prompt"):
        agent = options.get("agent")
        print(setup_prompt(_server(options), DEFAULT, agent and check_free(agent)), end="")
        return
    wish = _wish(options)
    home = my_home(project=bool(options.get("project")))
    if not options.get("undo"):
        wish = replace(wish, endpoint=asyncio.run(with_key(wish.endpoint)), let_in=_let_in(home, wish, options))
    changes = taking_back(home, wish) if options.get("undo") else setting_up(home, wish)
    if not changes:
        print("Nothing to take back." if options.get("undo") else "Nothing to change: it is set up already.")
    for change in changes:
        _show(change.diff(home.short(change.path)))
    if changes:
        if not _agreed(options):
            return
        for change in changes:
            change.make()
            print(_done(home.short(change.path), home.short(change.backup) if change.backup.exists() else None, gone=change.after is None))
            for what in change.left:
                print(f"In {home.short(change.path)} {what}: it may have been there before, so remove it by hand if you do not need it.")
    if not options.get("undo"):
        _try(wish, changed=bool(changes), shared=home.project is not None)


def _server(options: dict[str, Any]) -> str:
    from postoffice.client.address import DEFAULT, read_address  # noqa: PLC0415

    return read_address(options.get("server") or os.environ.get("POSTOFFICE_SERVER") or DEFAULT, "POSTOFFICE_SERVER")


def _wish(options: dict[str, Any]) -> Any:
    from postoffice.client import credentials  # noqa: PLC0415
    from postoffice.core.names import check_free  # noqa: PLC0415
    from postoffice.core.tools import toolset  # noqa: PLC0415
    from postoffice.setup.clients import CLIENTS  # noqa: PLC0415
    from postoffice.setup.endpoint import Endpoint  # noqa: PLC0415
    from postoffice.setup.plan import Wish  # noqa: PLC0415

    client = options.get("client")
    if client is None:
        raise Invalid(what="setup", why=f"name a client: {', '.join(_CLIENTS)}; or use --prompt")
    for flag in ("project", "let_in"):
        if options.get(flag) and client != "claude":
            raise Invalid(what=f"--{flag.replace('_', '-')}", why="only Claude Code has this; leave it out")
    if options.get("hook") and CLIENTS[client].own is None:
        raise Invalid(what="--hook", why=f"there is no known way to begin a turn in {CLIENTS[client].title}; leave it out")
    if options.get("tmux") and (not options.get("hook") or CLIENTS[client].hooks is None):
        raise Invalid(what="--tmux", why="rings are typed only for clients with hooks; add --hook")
    name = str(options.get("name") or "mail")
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        raise Invalid(what="--name", why="use letters, digits, '-' and '_', which every client accepts")
    chosen, server = options.get("agent") or os.environ.get("POSTOFFICE_AGENT"), _server(options)
    agent = check_free(chosen or client)
    if options.get("tools"):
        toolset(options["tools"])  # fail on a wrong name before anything is written
    kept = credentials.load(server, agent)
    named = chosen is not None or not options.get("hook")
    key = kept.key if kept and named else None
    endpoint = Endpoint(server=server, agent=agent, key=key, tools=options.get("tools"), named=named)
    flags = {flag: bool(options.get(flag)) for flag in ("skill", "hook", "shared", "tmux")}
    return Wish(client=client, name=name, endpoint=endpoint, **flags)


def _let_in(home: Any, wish: Any, options: dict[str, Any]) -> bool:
    """Whether windows that bypass permission prompts should accept rings. A person is asked; it is never assumed."""
    from postoffice.setup.plan import lets_in  # noqa: PLC0415

    if not wish.hook or wish.client != "claude" or options.get("let_in") or lets_in(home):
        return bool(options.get("let_in"))
    if options.get("yes") or not somebody_there():
        return False
    print("A window of Claude Code that bypasses permission prompts holds rings for you, unless crossSessionInbound is set to accept.")
    return agreed("Let rings into such windows?")


def _show(lines: Sequence[str]) -> None:
    colour = on_terminal(sys.stdout) and not os.environ.get("NO_COLOR")
    for line in lines:
        tint = _COLOURS.get(line[:1]) if colour else None
        print(f"{tint}{line}{_PLAIN}" if tint else line)


def _agreed(options: dict[str, Any]) -> bool:
    if options.get("yes"):
        return True
    if not somebody_there():
        print("Nothing was written: run the command again with --yes to make this change.")
        return False
    if agreed("Make this change?"):
        return True
    print("Nothing was written.")
    return False


def _done(path: str, backup: str | None, *, gone: bool) -> str:
    if gone:
        return f"Removed {path}."
    return f"Wrote {path}." + (f" As it was: {backup}" if backup else "")


def _try(wish: Any, *, changed: bool, shared: bool) -> None:
    from postoffice.client.credentials import folder  # noqa: PLC0415
    from postoffice.setup.clients import CLIENTS  # noqa: PLC0415
    from postoffice.setup.endpoint import KEY_VARIABLE  # noqa: PLC0415
    from postoffice.setup.reach import reached  # noqa: PLC0415

    client = CLIENTS[wish.client]
    works, sentences = asyncio.run(reached(wish.endpoint))
    print(*sentences, sep="\n")
    if wish.endpoint.key is not None and (client.keyless or shared):
        print(f"{client.title} takes the key from the variable {KEY_VARIABLE}: set it before you start it (keys are kept in {folder()}).")
    if changed and works:
        print(f"{client.title}: {client.again}")
    if changed and wish.hook and client.asks:
        print(client.asks)

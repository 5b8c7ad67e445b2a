"""Commands that connect an agent to its mailbox: MCP over standard input and output, and the runner."""

import asyncio
import os
import signal
import sys
from contextlib import suppress
from datetime import datetime
from typing import Any

from postoffice.cli.caller import agent_of, key_in, server_of
from postoffice.cli.command import CLIENTS, Options, examples, seconds
from postoffice.cli.ending import when_told_to_end
from postoffice.core.errors import BadSetting


def add(commands: Any) -> None:
    """Add mcp and run."""
    import argparse  # noqa: PLC0415

    plain = argparse.RawDescriptionHelpFormatter
    mailbox = commands.add_parser(
        "mcp",
        help="the mailbox as MCP tools over standard input and output",
        description="The mailbox as MCP tools over standard input and output. The key comes from MAILBOX_API_KEY, never from a flag.",
        epilog=examples("postoffice mcp --as coder", "MAILBOX_SERVER_URL=mail.example.com MAILBOX_API_KEY=amb_… postoffice mcp"),
        formatter_class=plain,
    )
    mailbox.add_argument("--server", metavar="URL", help="the office (MAILBOX_SERVER_URL, POSTOFFICE_SERVER, or 127.0.0.1:8787)")
    mailbox.add_argument("--as", dest="agent", metavar="NAME", help="the agent, on an open server without a key (POSTOFFICE_AGENT)")
    mailbox.add_argument("--tools", help="toolsets or tools, separated by commas (mail)")
    mailbox.add_argument("--structured", action="store_true", help="raw values beside the text, for a program instead of a model")
    mailbox.add_argument("--window", choices=CLIENTS, help="serve the window of this client that starts it, under that window's name")
    mailbox.add_argument("--shared", action="store_true", help="with --window and --as: several windows serve that one mailbox")
    mailbox.set_defaults(command=_mcp)
    running = commands.add_parser(
        "run",
        help="answer an agent's mail with a command",
        description=(
            "Answer an agent's mail: for each message the command is run once, with {message}, {from}, {subject}, {session} filled in and the "
            "message as JSON on standard input, or for a model with {prompt}, fenced, and nothing else; what it prints is sent back."
        ),
        epilog=examples(
            "postoffice run coder --with claude",
            "postoffice run coder --with claude --cwd ~/shop -- --permission-mode acceptEdits",
            "postoffice run coder --with claude --install",
            "postoffice run echo -- cat",
            "postoffice run triage -- ./triage.sh -- {from} {subject}",
        ),
        formatter_class=plain,
    )
    running.add_argument("runs", metavar="AGENT", help="whose mail")
    running.add_argument("--with", dest="preset", choices=["claude", "codex", "gemini", "opencode"], help="a CLI we know how to run")
    running.add_argument("--jobs", type=_count, help="messages worked on at once (as many as the agent's card allows)")
    running.add_argument("--timeout", type=seconds, default=900.0, metavar="SECONDS", help="for one message (900)")
    running.add_argument("--env", action="append", default=[], metavar="NAME", help="variables it gets too; 'AWS_*' for all that begin so")
    running.add_argument("--server", metavar="URL", help="the office (POSTOFFICE_SERVER, or http://127.0.0.1:8787)")
    running.add_argument("--cwd", metavar="FOLDER", help="where it works (here)")
    running.add_argument("--install", action="store_true", help="keep it running as a service of yours, by systemd or launchd")
    running.add_argument("--uninstall", action="store_true", help="stop that service and remove it")
    running.add_argument("words", nargs="*", metavar="COMMAND", help="your own command, or with --with more options for that CLI, after --")
    running.set_defaults(command=_run)


def _count(text: str) -> int:
    """At least one."""
    if (count := int(text)) < 1:
        raise ValueError
    return count


def _mcp(options: Options) -> None:
    from postoffice.bridges.stdio import Mailbox  # noqa: PLC0415
    from postoffice.client import credentials  # noqa: PLC0415
    from postoffice.client.address import read_address  # noqa: PLC0415
    from postoffice.core.tools import MAIL  # noqa: PLC0415

    theirs = None if options["server"] else os.environ.get("MAILBOX_SERVER_URL")
    server, agent = read_address(theirs, "MAILBOX_SERVER_URL") if theirs else server_of(options), agent_of(options)
    beside = _beside(server, agent, options)
    mailbox = Mailbox(
        server=server,
        key=key_in(os.environ, "MAILBOX_API_KEY") or (credentials.for_window(server, agent) if options["window"] else None),
        agent=agent,
        tools=options["tools"] or MAIL,
        structured=options["structured"],
        named_by=beside and beside.headers,
        listed=beside and beside.listed,
        rename=beside and beside.rename,
    )
    # A read of standard input cannot be cancelled, so an interrupt has to end the process itself.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    asyncio.run(_serve_stdio(mailbox))


def _beside(server: str, agent: str | None, options: Options) -> Any:
    """The link to the window we serve, if we serve one."""
    if options["window"] is None:
        return None
    from postoffice.bridges.bell.beside import Beside  # noqa: PLC0415
    from postoffice.bridges.bell.hook import Wish  # noqa: PLC0415

    beside = Beside(Wish(client=CLIENTS[options["window"]], server=server, agent=agent, shared=options["shared"]))
    beside.start()
    return beside


async def _serve_stdio(mailbox: Any) -> None:
    """Serve the tools, and beside them the relay if a gateway is named."""
    from postoffice.bridges.stdio import serve_stdio  # noqa: PLC0415
    from postoffice.cli.openclaw import relay_settings  # noqa: PLC0415

    settings = relay_settings({"server": mailbox.server, "agent": mailbox.agent}, os.environ)
    if settings is None:
        await serve_stdio(mailbox)
        return
    from postoffice.bridges.openclaw.relay import keep_relay  # noqa: PLC0415
    from postoffice.serve.logs import set_up_logs  # noqa: PLC0415

    set_up_logs("info", "console")
    relay, tools = asyncio.create_task(keep_relay(settings)), asyncio.create_task(serve_stdio(mailbox))
    when_told_to_end(relay.cancel, signal.SIGINT, signal.SIGTERM)  # it first gives back what it has in hand
    await asyncio.wait({relay, tools}, return_when=asyncio.FIRST_COMPLETED)
    if not tools.done():  # we were told to end: as above, only the signal itself ends the read
        asyncio.get_running_loop().remove_signal_handler(signal.SIGTERM)
        signal.raise_signal(signal.SIGTERM)
    relay.cancel()
    await asyncio.gather(relay, return_exceptions=True)
    await tools


def _run(options: Options) -> None:
    import shutil  # noqa: PLC0415

    from postoffice.bridges.environment import chosen  # noqa: PLC0415
    from postoffice.bridges.preset import PRESETS, own_command, with_options  # noqa: PLC0415
    from postoffice.bridges.runner import Job  # noqa: PLC0415
    from postoffice.cli.service import change_service  # noqa: PLC0415

    if options["uninstall"]:
        change_service(options)
        return
    if options["preset"] is None and not options["words"]:
        raise BadSetting(name="command", why="give --with CLI, or -- COMMAND")
    if options["cwd"] is not None and not os.path.isdir(options["cwd"]):  # noqa: PTH112 - exactly as it was given
        raise BadSetting(name="--cwd", why=f"there is no folder {options['cwd']}")
    preset = with_options(PRESETS[options["preset"]], options["words"]) if options["preset"] else own_command(options["words"])
    # Fail now: otherwise each message would be tried in vain until it is dead.
    if "{" not in (program := preset.first[0]) and shutil.which(program) is None:
        raise BadSetting(name="command", why=f"{program} cannot be run here; install it, or name another after --")
    environment = chosen(os.environ, preset.names, options["env"])
    job = Job(options["runs"], server_of(options), preset, environment, options["jobs"], options["timeout"], options["cwd"])
    if options["install"]:
        change_service(options)
        return
    asyncio.run(_keep_running(job))


async def _keep_running(job: Any) -> None:
    from postoffice.bridges.conversations import Conversations  # noqa: PLC0415
    from postoffice.bridges.runner import Runner  # noqa: PLC0415
    from postoffice.client import starter  # noqa: PLC0415
    from postoffice.client.mailbox import Mailbox  # noqa: PLC0415

    def say(text: str) -> None:
        from postoffice.core.fence import one_line  # noqa: PLC0415

        with suppress(OSError):  # go on answering mail even if nobody reads our output, or the log's disk is full
            print(f"{datetime.now().astimezone():%H:%M:%S} {job.agent}: {one_line(text)}", file=sys.stderr, flush=True)

    await starter.ensure_open(job.server)
    stop = asyncio.Event()
    when_told_to_end(stop.set, signal.SIGINT, signal.SIGTERM)
    async with Mailbox(job.agent, server=job.server, patience=None, away=lambda error: say(f"waiting: {error}")) as box:
        say(f"answering mail at {job.server} with {job.preset.first[0]}; Ctrl-C ends it")
        await Runner(job, box, Conversations(job.agent), say).run(stop)

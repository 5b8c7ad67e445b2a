"""Commands that use the ledger directly: topics for agents and entities, the comparison of office and ledger, agents of other software."""

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from postoffice.cli.command import Argument, Options, add_caller, add_parser, argument
from postoffice.cli.show import say, table
from postoffice.core.entity import ENTITY_TYPES, NAMED
from postoffice.core.errors import BadSetting

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire
from postoffice.cli.which_ledger import add_network, ledger_settings, open_founding, open_mirror, run_work, tell_progress


class NetworkCommand(NamedTuple):
    """A command that needs a ledger besides an office."""

    name: str
    help: str
    run: Callable[[Options], int | None]
    arguments: tuple[Argument, ...]
    examples: tuple[str, ...]


def add(acts: Any) -> None:
    """Add the commands, each with the options for its ledger and office."""
    for command in COMMANDS:
        parser = add_parser(acts, command.name, command.help, command.examples, command.arguments)
        add_network(parser)
        add_caller(parser)
        parser.set_defaults(command=command.run)


# Topics for agents


def _setup(options: Options) -> None:
    settings = ledger_settings(options)
    wanted = None if options["agents"] is None else _named(options["agents"])

    async def work(wire: "Wire") -> Any:
        from postoffice.bridges.ledger.founding import estimate, places  # noqa: PLC0415

        if settings.ledger_account is None:
            raise BadSetting(name="ledger_account", why="a ledger needs an account that pays")
        agents = await places(wire, wanted, settings.ledger_account)
        cost = estimate(agents, settings.ledger_definitions, settings.ledger or "")
        planned = [
            {"agent": one.agent, "account_id": one.account_id, "topics": "kept" if one.inbound_topic_id else "missing"} for one in agents
        ]
        if options["dry_run"]:
            return {"agents": planned, "definitions": settings.ledger_definitions, "cost": cost, "dry_run": True}
        async with open_founding(wire, settings) as founding:
            tell_progress(f"{len(agents)} agents; this costs about ${cost:.4f} at most")
            return await founding.found(agents, settings.ledger_definitions) | {"dry_run": False}

    answer = run_work(options, settings, work, _founded, owner=True)
    if not options["dry_run"] and settings.ledger_definitions is None:
        tell_progress(
            f'profiles are on topic {answer["definitions"]}; keep it: ledger_definitions = "{answer["definitions"]}" in postoffice.toml'
        )


def _named(text: str) -> dict[str, str | None]:
    """The named agents with their given accounts, each agent once however it is written: named twice, it would be paid for twice."""
    from postoffice.core.ledger import check_ledger_id  # noqa: PLC0415
    from postoffice.core.names import check_name, folded  # noqa: PLC0415

    named: dict[str, str | None] = {}
    for word in filter(None, map(str.strip, text.split(","))):
        name, _, account = word.partition("=")
        agent = folded(check_name(name))
        named[agent] = check_ledger_id(account, "--agents") if account else named.get(agent)
    if not named:
        raise BadSetting(name="--agents", why="it is empty; leave it out for all agents")
    return named


def _founded(console: "Console", answer: Any) -> None:
    rows = [
        (a["agent"], a["account_id"], a.get("inbound_topic_id") or "", a.get("outbound_topic_id") or "", a["topics"], a.get("profile", ""))
        for a in answer["agents"]
    ]
    table(console, ("agent", "account", "inbound", "outbound", "topics", "profile"), rows, "Nobody is here yet.")
    about = "It would cost about" if answer["dry_run"] else "It cost about"
    say(console, f"{about} ${answer['cost']:.4f}.")


def _topic(options: Options) -> None:
    settings = ledger_settings(options)

    async def work(wire: "Wire") -> Any:
        async with open_founding(wire, settings) as founding:
            return await founding.entity(options["type"])

    run_work(options, settings, work, show_watched, owner=True)


def show_watched(console: "Console", answer: Any) -> None:
    """Say that a topic is watched."""
    say(console, f"Topic {answer['topic_id']} ({answer['about']}) is watched: notes and events there become mail.")


# Whether office and ledger agree


def _verify(options: Options) -> int:
    settings = ledger_settings(options)
    agents = None if options["agents"] is None else frozenset(word.strip().lower() for word in options["agents"].split(","))

    async def work(wire: "Wire") -> Any:
        from postoffice.bridges.ledger.audit import Audit  # noqa: PLC0415

        mirror = open_mirror(settings)
        try:
            report = await Audit(
                wire, mirror, settings.ledger_account or "", tell_progress if sys.stderr.isatty() else lambda _: None
            ).verify(agents)
        finally:
            await mirror.close()
        return report if options["show"] else report | {"inbox": len(report["inbox"])}

    return 1 if run_work(options, settings, work, _verified, owner=True)["findings"] else 0


def _verified(console: "Console", answer: Any) -> None:
    if isinstance(answer["inbox"], list):
        columns = ("to_agent", "from_agent", "message_type", "subject", "priority", "ref_id")
        rows = [tuple(line[name] or "" for name in columns) for line in answer["inbox"]]
        table(console, ("to", "from", "type", "subject", "priority", "about"), rows, "The topics hold no mail.")
    rows = [(f["is"], f["topic_id"], f["sequence"], f["why"], f["message_id"] or "") for f in answer["findings"]]
    count = answer["inbox"] if isinstance(answer["inbox"], int) else len(answer["inbox"])
    table(
        console,
        ("is", "topic", "message", "why", "id"),
        rows,
        f"{answer['topics']} topics hold {count} messages, and the office has exactly the same.",
    )


# Agents of other software


def _connect(options: Options) -> None:
    settings = ledger_settings(options)
    options["agent"] = options["from"]

    async def work(wire: "Wire") -> Any:
        from postoffice.bridges.ledger.directory import find_inbound  # noqa: PLC0415

        mirror = open_mirror(settings)
        try:
            account, inbound = await find_inbound(mirror, options["whom"])
        finally:
            await mirror.close()
        body = {"account_id": account, "inbound_topic_id": inbound, "message": options["message"]}
        return await wire.post("/ledger/connections", body) | {"account_id": account, "inbound_topic_id": inbound}

    run_work(options, settings, work, _asked, owner=False)


def _asked(console: "Console", answer: Any) -> None:
    say(console, f"{answer['account_id']} is asked on its topic {answer['inbound_topic_id']}; once it agrees, write to it by that name.")


_AGENTS = argument("--agents", metavar="NAMES", help="only these, by commas; quinn=0.0.123 gives one an account of its own (all)")
COMMANDS = (
    NetworkCommand(
        "setup",
        "give agents their topics, publish their profiles, and make accounts lead to them; what is there already stays",
        _setup,
        (_AGENTS, argument("--dry-run", action="store_true", help="only say what would be done, and what it costs")),
        (
            "postoffice ledger setup --dry-run",
            "postoffice ledger setup --agents quinn,mindy,justin --ledger testnet --ledger-account 0.0.123",
        ),
    ),
    NetworkCommand(
        "verify",
        "rebuild the inbox from the topics alone, and list what is missing, altered or forged (exit code 1)",
        _verify,
        (
            argument("--agents", metavar="NAMES", help="only these agents' topics, by commas (all)"),
            argument("--show", action="store_true", help="show the rebuilt inbox too"),
        ),
        ("postoffice ledger verify", "postoffice ledger verify --agents justin --show"),
    ),
    NetworkCommand(
        "topic",
        "make a topic for an entity, and watch it",
        _topic,
        (
            argument("--create", action="store_true", required=True, help="make it (it costs a cent)"),
            argument("--type", required=True, choices=ENTITY_TYPES, help=NAMED),
        ),
        ("postoffice ledger topic --create --type task",),
    ),
    NetworkCommand(
        "connect",
        "ask an agent of other software for a connection, by its inbound topic or its account",
        _connect,
        (
            argument("from", metavar="AGENT", help="who of ours asks"),
            argument("whom", metavar="TOPIC|ACCOUNT", help="such as 0.0.789101"),
            argument("--message", help="a word to introduce yourself"),
        ),
        ("postoffice ledger connect quinn 0.0.789101 --message 'Shall we work together?'",),
    ),
)

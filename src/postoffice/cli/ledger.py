"""`postoffice ledger`: places on the ledger, mail over it, and whether office and ledger agree."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from postoffice.cli import ledger_network
from postoffice.cli.command import Command, Options, add_commands, argument, examples
from postoffice.cli.show import ago, say, table
from postoffice.client.path import part
from postoffice.core.entity import ENTITY_TYPES, NAMED
from postoffice.core.errors import BadSetting, MailError

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire


def add(commands: Any, asking: Callable[[Command], Callable[[Options], None]]) -> None:
    """Add the command and its subcommands."""
    ledger = commands.add_parser(
        "ledger",
        help="mail over a public ledger (HCS-10): setup, status, verify and more",
        description="Mail over a public ledger: topics for agents, mail by them, and whether office and ledger agree.",
        epilog=examples("postoffice ledger setup --dry-run", "postoffice ledger status", "postoffice ledger verify"),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    acts = ledger.add_subparsers(title="acts", required=True, metavar="ACT")
    ledger_network.add(acts)
    add_commands(acts, COMMANDS, asking)


async def status(wire: "Wire", _: Options) -> Any:
    """Show the ledger in numbers."""
    answer = await wire.get("/ledger/status")
    answer["accounts"] = (await wire.get("/ledger/accounts"))["accounts"]
    try:
        answer["quarantine"] = (await wire.get("/ledger/quarantine"))["records"]
    except MailError:
        answer["quarantine"] = None  # for the owner only
    return answer


def _status(console: "Console", answer: Any) -> None:
    status, bridge = answer["status"], answer["bridge"]
    if not status["kept"]:
        say(console, "This office uses no ledger; mail goes directly. Start it with --ledger NETWORK.")
        return
    where = "" if bridge is None else f" on {bridge['network']}, paid by {bridge['operator']}"
    say(console, f"Mail goes by the ledger{where}; privacy {status['privacy']}, public logs {'on' if status['log'] else 'off'}.")
    if bridge is not None and not bridge["speaking"]:
        say(console, "Another process of this office does the work on the ledger.")
    say(console, "Posts: " + (", ".join(f"{count} {state}" for state, count in sorted(status["posts"].items())) or "none") + ".")
    for why, count in status["troubles"].items():
        say(console, f"{count} in trouble: {why}")
    if bridge is not None and bridge["trouble"]:
        say(console, f"Now: {bridge['trouble']}")
    rows = [(a["agent"], a["account_id"], a["inbound_topic_id"], a["outbound_topic_id"] or "(other software)") for a in answer["accounts"]]
    table(console, ("agent", "account", "inbound", "outbound"), rows, "Nobody has topics yet: postoffice ledger setup")
    if answer["quarantine"]:
        say(console, f"Set aside ({status['quarantined']}):")
        aside = [(r["topic_id"], r["sequence"], r["payer"], r["reason"]) for r in answer["quarantine"]]
        table(console, ("topic", "message", "payer", "why"), aside, "")


async def watch(wire: "Wire", options: Options) -> Any:
    """Watch an entity's topic."""
    return await wire.put(f"/ledger/topics/{part(options['topic'])}", {"about": options["type"]})


async def send(wire: "Wire", options: Options) -> Any:
    """Send by the ledger."""
    import msgspec  # noqa: PLC0415

    body = {name: options[name] for name in ("to_agent", "message_type", "subject", "ref_id", "ref_type", "priority", "id")}
    if options["payload"] is not None:
        try:
            body["payload"] = msgspec.json.decode(options["payload"])
        except msgspec.DecodeError as error:
            raise BadSetting(name="--payload", why=f"it is not JSON: {error}") from None
    return await wire.post("/ledger/messages", {name: value for name, value in body.items() if value is not None})


def _sent(console: "Console", answer: Any) -> None:
    for to in answer["recipients"]:
        if to.get("refusal"):
            say(console, f"Not to {to['recipient']}: {to['detail']}")
        else:
            way = "it goes by the ledger" if to.get("ledger") == "awaiting" else "delivered directly"
            say(console, f"Sent {answer['id']} to {to['recipient']}; {way}.")


async def note(wire: "Wire", options: Options) -> Any:
    """Put a note on an entity's topic."""
    body = {"entity_type": options["type"], "note": options["text"], "notify": options["notify"] or []}
    return await wire.post(f"/entities/{part(options['entity'])}/notes", body)


def _noted(console: "Console", answer: Any) -> None:
    notified = f" {', '.join(answer['notified'])} got it at once." if answer["notified"] else ""
    say(console, f"Noted; {'on its way to the topic' if answer['ledger'] == 'awaiting' else 'kept here only'}.{notified}")


async def quarantine(wire: "Wire", options: Options) -> Any:
    """List what was set aside."""
    return await wire.get("/ledger/quarantine", cursor=options["cursor"], limit=options["limit"])


def _set_aside(console: "Console", answer: Any) -> None:
    rows = [(r["topic_id"], r["sequence"], r["payer"], _when(r["at"]), r["reason"], (r["body"] or "")[:120]) for r in answer["records"]]
    table(console, ("topic", "message", "payer", "when", "why", "says"), rows, "Nothing was set aside.")


def _when(at: str) -> str:
    from datetime import UTC, datetime  # noqa: PLC0415

    return ago(datetime.fromtimestamp(float(at), UTC).isoformat())


COMMANDS = (
    Command(
        "status",
        "show who has topics, what waits for the ledger, what is in the way, what was set aside",
        ("postoffice ledger status", "postoffice ledger status --json"),
        status,
        _status,
    ),
    Command(
        "quarantine",
        "show what was seen on the ledger and not believed; for the owner",
        ("postoffice ledger quarantine --as owner",),
        quarantine,
        _set_aside,
        (argument("--cursor", help="where the last page ended"), argument("--limit", type=int, default=50)),
    ),
    Command(
        "watch",
        "watch an entity's topic: notes and events there become mail; for the owner",
        ("postoffice ledger watch 0.0.12345 --type task --as owner",),
        watch,
        ledger_network.show_watched,
        (argument("topic", help="such as 0.0.12345"), argument("--type", required=True, choices=ENTITY_TYPES, help=NAMED)),
    ),
    Command(
        "send",
        "send a message by the ledger: to an agent, a person, or ALL",
        ("postoffice ledger send mindy 'Ready for review' --type review.request --ref 0.0.12345 --ref-type task --as quinn",),
        send,
        _sent,
        (
            argument("to_agent", metavar="AGENT", help="an agent, a person, or ALL"),
            argument("subject", help="what it is about, in a line"),
            argument("--type", dest="message_type", default="fyi", help="feedback, review.request, task.blocked … (fyi)"),
            argument("--payload", metavar="JSON", help="what it says, as JSON"),
            argument("--ref", dest="ref_id", help="the entity it is about"),
            argument("--ref-type", help="task, phase, stage, project, agent"),
            argument("--priority", type=int, choices=range(1, 6), help="1 urgent to 5 fyi; 1 and 2 are delivered at once (3)"),
            argument("--id", help="your own id: a retry with it sends nothing twice"),
        ),
    ),
    Command(
        "note",
        "put a note on an entity's topic, and send it to whoever should know",
        ("postoffice ledger note 0.0.12345 'blocked on review' --type task --notify mindy --notify justin --as quinn",),
        note,
        _noted,
        (
            argument("entity", help="its topic"),
            argument("text", help="the note"),
            argument("--type", default="task", choices=ENTITY_TYPES, help=f"{NAMED} (task)"),
            argument("--notify", action="append", metavar="AGENT", help="who should know; more than once for several"),
        ),
    ),
)

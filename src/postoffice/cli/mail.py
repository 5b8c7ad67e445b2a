"""Commands that show and settle mail."""

from typing import TYPE_CHECKING, Any

from postoffice.cli import ids
from postoffice.cli.command import Command, Options, argument
from postoffice.cli.pages import gathered, tell_of_more
from postoffice.cli.show import ago, carried, quote, say, table, text_of
from postoffice.client.path import part
from postoffice.core.errors import Forbidden
from postoffice.core.query import WHAT_TO_ASK

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire

_LAST_CHARACTERS = 60
_MESSAGE = argument("message", metavar="MESSAGE", help="a message's id, or the end of it")


async def inbox(wire: "Wire", options: Options) -> Any:
    """Show conversations, newest first, and mail that belongs to none: notes, and mail to oneself."""
    answer = await gathered(wire, "/inbox", "sessions", options["limit"], unread_only=options["unread"], of=options["of"])
    waiting = await gathered(wire, "/messages/waiting", "messages", options["limit"], outside=True, of=options["of"])
    return answer | {"notes": waiting["messages"]}


def _inbox(console: "Console", answer: Any) -> None:
    kinds = [_kind(s["recent_messages"][0]["message"]) if s["recent_messages"] else "" for s in answer["sessions"]]
    what = any(kinds)  # if all are plain letters, the column is left out
    shown = ids.all_short(s["session_id"] for s in answer["sessions"])
    rows = [
        (
            s["unread_count"] or "",
            s["other_agent_name"],
            s["subject"] or "(no subject)",
            *((kind,) if what else ()),
            _last(s),
            ago(s["last_message_at"]),
            id,
        )
        for s, kind, id in zip(answer["sessions"], kinds, shown, strict=True)
    ]
    empty = "Nothing here. Send some mail: postoffice send --to NAME 'Hello'"
    columns = ("unread", "with", "subject", *(("what",) if what else ()), "last", "when", "session")
    table(console, columns, rows, empty if not answer["notes"] else "No conversations.")
    tell_of_more(console, answer)
    if answer["notes"]:
        shown = ids.all_short(n["id"] for n in answer["notes"])
        notes = [
            (n["from"], _kind(n), _on_one_line(text_of(n)), ago(n["created_at"]), id) for n, id in zip(answer["notes"], shown, strict=True)
        ]
        table(console, ("note by", "what", "says", "when", "id"), notes, "")
    for pending in answer["pending_connections"]:
        code = pending["verification_code"]
        say(console, f"{pending['from_agent_name']} asks to connect (code {code}): postoffice approve CODE")


def _kind(letter: Any) -> str:
    """A message's kind, priority and subject; empty for a plain letter."""
    if (letter["type"], letter["priority"]) == ("message", 3) and "ref_id" not in letter:
        return ""
    about = f", about {letter['ref_id']}" if "ref_id" in letter else ""
    return f"{letter['type']}, priority {letter['priority']}{about}"


def _last(session: Any) -> str:
    lines = session["recent_messages"]
    return _on_one_line(text_of(lines[0]["message"]))[:_LAST_CHARACTERS] if lines else ""


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


async def read(wire: "Wire", options: Options) -> Any:
    """Show one conversation."""
    session = await ids.session_id(wire, options["session"])
    return await wire.get(f"/sessions/{part(session)}/history", limit=options["limit"], peek=options["peek"])


def _history(console: "Console", answer: Any) -> None:
    say(console, f"{answer['subject'] or '(no subject)'}, with {answer['other_agent_name']}")
    shown = ids.all_short(line["message"]["id"] for line in answer["messages"])
    for line, id in reversed(list(zip(answer["messages"], shown, strict=True))):
        quote(console, line["sender_name"], line["created_at"], text_of(line["message"]) + carried(line["message"]), id)


async def ack(wire: "Wire", options: Options) -> Any:
    """Ack a message."""
    return await wire.post(f"/messages/{part(options['message'])}/ack", {"token": options["token"]})


async def done(wire: "Wire", options: Options) -> Any:
    """Mark letters as done, opened or not. For an agent, ack what it has in hand."""
    settled = []
    for given in options["messages"]:
        ref = part(given)
        try:
            settled.append({"message_id": given, "state": (await wire.post(f"/messages/{ref}/done"))["state"]})
        except Forbidden:  # only a person may do this; anybody else acks what they hold
            settled.append(await wire.post(f"/messages/{ref}/ack", {}))
    return {"done": settled}


def _done(console: "Console", answer: Any) -> None:
    for one in answer["done"]:
        say(console, f"{ids.short(one['message_id'])} is done.")


async def nack(wire: "Wire", options: Options) -> Any:
    """Nack a message."""
    body = {"token": options["token"], "delay": options["delay"], "reason": options["reason"]}
    return await wire.post(f"/messages/{part(options['message'])}/nack", body)


def _settled(console: "Console", answer: Any) -> None:
    say(console, f"{ids.short(answer['message_id'])} is {answer['state']}.")


async def status(wire: "Wire", options: Options) -> Any:
    """Show where a message stands."""
    return await wire.get(f"/messages/{part(options['message'])}/status")


def _status(console: "Console", answer: Any) -> None:
    rows = [
        (s["recipient"], _state(s), s["attempts"], _rung(s), ago(s["settled_at"]), s["reason"] or _ledger(s)) for s in answer["standings"]
    ]
    table(console, ("to", "state", "tries", "rung", "settled", "why"), rows, "It was kept as a note and not sent to anybody.")
    if "counts" in answer:
        say(console, f"All on the list: {', '.join(f'{number} {state}' for state, number in sorted(answer['counts'].items()))}.")


def _rung(standing: Any) -> str:
    """How often a window was rung for it, and whether a turn began."""
    if (rings := standing.get("rung")) is None:
        return ""
    often = "once" if rings["times"] == 1 else f"{rings['times']} times"
    turn = f"turn begun {ago(rings['turn_at'])}" if rings["turn_at"] else "no turn begun"
    return f"{often}, last {ago(rings['last_at'])}; {turn}"


def _state(standing: Any) -> str:
    if (taker := standing.get("taken_by")) is not None and standing["state"] in ("leased", "acked"):
        return f"{standing['state']} by {taker}"
    awaits = standing["state"] == "held" and standing.get("ledger", {}).get("state") == "awaiting"
    return "awaiting ledger" if awaits else str(standing["state"])


def _ledger(standing: Any) -> str:
    """Its place on the ledger."""
    ledger = standing.get("ledger")
    if ledger is None:
        return ""
    if ledger["sequence"] is None:
        return ledger["trouble"] or f"for topic {ledger['topic_id']}"
    return f"on the ledger: topic {ledger['topic_id']}, message {ledger['sequence']}, at {ledger['consensus_at']}"


async def search(wire: "Wire", options: Options) -> Any:
    """Search messages by their words."""
    wanted = {"q": " ".join(options["words"]), "everyone": options["everyone"]}
    return await gathered(wire, "/search", "results", options["limit"], **wanted)


def _hits(console: "Console", answer: Any) -> None:
    shown = ids.all_short(h["message"]["id"] for h in answer["results"])
    rows = [
        (ago(h["message"]["created_at"]), h["message"]["from"], h["message"]["subject"], _on_one_line(h["excerpt"]), id)
        for h, id in zip(answer["results"], shown, strict=True)
    ]
    table(
        console,
        ("when", "from", "subject", "words", "message"),
        rows,
        "Nothing found. As the owner: postoffice search --everyone looks through all mail.",
    )
    tell_of_more(console, answer)


_TOKEN = argument("--token", help="the token the message was taken with")
COMMANDS = (
    Command(
        "inbox",
        "show conversations and who asks to connect",
        ("postoffice inbox --as coder", "postoffice inbox --unread --json"),
        inbox,
        _inbox,
        (
            argument("--unread", action="store_true", help="only with something unread"),
            argument("--of", metavar="ROLE", help="of a role you are in"),
            argument("--limit", type=int, default=50),
        ),
    ),
    Command(
        "read",
        "read a conversation; what it shows counts as read",
        ("postoffice read SESSION --as coder", "postoffice read SESSION --peek"),
        read,
        _history,
        (
            argument("session", help="a session's id, or the end of it, from inbox"),
            argument("--limit", type=int, default=20),
            argument("--peek", action="store_true", help="look without settling anything"),
        ),
    ),
    Command("ack", "mark a message as handled", ("postoffice ack MESSAGE --token TOKEN",), ack, _settled, (_MESSAGE, _TOKEN)),
    Command(
        "done",
        "mark letters as done, without an answer",
        ("postoffice done 3fe348", "postoffice done 3fe348 a1c2d3 --as coder"),
        done,
        _done,
        (argument("messages", nargs="+", metavar="MESSAGE", help="a message's id, or the end of it"),),
    ),
    Command(
        "nack",
        "give a message back unhandled",
        ("postoffice nack MESSAGE --token TOKEN --reason 'no access' --delay 60",),
        nack,
        _settled,
        (_MESSAGE, _TOKEN, argument("--delay", type=float, default=0, help="seconds"), argument("--reason")),
    ),
    Command("status", "show where a message stands", ("postoffice status MESSAGE --as alice",), status, _status, (_MESSAGE,)),
    Command(
        "search",
        "search what was sent and got",
        (
            "postoffice search what did alice say about invoices --as coder",
            "postoffice search '\"release train\" depl* from:alice after:2026-02-28' --as coder",
            "postoffice search invoice --everyone",
        ),
        search,
        _hits,
        (
            argument("words", nargs="+", help=WHAT_TO_ASK),
            argument("--limit", type=int, default=20),
            argument("--everyone", action="store_true", help="all agents' mail, for the owner"),
        ),
    ),
)

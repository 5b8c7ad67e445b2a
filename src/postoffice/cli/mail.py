"""Commands that move and show mail."""

import sys
import time
from contextlib import suppress
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from postoffice.cli.command import Command, Options, argument
from postoffice.cli.ending import interruptible
from postoffice.cli.pages import gathered, tell_of_more
from postoffice.cli.show import ago, quote, say, table, text_of
from postoffice.client.path import part
from postoffice.client.text_body import text_body
from postoffice.core.clock import sender_id
from postoffice.core.errors import BadLimit, BadSetting, Invalid, NoReply, Unavailable
from postoffice.core.query import WHAT_TO_ASK

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire

_WAIT_SECONDS, _LONGEST_WAIT_SECONDS, _SETTLE_SECONDS = 120.0, 240.0, 10.0
_MESSAGE = argument("message", metavar="MESSAGE", help="a message's id")


async def send(wire: "Wire", options: Options) -> Any:
    """Send text, a file, or what is piped in."""
    seconds = _seconds(options)
    asked = _asked(options)
    content = _content(options)
    to = options["to"][0] if len(options["to"]) == 1 else options["to"]
    body = {
        "to": to,
        **text_body(content),
        "subject": options["subject"] if options["session"] is None else None,
        "session_id": options["session"],
        **asked,
        "priority": options["priority"],
        "id": options["id"] or sender_id(),
    }
    mark = sender_id() if seconds is not None else None
    sent = await wire.post("/messages/send", {k: v for k, v in (body | {"correlation_id": mark}).items() if v is not None})
    if seconds is None:
        return sent
    return {"sent": sent, "reply": await _reply(wire, options["to"][0], mark, seconds)}


def _seconds(options: Options) -> float | None:
    """How long to wait for the answer. What stands there and is no number is the text."""
    given = options["wait_reply"]
    if given is None:
        return None
    try:
        seconds = float(given)
    except ValueError:
        if options["text"] is not None:
            raise BadSetting(name="--wait-reply", why=f"{given!r} is not a number of seconds") from None
        options["text"], seconds = given, _WAIT_SECONDS
    if not 0 <= seconds <= _LONGEST_WAIT_SECONDS:
        raise BadLimit(what="--wait-reply", least=0, most=_LONGEST_WAIT_SECONDS, value=seconds)
    return seconds


async def _reply(wire: "Wire", to: str, mark: str | None, seconds: float) -> Any:
    """The answer with this mark; of a task, the last word and not its progress. An office that goes away meanwhile has what was sent."""
    from postoffice.client.wire import until_answered  # noqa: PLC0415

    until = time.monotonic() + seconds

    async def take() -> list[Any]:
        letters = await wire.wait({"limit": 1, "correlation_id": mark}, max(until - time.monotonic(), 0))
        for letter in letters:
            await until_answered(partial(wire.post, f"/messages/{letter['id']}/ack", {"token": letter["token"]}), _SETTLE_SECONDS)
        return letters

    while (left := until - time.monotonic()) > 0:
        with suppress(Unavailable):
            for letter in await until_answered(take, left):
                if letter.get("task", {}).get("state") not in ("accepted", "working"):
                    return letter
    raise NoReply(to=to, seconds=int(seconds))


def _asked(options: Options) -> dict[str, Any]:
    """What kind of message it is, and by when work has to be done."""
    kind, deadline = "task" if options["task"] else options["type"], options["deadline"]
    if options["type"] not in (None, kind):
        raise BadSetting(name="--type", why=f"a task is no {options['type']}; give --task or --type, not both")
    if deadline is None:
        return {"type": kind}
    if kind != "task":
        raise BadSetting(name="--deadline", why="only work has one; ask for some with --task")
    return {"type": kind, "task": {"deadline": _instant(deadline).isoformat()}}


def _instant(text: str) -> datetime:
    """A moment as a person writes it: on this machine's clock, unless it names another. A day alone would end as it begins."""
    with suppress(ValueError, OverflowError):
        if len(text) > len("2026-12-31"):
            return datetime.fromisoformat(text).astimezone()
    raise BadSetting(name="--deadline", why=f"{text!r} is no time; write it like 2026-12-31T18:00, or 2026-12-31T18:00Z")


def _content(options: Options) -> str:
    given = [options["text"] is not None, options["file"] is not None]
    if all(given):
        raise BadSetting(name="text", why="give the text or --file, not both")
    if options["file"] is not None:
        try:
            return _something(Path(options["file"]).read_text(encoding="utf-8"), "--file")
        except (OSError, UnicodeDecodeError) as error:
            raise BadSetting(name="--file", why=str(error)) from None
    if options["text"] not in (None, "-"):
        return str(options["text"])
    if sys.stdin is None or sys.stdin.isatty():
        raise BadSetting(name="text", why="say something: postoffice send --to bob 'Hello'")
    with interruptible():
        return _something(sys.stdin.read(), "standard input")


def _something(text: str, source: str) -> str:
    """What was read. Nothing at all is what a command that failed leaves in a pipe, and no letter."""
    if not text.strip():
        raise Invalid(what=source, why="there is nothing in it, and nothing was sent; to send an empty message say '' in its place")
    return text


def _sent(console: "Console", answer: Any) -> None:
    sent = answer.get("sent", answer)
    if "reply" in answer:
        reply = answer["reply"]
        quote(console, reply["from"], reply["created_at"], text_of(reply))
        return
    for to in sent["recipients"]:
        if to.get("refusal"):
            say(console, f"Not to {to['recipient']}: {to['detail']}")
        elif to.get("unseen"):
            say(console, f"Sent {sent['id']}. Nobody called {to['recipient']} has been here yet; it waits.")
        else:
            reach = to.get("reach", {}).get("text")
            say(console, f"Sent {sent['id']} to {to['recipient']}" + (f" ({reach})." if reach else "."))


async def inbox(wire: "Wire", options: Options) -> Any:
    """Conversations, newest first, and what belongs to none: notes, and mail to oneself."""
    answer = await gathered(wire, "/inbox", "sessions", options["limit"], unread_only=options["unread"])
    waiting = await gathered(wire, "/messages/waiting", "messages", options["limit"], outside=True)
    return answer | {"notes": waiting["messages"]}


def _inbox(console: "Console", answer: Any) -> None:
    kinds = [_kind(s["recent_messages"][0]["message"]) if s["recent_messages"] else "" for s in answer["sessions"]]
    what = any(kinds)  # among plain letters nobody misses the column
    rows = [
        (
            s["unread_count"] or "",
            s["other_agent_name"],
            s["subject"] or "(no subject)",
            *((kind,) if what else ()),
            _last(s),
            ago(s["last_message_at"]),
            s["session_id"],
        )
        for s, kind in zip(answer["sessions"], kinds, strict=True)
    ]
    empty = "Nothing here. Send some mail: postoffice send --to NAME 'Hello'"
    columns = ("unread", "with", "subject", *(("what",) if what else ()), "last", "when", "session")
    table(console, columns, rows, empty if not answer["notes"] else "No conversations.")
    tell_of_more(console, answer)
    if answer["notes"]:
        notes = [(n["from"], _kind(n), text_of(n).replace("\n", " "), ago(n["created_at"]), n["id"]) for n in answer["notes"]]
        table(console, ("note by", "what", "says", "when", "id"), notes, "")
    for pending in answer["pending_connections"]:
        code = pending["verification_code"]
        say(console, f"{pending['from_agent_name']} asks to connect (code {code}): postoffice approve CODE")


def _kind(letter: Any) -> str:
    """What a message is, how urgent, and what it is about; nothing of a plain letter."""
    if (letter["type"], letter["priority"]) == ("message", 3) and "ref_id" not in letter:
        return ""
    about = f", about {letter['ref_id']}" if "ref_id" in letter else ""
    return f"{letter['type']}, priority {letter['priority']}{about}"


def _last(session: Any) -> str:
    lines = session["recent_messages"]
    return text_of(lines[0]["message"]).replace("\n", " ")[:60] if lines else ""


async def read(wire: "Wire", options: Options) -> Any:
    """One conversation."""
    return await wire.get(f"/sessions/{part(options['session'])}/history", limit=options["limit"], peek=options["peek"])


def _history(console: "Console", answer: Any) -> None:
    say(console, f"{answer['subject'] or '(no subject)'}, with {answer['other_agent_name']}")
    for line in reversed(answer["messages"]):
        quote(console, line["sender_name"], line["created_at"], text_of(line["message"]))


async def ack(wire: "Wire", options: Options) -> Any:
    """Done with it."""
    return await wire.post(f"/messages/{part(options['message'])}/ack", {"token": options["token"]})


async def nack(wire: "Wire", options: Options) -> Any:
    """Give it back."""
    body = {"token": options["token"], "delay": options["delay"], "reason": options["reason"]}
    return await wire.post(f"/messages/{part(options['message'])}/nack", body)


def _settled(console: "Console", answer: Any) -> None:
    say(console, f"{answer['message_id']} is {answer['state']}.")


async def status(wire: "Wire", options: Options) -> Any:
    """Where it stands."""
    return await wire.get(f"/messages/{part(options['message'])}/status")


def _status(console: "Console", answer: Any) -> None:
    rows = [(s["recipient"], _state(s), s["attempts"], ago(s["settled_at"]), s["reason"] or _ledger(s)) for s in answer["standings"]]
    table(console, ("to", "state", "tries", "settled", "why"), rows, "It was kept as a note and sent to nobody.")


def _state(standing: Any) -> str:
    awaits = standing["state"] == "held" and standing.get("ledger", {}).get("state") == "awaiting"
    return "awaiting ledger" if awaits else str(standing["state"])


def _ledger(standing: Any) -> str:
    """What the ledger knows of it."""
    found = standing.get("ledger")
    if found is None:
        return ""
    if found["sequence"] is None:
        return found["trouble"] or f"for topic {found['topic_id']}"
    return f"on the ledger: topic {found['topic_id']}, message {found['sequence']}, at {found['consensus_at']}"


async def search(wire: "Wire", options: Options) -> Any:
    """Messages by their words."""
    wanted = {"q": " ".join(options["words"]), "everyone": options["everyone"]}
    return await gathered(wire, "/search", "results", options["limit"], **wanted)


def _hits(console: "Console", answer: Any) -> None:
    rows = [(ago(h["message"]["created_at"]), h["message"]["from"], h["message"]["subject"], h["excerpt"]) for h in answer["results"]]
    table(
        console,
        ("when", "from", "subject", "words"),
        rows,
        "Nothing found. As the owner: postoffice search --everyone looks through all mail.",
    )
    tell_of_more(console, answer)


_TOKEN = argument("--token", help="the token the message was taken with")
COMMANDS = (
    Command(
        "send",
        "send a message",
        (
            "postoffice send --to bob 'Lunch at noon?'",
            "postoffice send --to bob --subject Review --file notes.md --as alice",
            "git diff | postoffice send --to reviewer --task --subject 'Review this' --wait-reply 120",
        ),
        send,
        _sent,
        (
            argument("text", nargs="?", help="what to say; - or nothing reads standard input"),
            argument("--to", action="append", required=True, metavar="AGENT", help="an agent, or ALL; more than once for several"),
            argument("--subject", default="", help="the conversation's topic"),
            argument("--session", help="go on with this conversation"),
            argument("--file", help="send this file's text"),
            argument("--task", action="store_true", help="ask for work"),
            argument("--deadline", metavar="TIME", help="by when, like 2026-12-31T18:00"),
            argument("--type", help="another kind of message"),
            argument("--priority", type=int, choices=range(1, 6), help="1 urgent to 5 fyi"),
            argument("--id", help="your own id: a retry with it sends nothing twice"),
            argument("--wait-reply", nargs="?", const=_WAIT_SECONDS, metavar="SECONDS", help="wait for the answer (120)"),
        ),
    ),
    Command(
        "inbox",
        "show conversations and who asks to connect",
        ("postoffice inbox --as coder", "postoffice inbox --unread --json"),
        inbox,
        _inbox,
        (argument("--unread", action="store_true", help="only with something unread"), argument("--limit", type=int, default=50)),
    ),
    Command(
        "read",
        "read a conversation; what it shows counts as read",
        ("postoffice read SESSION --as coder", "postoffice read SESSION --peek"),
        read,
        _history,
        (
            argument("session", help="a session's id, from inbox"),
            argument("--limit", type=int, default=20),
            argument("--peek", action="store_true", help="look without settling anything"),
        ),
    ),
    Command("ack", "say that a message is handled", ("postoffice ack MESSAGE --token TOKEN",), ack, _settled, (_MESSAGE, _TOKEN)),
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

"""Commands that write letters: send, reply."""

import sys
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING, Any

from postoffice.cli import ids
from postoffice.cli.attaching import FILE, uploaded
from postoffice.cli.command import Command, Options, argument
from postoffice.cli.dates import moment_of, span_of
from postoffice.cli.ending import interruptible
from postoffice.cli.reply import LONGEST_WAIT_SECONDS, WAIT_SECONDS, awaited
from postoffice.cli.show import ahead, carried, quote, say, text_of
from postoffice.client.text_body import text_body
from postoffice.core.clock import sender_id
from postoffice.core.errors import BadLimit, BadSetting, Invalid, NotFound
from postoffice.core.names import is_list

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire

_ITEMS_READ = 200


async def send(wire: "Wire", options: Options) -> Any:
    """Send text or standard input, and files."""
    seconds = _seconds(options)
    kind = _asked(options)
    content = _content(options, "postoffice send --to bob 'Hello'")
    to = options["to"][0] if len(options["to"]) == 1 else options["to"]
    session = None if options["session"] is None else await ids.session_id(wire, options["session"])
    body = {
        "to": to,
        **text_body(content),
        "subject": options["subject"] if session is None else None,
        "session_id": session,
        **kind,
        **_times(options),
        "priority": options["priority"],
        "attachments": await uploaded(wire, options["file"]) or None,
        "id": options["id"] or sender_id(),
    }
    mark = sender_id() if seconds is not None else None
    sent = await wire.post("/messages/send", {k: v for k, v in (body | {"correlation_id": mark}).items() if v is not None})
    if mark is None or seconds is None:
        return sent
    return {"sent": sent, "reply": await awaited(wire, sent, options["to"][0], mark, seconds)}


def _seconds(options: Options) -> float | None:
    """How long to wait for the answer. If the word after the option is not a number, it is the letter's text."""
    word = options["wait_reply"]
    if word is None:
        return None
    try:
        seconds = float(word)
    except ValueError:
        if options["text"] is not None:
            raise BadSetting(name="--wait-reply", why=f"{word!r} is not a number of seconds") from None
        options["text"], seconds = word, WAIT_SECONDS
    if not 0 <= seconds <= LONGEST_WAIT_SECONDS:
        raise BadLimit(what="--wait-reply", least=0, most=LONGEST_WAIT_SECONDS, value=seconds)
    return seconds


def _asked(options: Options) -> dict[str, Any]:
    """The type of the message, and the deadline of a task."""
    kind, deadline = "task" if options["task"] else options["type"], options["deadline"]
    if options["type"] not in (None, kind):
        raise BadSetting(name="--type", why=f"a task cannot also be of type {options['type']}; give --task or --type, not both")
    links = {name: options[name] for name in ("parent", "blocked_by") if options[name]}
    if deadline is None and not links:
        return {"type": kind}
    if kind != "task":
        flag = "--deadline" if deadline is not None else "--parent" if "parent" in links else "--after"
        raise BadSetting(name=flag, why="only a task has one; ask for work with --task")
    if deadline is None:
        return {"type": kind, "task": links}
    now = datetime.now().astimezone()
    if (due := moment_of(deadline, now)) <= now:
        raise BadSetting(name="--deadline", why=f"{deadline!r} is over")
    return {"type": kind, "task": {"deadline": due.isoformat()} | links}


def _times(options: Options) -> dict[str, Any]:
    """When it is delivered, and when it expires."""
    if options["at"] is not None and options["in"] is not None:
        raise BadSetting(name="--in", why="give --at or --in, not both")
    times = (("--at", "deliver", options["at"]), ("--in", "deliver", options["in"]), ("--expires", "expires", options["expires"]))
    return dict(_time(name, field, text) for name, field, text in times if text is not None)


def _time(option: str, field: str, text: str) -> tuple[str, Any]:
    """One time. `in 2h` is sent as a duration, so that a retry has the same body."""
    with suppress(BadSetting):
        return f"{field}_in", span_of(text.lower().strip().removeprefix("in "), option).total_seconds()
    return f"{field}_at", moment_of(text, datetime.now().astimezone(), option, begins=option == "--at").isoformat()


def _content(options: Options, example: str) -> str:
    if options["file"] and options["text"] is None:
        return ""  # a file may go without a word
    if options["text"] not in (None, "-"):
        return str(options["text"]) if options.get("subject") else _something(str(options["text"]), "text")
    if sys.stdin is None or sys.stdin.isatty():
        raise BadSetting(name="text", why=f"say something: {example}")
    with interruptible():
        return _something(sys.stdin.read(), "standard input")


def _something(text: str, source: str) -> str:
    """The text of a letter. An empty one is refused: it usually comes from a failed command in a pipe or variable."""
    if not text.strip():
        raise Invalid(what=source, why="it is empty, so nothing was sent")
    return text


def _sent(console: "Console", answer: Any) -> None:
    sent = answer.get("sent", answer)
    if "reply" in answer:
        reply = answer["reply"]
        quote(console, reply["from"], reply["created_at"], text_of(reply) + carried(reply))
        return
    shown = ids.short(sent["message_id"])
    if "to_list" in sent:
        _sent_to_list(console, sent, shown)
        return
    for to in sent["recipients"]:
        if to.get("refusal"):
            say(console, f"Not to {to['recipient']}: {to['detail']}")
        elif to.get("unseen"):
            guess = f" Did you mean {to['near']}? Take it back: postoffice cancel {shown}" if to.get("near") else ""
            say(console, f"Sent {shown}. Nobody called {to['recipient']} has been here yet; it waits.{guess}")
        else:
            reach = f"it comes {ahead(sent['deliver_at'])}" if sent.get("deliver_at") else to.get("reach", {}).get("text")
            say(console, f"Sent {shown} to {to['recipient']}" + (f" ({reach})." if reach else "."))


def _sent_to_list(console: "Console", sent: Any, shown: str) -> None:
    to = sent["to_list"]
    comes = f"; it comes {ahead(sent['deliver_at'])}" if sent.get("deliver_at") else ""
    say(console, f"Sent {shown} to {to['name']}: {to['delivered']} of {to['delivered'] + to['refused']} members{comes}.")
    for one in sent["recipients"]:
        if one.get("refusal"):
            say(console, f"Not to {one['recipient']}: {one['detail']}")


async def reply(wire: "Wire", options: Options) -> Any:
    """Answer a letter, which settles it, or the last letter of a conversation."""
    content = _content(options, "postoffice reply MESSAGE 'Yes'")
    letter = await _answered(wire, options["message"])
    carried = await uploaded(wire, options["file"])
    body = {"reply_to": letter["id"], **text_body(content), "attachments": carried, "id": sender_id()}
    by_list = is_list(letter["to"])
    if options["all"] and not by_list:
        raise BadSetting(name="--all", why=f"{letter['from']} wrote it to you and to no list; leave --all out to answer")
    if by_list and not options["all"]:
        body["subject"] = letter["subject"]  # what answers its author alone is a conversation of those two
    return await wire.post("/messages/send", body | {"to": letter["to"] if options["all"] else letter["from"]})


async def _answered(wire: "Wire", given: str) -> Any:
    """The letter to answer."""
    waiting = (await wire.get("/messages/waiting", limit=_ITEMS_READ))["messages"]
    in_hand = [item["message"] for item in (await wire.get("/messages/in-hand", limit=_ITEMS_READ))["messages"]]
    sessions = (await wire.get("/inbox", limit=_ITEMS_READ))["sessions"]
    theirs = {
        session["session_id"]: [
            line["message"]
            for line in session["recent_messages"]
            if line["sender_name"] == session["other_agent_name"] or is_list(session["other_agent_name"])
        ]
        for session in sessions
    }
    letters = {one["id"]: one for one in (*waiting, *in_hand, *(letter for some in theirs.values() for letter in some))}
    id = ids.only(given, [*letters, *theirs])
    if id in theirs:
        if not theirs[id]:
            raise NotFound(what="letter here to answer, by the id", ref=given)
        id = theirs[id][0]["id"]
    if id not in letters:
        raise NotFound(what="letter here to answer, by the id", ref=given)
    return letters[id]


def _replied(console: "Console", answer: Any) -> None:
    to = answer["to_list"]["name"] if "to_list" in answer else answer["recipients"][0]["recipient"]
    say(console, f"Answered {to} ({ids.short(answer['message_id'])}).")


COMMANDS = (
    Command(
        "send",
        "send a message",
        (
            "postoffice send --to bob 'Lunch at noon?'",
            "postoffice send --to bob --subject Review 'Please look' --file report.pdf --as alice",
            "postoffice send --to coder --task 'Tidy the tests' --deadline tomorrow",
            "postoffice send --to coder 'Stand-up?' --at '9:00' --expires '10:00'",
            "postoffice send --to docs --task 'Write it up' --parent 3fe348 --after 71ac02",
            "git diff | postoffice send --to reviewer --task --subject 'Review this' --wait-reply 120",
        ),
        send,
        _sent,
        (
            argument("text", nargs="?", help="what to say; - or nothing reads standard input"),
            argument(
                "--to",
                action="append",
                required=True,
                metavar="AGENT",
                help="an agent, ALL, or list:NAME; more than once for several agents",
            ),
            argument("--subject", default="", help="the conversation's topic"),
            argument("--session", help="go on with this conversation"),
            FILE,
            argument("--task", action="store_true", help="ask for work"),
            argument("--deadline", metavar="TIME", help="the deadline: tomorrow, friday 17:00, in 2h, 2026-12-31T18:00"),
            argument("--at", metavar="TIME", help="deliver it at this time: 9:00, monday 8am, 2026-12-31T18:00"),
            argument("--in", metavar="TIME", help="deliver it after this time: 2h, 30m"),
            argument("--expires", metavar="TIME", help="it expires if it is not taken by then: tomorrow, 18:00, in 1d"),
            argument("--parent", metavar="TASK", help="the task it is part of"),
            argument(
                "--after",
                dest="blocked_by",
                action="append",
                metavar="TASK",
                help="a task that has to end first; more than once for several",
            ),
            argument("--type", help="another kind of message"),
            argument("--priority", type=int, choices=range(1, 6), help="1 urgent to 5 fyi"),
            argument("--id", help="your own id: a retry with it sends nothing twice"),
            argument("--wait-reply", nargs="?", const=WAIT_SECONDS, metavar="SECONDS", help="wait for the answer (120)"),
        ),
    ),
    Command(
        "reply",
        "answer a letter, which marks it as done",
        ("postoffice reply 3fe348 'Yes, at noon' --as bob", "make report | postoffice reply 3fe348"),
        reply,
        _replied,
        (
            argument("message", metavar="ID", help="a letter's id, or a conversation's for the last one in it"),
            argument("text", nargs="?", help="what to say; - or nothing reads standard input"),
            FILE,
            argument("--all", action="store_true", help="what came by a list: answer all who are on it, and not its author alone"),
        ),
    ),
)

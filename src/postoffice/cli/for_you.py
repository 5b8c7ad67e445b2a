"""Commands about what waits for a person: list it, and let two held models go on."""

from typing import TYPE_CHECKING, Any

from postoffice.cli import ids
from postoffice.cli.command import Command, Options, argument
from postoffice.cli.show import ago, say, table
from postoffice.client.path import part
from postoffice.core.clock import sender_id
from postoffice.core.endless import GO_ON
from postoffice.core.errors import Invalid
from postoffice.core.limits import bounded
from postoffice.core.names import SYSTEM

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire

_MATTERS_READ = 200
_IN_WORDS = {
    "question": "asks",
    "task": "asks for work",
    "consent": "asks for consent",
    "mail": "wrote",
    "dead": "wrote in vain",
    "silent": "does not come",
    "held": "is held",
    "webhook": "is not told",
    "notify": "is not told",
}
_COMMANDS = {
    "question": "postoffice answer ID 'CHOICE OR WORDS'",
    "task": "postoffice task accept ID",
    "consent": "postoffice approve ID, postoffice reject ID",
    "mail": "postoffice reply ID 'WORDS', postoffice done ID",
    "dead": "postoffice dead requeue ID --of AGENT",
    "held": "postoffice go-on",
    "webhook": "postoffice webhook resume NAME",
    "notify": "postoffice notify resume NAME",
}


async def for_you(wire: "Wire", options: Options) -> Any:
    """List all that waits, the most pressing first."""
    return await wire.get("/for-you", limit=bounded("--limit", options["limit"], _MATTERS_READ, 1, _MATTERS_READ))


def _for_you(console: "Console", answer: Any) -> None:
    matters = answer["matters"]
    shown = ids.all_short(matter["id"] for matter in matters)
    rows = [
        (_who(matter), _IN_WORDS[matter["kind"]], matter["what"] or matter["text"] or "(no subject)", ago(matter["since"]), id)
        for matter, id in zip(matters, shown, strict=True)
    ]
    table(console, ("who", "is", "what", "since", "id"), rows, "Nobody waits for you.")
    if answer["count"] > len(matters):
        say(console, f"and {answer['count'] - len(matters)} more")
    for kind, command in _COMMANDS.items():
        if any(matter["kind"] == kind for matter in matters):
            say(console, f"{_IN_WORDS[kind]}: {command}")


def _who(matter: Any) -> str:
    return f"{matter['who']}, {matter['whom']}" if matter["kind"] == "held" else str(matter["who"])


async def go_on(wire: "Wire", options: Options) -> Any:
    """Let two held agents go on, or answer the question whether they may."""
    held = {
        matter["id"]: (f"{matter['who']} and {matter['whom']}", f"/sessions/{part(matter['id'])}/go-on", None)
        for matter in (await wire.get("/for-you", limit=_MATTERS_READ))["matters"]
        if matter["kind"] == "held"
    }
    answers = {
        question["id"]: (question["subject"], f"/questions/{part(question['id'])}/answer", {"choice": GO_ON, "id": sender_id()})
        for question in (await wire.get("/questions", limit=_MATTERS_READ))["questions"]
        if question["asker"] == SYSTEM and GO_ON in question["choices"]
    }
    waiting: dict[str, tuple[str, str, Any]] = held | answers
    who = options["who"]
    if who is not None:
        chosen = ids.only(who, waiting)
        waiting = {id: one for id, one in waiting.items() if id == chosen or who.lower() in one[0].lower().split(" and ")}
    if len(waiting) != 1:
        whom = "; ".join(f"{names} ({id})" for id, (names, _, _) in zip(ids.all_short(waiting), waiting.values(), strict=True))
        raise Invalid(
            what="go-on", why=f"say which, by a name or the id: {whom}" if waiting else "nobody is held, and nobody is asked about"
        )
    ((names, path, body),) = waiting.values()
    await wire.post(path, body)
    return {"freed": names}


def _freed(console: "Console", answer: Any) -> None:
    say(console, f"{answer['freed']} may go on.")


COMMANDS = (
    Command(
        "for-you",
        "show all that waits for you, the most pressing first",
        ("postoffice for-you", "postoffice for-you --as hanna"),
        for_you,
        _for_you,
        (argument("--limit", type=int, default=_MATTERS_READ, help=f"at most so many ({_MATTERS_READ})"),),
    ),
    Command(
        "go-on",
        "let two models that write to each other without end go on",
        ("postoffice go-on", "postoffice go-on coder"),
        go_on,
        _freed,
        (argument("who", nargs="?", metavar="WHO", help="one of the two, or the id from for-you (the only ones there are)"),),
    ),
)

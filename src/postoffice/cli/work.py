"""Commands about tasks, notes and dead letters."""

from typing import TYPE_CHECKING, Any

from postoffice.cli import ids
from postoffice.cli.attaching import FILE, uploaded
from postoffice.cli.command import Command, Options, argument
from postoffice.cli.pages import LIMIT, gathered, tell_of_more
from postoffice.cli.show import ago, ahead, say, table, text_of
from postoffice.cli.task_tree import show_tree, tree
from postoffice.client.path import part
from postoffice.client.text_body import text_body
from postoffice.core.entity import ENTITY_TYPES, NAMED
from postoffice.core.errors import BadSetting
from postoffice.core.task import FINAL, TaskState

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire

_STATES = {"accept": "accepted", "work": "working", "complete": "completed", "reject": "rejected", "fail": "failed", "cancel": "canceled"}


async def task(wire: "Wire", options: Options) -> Any:
    """Move a task."""
    body = {"state": _STATES[options["act"]]} | ({} if options["text"] is None else text_body(options["text"]))
    body |= {} if options["percent"] is None else {"percent": options["percent"]}
    body |= {"attachments": await uploaded(wire, options["file"])} if options["file"] else {}
    return await wire.post(f"/tasks/{part(options['task'])}/update", body)


def _task(console: "Console", answer: Any) -> None:
    say(console, f"Task {ids.short(answer['id'])} is {answer['state']}{_told(answer)}.")
    if answer["state"] in FINAL and answer["open_parts"]:
        say(
            console,
            f"{answer['open_parts']} of its parts {'is' if answer['open_parts'] == 1 else 'are'} not finished: postoffice tasks --tree",
        )


def _told(answer: Any) -> str:
    """Say that the requester was told. It cancels tasks itself, so then nobody else has to hear of it here."""
    return "" if answer["state"] == TaskState.CANCELED else f"; {answer['requester']} has been told"


async def tasks(wire: "Wire", options: Options) -> Any:
    """List the caller's tasks."""
    if options["tree"]:
        return await tree(wire, options["limit"], options["state"])
    me = (await wire.get("/agents/me"))["name"] if options["asked"] else None
    return await gathered(wire, "/tasks", "tasks", options["limit"], requester=me, state=options["state"])


def _tasks(console: "Console", answer: Any) -> None:
    if "tree" in answer:
        show_tree(console, answer)
        return
    dues = [_due(task) for task in answer["tasks"]]
    late = any(dues)  # without any deadline the column is left out
    rows = [
        (t["state"], t["requester"], t["assignee"], t["subject"], ago(t["updated_at"]), *((due,) if late else ()), id)
        for t, due, id in zip(answer["tasks"], dues, ids.all_short(t["id"] for t in answer["tasks"]), strict=True)
    ]
    columns = ("is", "asked by", "of", "subject", "since", *(("due",) if late else ()), "task")
    table(console, columns, rows, "No tasks. Ask for work: postoffice send --to NAME --task '…'")
    tell_of_more(console, answer)


def _due(task: Any) -> str:
    """A task's deadline; empty once it is finished."""
    if task["deadline"] is None or task["state"] in FINAL:
        return ""
    return "overdue" if task["overdue"] else ahead(task["deadline"])


async def note(wire: "Wire", options: Options) -> Any:
    """Keep a note, or show an entity's notes."""
    path = f"/entities/{part(options['entity'])}/notes"
    if options["text"] is None:
        return await gathered(wire, path, "messages", options["limit"])
    return await wire.post(path, {"entity_type": options["type"], "note": options["text"], "notify": options["notify"] or []})


def _notes(console: "Console", answer: Any) -> None:
    if "messages" not in answer:
        names = ", ".join(answer["notified"])
        say(console, "Noted." + (f" {names} will read it." if names else ""))
        return
    rows = [(ago(m["created_at"]), m["from"], text_of(m)) for m in answer["messages"]]
    table(console, ("when", "by", "note"), rows, "No notes on this. Keep one: postoffice note ENTITY '…'")
    tell_of_more(console, answer)


async def dead(wire: "Wire", options: Options) -> Any:
    """Show dead letters, or requeue or discard one."""
    if options["act"] != "list" and options["message"] is None:
        raise BadSetting(name="message", why=f"say which: postoffice dead {options['act']} MESSAGE")
    if options["act"] == "list":
        wanted = {"everyone": options["everyone"], "of": options["of"]}
        return await gathered(wire, "/dead-letters", "dead_letters", options["limit"], **wanted)
    return await wire.post(f"/dead-letters/{part(options['message'])}/{options['act']}", None, of=options["of"])


def _dead(console: "Console", answer: Any) -> None:
    if "dead_letters" not in answer:
        say(console, f"{ids.short(answer['message_id'])} is {answer['state']}.")
        return
    shown = ids.all_short(d["message"]["id"] for d in answer["dead_letters"])
    rows = [
        (ago(d["standing"]["settled_at"]), d["message"]["from"], d["standing"]["recipient"], d["standing"]["reason"], id)
        for d, id in zip(answer["dead_letters"], shown, strict=True)
    ]
    table(
        console,
        ("died", "from", "to", "why", "message"),
        rows,
        "No dead letters. As the owner: postoffice dead --everyone shows those of all agents.",
    )
    tell_of_more(console, answer)


async def cancel(wire: "Wire", options: Options) -> Any:
    """Take back a message that nobody has taken yet, or a task that is not over."""
    return await wire.post(f"/messages/{part(options['message'])}/cancel")


def _cancel(console: "Console", answer: Any) -> None:
    for one in answer["recipients"]:
        became = "canceled" if one["canceled"] else f"too late, it is {one['state']}"
        say(console, f"{one['recipient']}: {became}.")


COMMANDS = (
    Command(
        "cancel",
        "take back a message that nobody has taken yet, or a task that is not finished",
        ("postoffice cancel MESSAGE --as coder",),
        cancel,
        _cancel,
        (argument("message", help="a message's id, or the end of it"),),
    ),
    Command(
        "task",
        "report on a task: accept, work, complete, reject or fail it; or cancel one you asked for",
        ("postoffice task complete TASK 'done, see the branch' --as coder", "postoffice task fail TASK 'no access' --as coder"),
        task,
        _task,
        (
            argument("act", choices=list(_STATES)),
            argument("task", help="a task's id, or the end of it"),
            argument("text", nargs="?", help="what to tell"),
            argument("--percent", type=int, choices=range(101), metavar="0-100", help="how far it is"),
            FILE,
        ),
    ),
    Command(
        "tasks",
        "list tasks asked of an agent, or by it",
        ("postoffice tasks --as coder", "postoffice tasks --asked --state working --as boss", "postoffice tasks --tree"),
        tasks,
        _tasks,
        (
            argument("--asked", action="store_true", help="those it asked of others"),
            argument("--tree", action="store_true", help="both kinds as a tree, with what each task waits for"),
            argument("--state", type=TaskState, choices=[str(state) for state in TaskState]),
            LIMIT,
        ),
    ),
    Command(
        "note",
        "keep a note with an entity, or show its notes",
        ("postoffice note T-42 'blocked on review' --type task --notify mindy --as quinn", "postoffice note T-42"),
        note,
        _notes,
        (
            argument("entity", help="what it is about"),
            argument("text", nargs="?", help="the note; without it the notes are shown"),
            argument("--type", default="task", choices=ENTITY_TYPES, help=f"{NAMED} (task)"),
            argument("--notify", action="append", metavar="AGENT", help="who should know; more than once for several"),
            LIMIT,
        ),
    ),
    Command(
        "dead",
        "list dead letters, requeue one, or discard it",
        ("postoffice dead list --everyone", "postoffice dead requeue MESSAGE --as coder"),
        dead,
        _dead,
        (
            argument("act", nargs="?", default="list", choices=["list", "requeue", "discard"]),
            argument("message", nargs="?", help="a message's id, or the end of it"),
            argument("--of", metavar="AGENT", help="another agent's, for the owner"),
            argument("--everyone", action="store_true", help="of all agents, for the owner"),
            LIMIT,
        ),
    ),
)

"""The commands about windows: which are open, and ringing one."""

from typing import TYPE_CHECKING, Any

from postoffice.cli.command import Command, Options, argument
from postoffice.cli.show import ago, say, table
from postoffice.client.path import part

if TYPE_CHECKING:
    from rich.console import Console

    from postoffice.client.wire import Wire


async def windows(wire: "Wire", options: Options) -> Any:
    """List the open windows."""
    return await wire.get("/windows", agent=options["of"])


def _windows(console: "Console", answer: Any) -> None:
    rows = [
        (w["agent"], w["client"], w["state"], ago(w["state_since"]), w["ring"], ago(w["since"]), w.get("folder", ""))
        for w in answer["windows"]
    ]
    table(
        console,
        ("agent", "client", "is", "for", "rung by", "opened", "folder"),
        rows,
        "No window is open. A client opens one by itself once it is connected: postoffice setup.",
    )


async def ring(wire: "Wire", options: Options) -> Any:
    """Ring a window now."""
    return await wire.post(f"/agents/{part(options['name'])}/ring", {})


def _rung(console: "Console", answer: Any) -> None:
    say(console, f"{answer['agent']} was rung." if answer["rung"] else f"{answer['agent']} was not rung: {answer['text']}.")


COMMANDS = (
    Command(
        "ring",
        "ring an agent's open window now, for mail from you that waits there",
        ("postoffice ring coder", "postoffice ring coder --as docs"),
        ring,
        _rung,
        (argument("name", metavar="AGENT", help="whom"),),
    ),
    Command(
        "windows",
        "show where agents' clients are open now, and how each can be woken",
        ("postoffice windows", "postoffice windows --of shop --json"),
        windows,
        _windows,
        (argument("--of", metavar="AGENT", help="of one agent"),),
    ),
)
